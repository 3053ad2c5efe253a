"""Every scanner, and every kernel of the scan family, compiles for every supported architecture."""

from __future__ import annotations

from typing import Any

import pytest

from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.scan import planned
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import scan_policy
from xpops.ops.scan import SCANS, scan_dtype
from xpops.plan.result import scan_result
from xpops.plan.scan.parameters import ScanPlan

GPU = Device("cuda")


def plan(name: str, dtype: Any, shape: tuple[int, ...], axis: int, align: int = 16, initial: bool = False) -> Any:
    op, x = SCANS[name], layout_of(dtype, shape, None, GPU, align)
    return planned(op, x, axis, scan_result(x, axis, scan_dtype(op, dtype), initial), initial, scan_policy(90, 132))


FAMILIES: dict[str, Any] = {
    "tiles": ((2**28,), 0),
    "a tile": ((64, 3000), 1),
    "batches of tiles": ((4, 2**20), 1),
    "misaligned tiles": ((2**20,), 0, 4),
    "rows": ((16384, 16384), 1),
    "short rows": ((2**20, 32), 1),
    "ragged rows": ((2**20, 33), 1, 4, True),
    "columns": ((16384, 16384), 0),
    "few columns": ((2**23, 32), 0),
    "short columns": ((5, 2**20), 0),
    "middle": ((256, 4096, 256), 1),
    "four axes": ((5, 6, 7, 8), 2),
}


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family(name: str, capability: int) -> None:
    assert compile_cubin(name, plan("cumulative_sum", dt.float32, *FAMILIES[name])[1], capability)


@pytest.mark.parametrize("name", SCANS)
@pytest.mark.parametrize("axis", [0, 1])
def test_every_scanner(name: str, axis: int) -> None:
    for dtype in (dt.float16, dt.float64):
        assert compile_cubin(name, plan(name, dtype, (5000, 5000), axis)[1], 90)


@pytest.mark.parametrize("dtype", sorted(dt.CATEGORIES["arithmetic"], key=str), ids=str)
def test_every_dtype(dtype: Any) -> None:
    assert compile_cubin("sum", plan("cumulative_sum", dtype, (2**20, 32), 1)[1], 90)


def test_which_kernel() -> None:
    plans = {name: plan("cumulative_sum", dt.float32, *case)[0] for name, case in FAMILIES.items()}
    found = {name: each.kernel for name, each in plans.items()}
    assert found["tiles"] == found["batches of tiles"] == found["a tile"] == "tiles"
    assert {found[name] for name in ("rows", "short rows", "ragged rows")} == {"rows"}
    assert {found[name] for name in ("columns", "few columns", "short columns", "middle")} == {"columns"}
    assert isinstance(plans["tiles"], ScanPlan)
    assert plans["tiles"].scratch > 0 == plans["rows"].scratch == plans["a tile"].scratch
