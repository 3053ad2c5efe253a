"""Scans as the kernels do them, without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from xpops.core import dtypes as dt
from xpops.dispatch.scans import scan
from xpops.engine.cpu.engine import CpuEngine
from xpops.ops.scan import SCANS

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(7)


def scanned(
    name: str, x: NDArray, axis: int = -1, dtype: Any = None, initial: bool = False, gamma: float | None = None
) -> NDArray:
    engine, factor = EmulatedEngine(workers=3), () if gamma is None else (float,)
    program = scan(engine, (layout_on_gpu(x), *factor), SCANS[name], axis, dtype, initial)
    (result,) = run(engine, *program, x, *(() if gamma is None else (gamma,)))
    return result


def expected(
    name: str, x: NDArray, axis: int = -1, dtype: Any = None, initial: bool = False, gamma: float | None = None
) -> NDArray:
    """What the CPU engine makes of it, in float64 where it is float32."""
    wide = x.astype(np.float64) if x.dtype == np.float32 else x
    factor = () if gamma is None else (float,)
    (layout,), kernel = scan(CpuEngine(), (layout_on_gpu(wide), *factor), SCANS[name], axis, dtype, initial)
    out = np.empty(layout.shape, layout.dtype)
    kernel(0, out, wide, *(() if gamma is None else (gamma,)))
    return out


def small(*shape: int) -> NDArray:
    """Integers, so that sums are exact in any order."""
    return RANDOM.integers(-8, 9, shape).astype(np.float32)


LAYOUTS: dict[str, tuple[NDArray, int]] = {
    "few tiles": (small(9001), 0),
    "groups of tiles": (small(40 * 4096 + 3), 0),
    "misaligned": (small(9001)[1:], 0),
    "a tile": (small(3, 2500), 1),
    "tiles of rows": (small(3, 8192), 1),
    "long rows": (small(130, 2100), 1),
    "rows": (small(10, 512), 1),
    "short rows": (small(1000, 32), 1),
    "shorter rows": (small(1000, 5), 1),
    "pairs": (small(1000, 2), 1),
    "ragged rows": (small(37, 131)[:, 1:], 1),
    "rows with gaps": (small(37, 140)[:, :131], 1),
    "tall columns": (small(700, 260), 0),
    "taller columns": (small(9000, 8), 0),
    "few columns": (small(3000, 3), 0),
    "short columns": (small(5, 300), 0),
    "middle": (small(6, 50, 64), 1),
    "short middle": (small(60, 4, 8), 1),
    "transposed": (small(60, 70).T, 0),
    "reversed": (small(60, 70)[::-1, ::-2], 1),
    "broadcast": (np.broadcast_to(small(70), (60, 70)), 0),
    "repeated": (np.broadcast_to(small(60, 1), (60, 70)), 1),
    "one": (small(1), 0),
    "ones": (small(5, 1), 1),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_sum_of_every_layout(name: str) -> None:
    x, axis = LAYOUTS[name]
    np.testing.assert_array_equal(scanned("cumulative_sum", x, axis), np.cumsum(x, axis))
