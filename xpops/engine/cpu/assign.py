"""Assigning where a mask is True, on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.cpu.elementwise import elementwise
from xpops.engine.cpu.quiet import quietly
from xpops.engine.cpu.rounding import NARROW, buffer_of, cast
from xpops.engine.program import Kernel
from xpops.ops.elementwise import OPERATORS
from xpops.plan.signature import Operand, Signature

NDArray = np.ndarray[Any, Any]

# NumPy copies run by run of True. `where` is faster if there are more runs than so many and one for every so many
# elements. Measured on x86-64, 2026-11: a run takes some 8 ns, an element of `where` 0.7 to 2 ns, its call 13 us.
_RUNS, _PERIOD = 1 << 11, 32


def assign(signature: Signature, mask: Layout, value: Operand, out: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.assign`."""
    choose = elementwise(OPERATORS["where"], signature, (mask, value, out), out)
    converts = not isinstance(value, Layout) or (value.dtype != out.dtype and out.dtype in NARROW)
    most = _RUNS + out.size // _PERIOD

    def copy(out: NDArray, mask: NDArray, value: Any) -> None:
        given = cast(value, out.dtype) if converts else value
        if given.dtype == out.dtype:
            out, given = buffer_of(out), buffer_of(given)
        np.copyto(out, given, where=mask, casting="unsafe")

    def kernel(stream: int, out: NDArray, mask: NDArray, value: Any) -> None:
        chosen = np.count_nonzero(mask)
        if min(chosen, mask.size - chosen) <= most:
            quietly(copy, out, mask, value)
        else:
            choose(stream, out, mask, value, out)

    return kernel
