"""Binary search on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cpu.rounding import WIDENED, cast
from xpops.engine.program import Kernel
from xpops.plan.signature import Operand

NDArray = np.ndarray[Any, Any]


def searchsorted(
    x1: Layout,
    x2: Operand,
    right: bool,
    out: Layout,
    loop: DType | None = None,
    sorter: Layout | None = None,
) -> Kernel:
    """See `xpops.engine.protocol.Engine.searchsorted`."""
    common = x1.dtype if loop is None else loop
    wide = WIDENED.get(common, common)

    def kernel(stream: int, out: NDArray, x1: NDArray, x2: Any, sorter: NDArray | None = None) -> None:
        if sorter is not None:
            if sorter.size and not (sorter.min() >= 0 and sorter.max() < x1.size):
                raise IndexError(f"searchsorted: sorter is out of range; accepted: 0 to {x1.size - 1}")
            x1 = x1[sorter]
        with np.errstate(all="ignore"):
            ordered, wanted = (cast(each, common).astype(wide, copy=False) for each in (x1, x2))
        out[...] = np.searchsorted(ordered, wanted, side="right" if right else "left")

    return kernel
