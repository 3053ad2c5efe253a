"""The rows of exponential and trigonometric operators."""

from __future__ import annotations

import numpy as np

from xpops.ops import circular, functions
from xpops.ops.rows import narrow, transcendental
from xpops.ops.torch import FLOATS, HALVES

_EXPONENTIAL, _TRIGONOMETRIC = "exponential", "trigonometric"

TRANSCENDENTAL = (
    narrow("exp", 1, "floating-point", header=_EXPONENTIAL, ulps=(2, 1, 2, 1.5), torch=FLOATS),
    narrow(
        "expm1", 1, "floating-point", header=_EXPONENTIAL, cpu=functions.expm1, ulps=(1.5, 1.5, 3, 2.5), torch=FLOATS
    ),
    narrow("log", 1, "floating-point", header=_EXPONENTIAL, ulps=(1, 1, 1.5, 1.5), domain="positive", torch=FLOATS),
    narrow("log10", 1, "floating-point", header=_EXPONENTIAL, ulps=(2.5, 1.5, 2, 2), domain="positive", torch=FLOATS),
    narrow(
        "log1p",
        1,
        "floating-point",
        header=_EXPONENTIAL,
        cpu=functions.log1p,
        ulps=(1, 2, 1.5, 2),
        domain="positive",
        torch=FLOATS,
    ),
    narrow("log2", 1, "floating-point", header=_EXPONENTIAL, ulps=(1, 1.5, 1.5, 2), domain="positive", torch=FLOATS),
    # No narrow functor: where the operands cancel, the hardware's exponential is not accurate enough.
    transcendental(
        "logaddexp",
        2,
        "real floating-point",
        header=_EXPONENTIAL,
        cpu=functions.logaddexp,
        ulps=(4.5, 5),
        domain="positive positive",
        torch=HALVES,
        core=True,
    ),
    narrow(
        "sqrt",
        1,
        "floating-point",
        header=_EXPONENTIAL,
        contracts=False,
        ulps=(0.5, 0.5, 1.5, 1.5),
        torch=HALVES,
        near="NearSqrt",
        root=True,
        core=True,
    ),
    narrow(
        "acos",
        1,
        "floating-point",
        header=_TRIGONOMETRIC,
        cpu=np.arccos,
        ulps=(1.5, 1.5, 1.5, 1.5),
        domain="unit",
        torch=FLOATS,
    ),
    narrow("acosh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=np.arccosh, ulps=(2, 2.5, 1.5, 1.5)),
    narrow(
        "asin",
        1,
        "floating-point",
        header=_TRIGONOMETRIC,
        cpu=circular.arcsin,
        ulps=(1.5, 2, 2.5, 2.5),
        domain="unit",
        torch=FLOATS,
    ),
    narrow("asinh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=np.arcsinh, ulps=(2, 2.5, 2.5, 2.5)),
    narrow(
        "atan",
        1,
        "floating-point",
        header=_TRIGONOMETRIC,
        cpu=circular.arctan,
        ulps=(1.5, 2, 2.5, 2.5),
        torch=FLOATS,
    ),
    narrow(
        "atan2",
        2,
        "real floating-point",
        header=_TRIGONOMETRIC,
        cpu=np.arctan2,
        ulps=(2, 2),
        domain="finite finite",
        torch=FLOATS,
    ),
    narrow(
        "atanh",
        1,
        "floating-point",
        header=_TRIGONOMETRIC,
        cpu=np.arctanh,
        ulps=(3, 2.5, 2, 2),
        domain="unit",
        torch=HALVES,
    ),
    narrow(
        "cos",
        1,
        "floating-point",
        header=_TRIGONOMETRIC,
        cpu=circular.cos,
        long="always",
        ulps=(1.5, 1.5, 2, 2),
        torch=FLOATS,
    ),
    narrow("cosh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.cosh, ulps=(2.5, 1.5, 2, 2)),
    narrow(
        "sin",
        1,
        "floating-point",
        header=_TRIGONOMETRIC,
        cpu=circular.sin,
        long="always",
        ulps=(1.5, 1.5, 2, 2),
        torch=FLOATS,
    ),
    narrow("sinh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.sinh, ulps=(3, 1.5, 2, 2)),
    narrow(
        "tan",
        1,
        "floating-point",
        header=_TRIGONOMETRIC,
        cpu=circular.tan,
        long="always",
        ulps=(3, 2, 3, 3),
        torch=FLOATS,
    ),
    narrow("tanh", 1, "floating-point", header=_TRIGONOMETRIC, cpu=circular.tanh, ulps=(2, 1.5, 3, 3), torch=FLOATS),
)
