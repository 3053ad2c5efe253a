"""The report of `python -m conformance.transforms`."""

from __future__ import annotations

import json

import pytest

from conformance.reporting import REPORTS
from conformance.transforms.__main__ import kind_of, merged, summary


def test_the_worst_call_of_a_function_counts() -> None:
    cells = [
        ("sum", "compile", "ok"),
        ("sum", "compile", "left out: takes no complex operands"),
        ("sum", "vmap", "left out: the shape depends on values"),
        ("exp", "vmap", "ok"),
        ("exp", "vmap", "AssertionError: differs"),
        ("exp", "vmap", "ok"),
    ]
    found = merged(cells)
    assert found == {
        "sum": {"compile": "ok", "vmap": "left out: the shape depends on values"},
        "exp": {"vmap": "AssertionError: differs"},
    }
    assert summary(found["sum"]) == {"right": 1, "vmap": "left out: the shape depends on values"}


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_no_cell_of_the_report_differs(device: str) -> None:
    report = json.loads((REPORTS / f"transforms-{device}.json").read_text())
    texts = [text for cells in report["functions"].values() for name, text in cells.items() if name != "right"]
    assert [text for text in texts if kind_of(text) == "differ"] == []
    assert report["cells"]["differ"] == 0
    assert len(report["functions"]) > 130
