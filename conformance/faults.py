"""Faults of the pinned test suite, each with its reason. pytest loads this module as a plugin.

Nothing else in the suite is left out or changed. Every report lists the faults.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

# Before #457 the test exports a CUDA array to the CPU with copy=False. The standard requires a BufferError for this.
DLPACK_TEST = "array_api_tests/test_dlpack.py::test_dunder_dlpack"
DLPACK_LINK = "https://github.com/data-apis/array-api-tests/pull/457"

CAN_CAST = (
    "test_can_cast looks pairs of dtypes up in a table and compares what it finds with float64: nothing, None, equals "
    "NumPy's dtype('float64'), so that complex64 would have to cast to float64. The table gives something else for "
    "nothing. https://github.com/numpy/numpy/issues/18434"
)


def deselected(suite: Path, device: str) -> list[dict[str, str]]:
    """The tests that are left out, each with a link to the correction that the checkout lacks."""
    corrected = "BufferError" in (suite / "array_api_tests" / "test_dlpack.py").read_text()
    return [] if device == "cpu" or corrected else [{"test": DLPACK_TEST, "link": DLPACK_LINK}]


def pytest_configure() -> None:
    """Let the suite's promotion table return an object that equals no dtype if it has no entry."""
    from array_api_tests import dtype_helpers  # type: ignore[import-not-found]

    class PromotionTable(dtype_helpers.EqualityMapping):  # type: ignore[misc]
        def get(self, key: Any, default: Any = ...) -> Any:
            return super().get(key, default)

    table = dtype_helpers.promotion_table
    dtype_helpers.promotion_table = PromotionTable([(key, table[key]) for key in table])
