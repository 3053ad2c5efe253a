"""The calls of the matrix: those of the tests of gradients, a fused function, and kernels of users on a GPU."""

from __future__ import annotations

from typing import Any

import xpops as xp
from tests.helpers.gradient_cases import CASES
from tests.helpers.gradients import Case


@xp.fuse
def swish(x: Any) -> Any:
    return x / (1 + xp.exp(-x))


@xp.fuse
def rms_norm(x: Any, scale: Any) -> Any:
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def _cube_slope(g: Any, x: Any) -> Any:
    return xp.multiply(g, xp.multiply(xp.square(x), 3.0))


FUSED = [Case("fuse", swish), Case("fuse", rms_norm, ((3, 4), (4,)))]


def kernels() -> list[Case]:
    """Kernels of users. They need a GPU."""
    cube = xp.kernel.functor(
        "struct Cube { template <class T> XPOPS_DEVICE T operator()(T x) const { return x * x * x; } };",
        backward=_cube_slope,
    )
    text = xp.kernel.ElementwiseKernel("T x", "T y", "y = x * x * x", "cube", backward=_cube_slope)
    return [
        Case("kernel.functor", cube, theirs=lambda x: x**3),
        Case("kernel.ElementwiseKernel", text, theirs=lambda x: x**3),
    ]


def cases(device: str) -> list[Case]:
    """All calls that a device can make."""
    return [*CASES, *FUSED, *(kernels() if device == "cuda" else [])]
