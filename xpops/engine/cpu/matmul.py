"""Matrix products on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.cpu.rounding import WIDENED, cast
from xpops.engine.program import Kernel


def matmul(x1: Layout, x2: Layout, out: Layout, tf32: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.matmul`."""
    wide = WIDENED.get(out.dtype)

    def kernel(stream: int, out: Any, x1: Any, x2: Any) -> None:
        with np.errstate(all="ignore"):
            if wide is None:
                np.matmul(x1, x2, out=out)
            else:
                np.copyto(out, cast(np.matmul(x1.astype(wide), x2.astype(wide)), out.dtype))

    return kernel
