"""The benchmark of the host's time: our call and the library's own compute the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")

import xpops as xp  # noqa: E402
from benchmarks.host.libraries import Library, installed, library  # noqa: E402
from benchmarks.host.measure import Refusal, Result, rows, small_calls  # noqa: E402
from benchmarks.host.report import summary  # noqa: E402
from benchmarks.host.row import Row  # noqa: E402

LIBRARIES = ("xpops", "torch", "numpy", "jax")
# Values that are not specified, or differ by a sign, an order, or the choice between two middle elements.
DIFFERENT = (
    "o[index] = x",  # repeated indices
    "empty",
    "generator",
    "median",
    "linalg.eig",
    "linalg.qr",
    "linalg.svd(",
    "histogram",
    "finfo",
    "iinfo",
    "result_type",
    "default_device",
)
CALLS = [
    (row, name)
    for row in rows()
    for name in (LIBRARIES if row.is_for_every_framework else LIBRARIES[:1])
    if row.peer(name) and not any(word in row.ours for word in DIFFERENT)
]


@pytest.fixture(scope="module")
def libraries() -> dict[str, Library]:
    return {name: library(name, "cpu", 64) for name in LIBRARIES}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("row", "name"), CALLS, ids=lambda each: getattr(each, "ours", each))
def test_calls_compute_the_same(libraries: dict[str, Library], row: Row, name: str) -> None:
    ours, peer = libraries[name], libraries["torch" if name == "xpops" else name]
    with np.errstate(all="ignore"), jax.default_matmul_precision("highest"), xp.allow_host_copies():
        mine, theirs = result(row.ours, ours.names), result(row.peer(name), peer.names)
    assert mine
    for x, y in zip(mine, theirs, strict=False):  # torch's `sort` and `nonzero` return more, or one array of all
        np.testing.assert_allclose(x, y, rtol=2e-3, atol=2e-3)


def result(source: str, names: Mapping[str, Any]) -> list[Any]:
    """The arrays that an expression returns, or the one that a statement writes."""
    names = dict(names)
    if " = " in source:
        names["o"] = library_copy(names["o"])
        exec(source, names)
        value = names["o"]
    else:
        value = eval(source, names)
    parts = value if isinstance(value, (tuple, list)) else [value]
    return [plain(part) for part in parts]


def plain(x: Any) -> Any:
    x = x.resolve_conj() if isinstance(x, torch.Tensor) else x
    return np.asarray(x) if hasattr(x, "__array__") else x


def library_copy(x: Any) -> Any:
    return x.clone() if isinstance(x, torch.Tensor) else x.copy()


@pytest.mark.filterwarnings("ignore")
def test_a_measurement() -> None:
    found = list(small_calls("cpu", "xp.add(x, y)", 3))
    assert {each.library for each in found} == set(installed("cpu"))
    for each in found:
        assert isinstance(each, Result)
        assert each.ours > 0
        assert each.low <= each.ratio <= each.high
    assert summary(found, 0.0, 0.0)["share above 0"] == 1.0


@pytest.mark.filterwarnings("ignore")
def test_a_call_that_fails_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xp, "add", None)
    found = list(small_calls("cpu", "xp.add(x, y)", 3))
    assert all(isinstance(each, Refusal) and "TypeError" in each.reason for each in found)
    assert len(found) == len(installed("cpu"))
