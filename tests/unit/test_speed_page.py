"""The page on speed says what the reports say, and its pictures are drawn from them."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
COLUMNS = ("floor", "xpops", "torch", "cupy", "jax")


def plots() -> Any:
    spec = importlib.util.spec_from_file_location("docs_plots", ROOT / "docs" / "plots.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["speed", "drawn", "host"])
def test_pictures_are_drawn_from_the_committed_reports(name: str) -> None:
    module = plots()
    _, reports, _ = module.DRAWN[name]
    picture = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text()
    assert module.origin(reports) in picture, "python docs/plots.py draws it anew"
    assert set(module.DRAWN) <= {path.stem for path in (ROOT / "docs" / "pictures").iterdir()}


def test_what_pictures_show() -> None:
    module = plots()
    calls = [
        {"family": "unary", "floor": 30.0, "xpops": 40.0, "torch": 60.0},
        {"family": "unary", "floor": 30.0, "xpops": 30.0},
        {"family": "scan", "floor": 1.0, "xpops": 9.0, "torch": 3.0},
        {"family": "scan", "floor": 1.0, "xpops": 10.0, "torch": 25.0},
    ]
    assert module.shares_of_floor(calls) == {"xpops": [0.75, 1.0], "torch": [0.5]}
    assert module.ratios_by_family(calls) == {"scan": [2.5], "unary": [1.5]}


def test_tables_have_the_numbers_of_the_report() -> None:
    rows = {row["name"]: row for row in json.loads((ROOT / "benchmarks" / "results" / "h200.json").read_text())["rows"]}
    found, columns = [], ()
    for line in (ROOT / "docs" / "speed.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[1:2] == ["floor"]:
            columns = tuple(cells[1:])
        elif cells[0] in rows and columns and set(columns) <= set(COLUMNS):
            for column, cell in zip(columns, cells[1:], strict=True):
                if re.fullmatch(r"\d+", cell):
                    assert int(cell) == round(rows[cells[0]][column]), (cells[0], column)
            found.append(cells[0])
    assert len(found) > 60
