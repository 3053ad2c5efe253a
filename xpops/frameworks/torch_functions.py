"""The functions of torch that rows name (`xpops.ops.torch.TorchFunction`), and those that torch lacks."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from ctypes import c_float
from operator import attrgetter
from typing import Any

import torch

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.program import Kernel
from xpops.frameworks.torch_modes import outside_modes

# function(*operands, *arguments, out=tensor)
Function = Callable[..., object]

# torch uses the same names of dtypes as NumPy and ml_dtypes.
TORCH_DTYPES: dict[DType, torch.dtype] = {dtype: getattr(torch, dtype.name) for dtype in dt.INFO}
# The elements that a thread of torch takes at once. So many numbers in float64 fit in a core's cache.
BLOCK = 1 << 15
# So many threads of torch compute in float64 faster than the compiled core on one. The number of processors
# decides, not that of torch's threads: the two ways differ in the last bits, and a result must not depend on a setting.
THREADS = 4
_has_many = len(os.sched_getaffinity(0)) >= THREADS if hasattr(os, "sched_getaffinity") else False


# Torch computes these by the vector functions of Intel's MKL.
_OF_MKL = [
    "acos",
    "asin",
    "atan",
    "cos",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "log",
    "log10",
    "log2",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]


def _make_first_calls_of_mkl() -> None:
    """Call each of MKL's functions on one number.

    MKL finds the kernel of a function at its first call. If several of torch's threads make that call, one of them may
    run a kernel that computes half of the digits (pytorch/pytorch#188792). For one number torch uses one thread.
    """
    for dtype in (torch.float32, torch.float64):
        x = torch.full((1,), 0.5, dtype=dtype, device="cpu")
        for name in _OF_MKL:
            getattr(torch, name)(x)


# Other threads that import this module wait until these calls have returned.
outside_modes(_make_first_calls_of_mkl)()


def function_of(name: str) -> Function | None:
    """The function that rows call `name`; None if this version of torch does not have it."""
    try:
        found: Function = _OWN.get(name) or attrgetter(name)(torch)
    except AttributeError:
        return None
    return found


def allocates(function: Function) -> bool:
    """Whether a function that rows name makes a tensor if it gets no `out`."""
    return function not in _OWN.values()


def widened(function: Function, arguments: tuple[Any, ...], x: Layout, along: int | None = None) -> Kernel:
    """The kernel of a function of one operand that computes in float64.

    Parameters
    ----------
    function : callable
        Takes the operand, then parameters that the kernel takes, then `arguments`.
    arguments : tuple
    x, along
        See `in_blocks`.
    """

    def kernel(stream: int, out: torch.Tensor, x: torch.Tensor, *parameters: float) -> None:
        result = torch.empty_like(out, dtype=torch.float64)
        rounded = [c_float(number).value for number in parameters]
        function(x.to(torch.float64), *rounded, *arguments, out=result)
        out.copy_(result)

    return in_blocks(kernel, x, along)


def faster_of(host: Kernel, by_torch: Kernel, x: Layout) -> Kernel:
    """The kernel of the compiled core, which runs on one thread, or torch's in float64 on many.

    Parameters
    ----------
    host, by_torch : Kernel
    x : Layout
        That of the operand.
    """
    return by_torch if _has_many and x.size > BLOCK else host


def in_blocks(kernel: Kernel, x: Layout, along: int | None = None) -> Kernel:
    """A kernel of one operand that launches `kernel` for block after block, if there are many elements.

    Parameters
    ----------
    kernel : Kernel
    x : Layout
        That of the operand. The result has its shape.
    along : int, optional
        The axis on which each result depends. By default each result depends on one element.
    """
    others = [axis for axis in range(x.ndim) if axis != along]
    if not others or x.size <= BLOCK:
        return kernel
    outermost = max(others, key=x.strides.__getitem__)

    def by_blocks(stream: int, out: torch.Tensor, x: torch.Tensor, *parameters: float) -> None:
        length = max(BLOCK * torch.get_num_threads() * x.shape[outermost] // x.numel(), 1)
        for target, part in zip(out.split(length, outermost), x.split(length, outermost), strict=True):
            kernel(stream, target, part, *parameters)

    return by_blocks


def _copy(x: torch.Tensor, *, out: torch.Tensor) -> None:
    out.copy_(x)


def copy_by_odd(stream: int, out: torch.Tensor, x: torch.Tensor) -> None:
    """Copy numbers that float64 holds to a dtype narrower than float32, rounded once.

    First they are rounded to float32 towards zero, with the last bit set if inexact. Those round on as `x` would.
    """
    wide = x.to(torch.float64)
    near = wide.to(torch.float32)
    exact, found = wide.abs(), near.to(torch.float64).abs()
    above = found > exact
    bits = near.view(torch.int32)
    bits.sub_(above.view(torch.int8)).bitwise_or_((above | (found < exact)).view(torch.int8))
    out.copy_(near)


def _gelu(x: torch.Tensor, *, out: torch.Tensor) -> None:
    """``x * erfc(-x / sqrt(2)) / 2``, without the difference in which torch's loses the negative tail."""
    torch.mul(x, -math.sqrt(0.5), out=out).erfc_().mul_(x).mul_(0.5)


def _gelu_backward(g: torch.Tensor, x: torch.Tensor, *, out: torch.Tensor) -> None:
    """The products of `g` and the slope of gelu at `x`, block by block if they have one layout."""
    if all(each.shape == x.shape and each.is_contiguous() for each in (g, x, out)):
        length = BLOCK * torch.get_num_threads()
        for target, factor, part in zip(*(each.view(-1).split(length) for each in (out, g, x)), strict=True):
            target.copy_(_gelu_slope(part).mul_(factor))
    else:
        out.copy_(_gelu_slope(x).mul(g))


def _gelu_slope(x: torch.Tensor) -> torch.Tensor:
    """``erfc(-x / sqrt(2)) / 2 + x * exp(-x**2 / 2) / sqrt(2 * pi)`` in a wider dtype; beyond 60 it is 0 or 1."""
    near = x.to(torch.float64 if x.dtype == torch.float32 else torch.float32).clamp(-60, 60)
    slope = torch.mul(near, near).mul_(-0.5).exp_().mul_(near).mul_(1 / math.sqrt(2 * math.pi))
    return slope.add_(near.mul_(-math.sqrt(0.5)).erfc_(), alpha=0.5)


def _gelu_tanh(x: torch.Tensor, *, out: torch.Tensor) -> None:
    """``x * sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 * x**3))``, without that difference."""
    torch.mul(x, x, out=out).mul_(0.044715).add_(1).mul_(x).mul_(2 * math.sqrt(2 / math.pi)).sigmoid_().mul_(x)


def _log_softmax(x: torch.Tensor, axis: int, *, out: torch.Tensor) -> None:
    """``x - max - log(total)``. For a total below 2, log1p of the weights below the largest: torch loses them."""
    torch.sub(x, x.amax(axis, True), out=out)
    weights = out.exp()
    total = weights.sum(axis, True)
    rest = weights.masked_fill_(out == 0, 0).sum(axis, True)
    out.sub_(torch.where(total < 2, rest.log1p_(), total.log_()))


def _clamp(x: torch.Tensor, low: torch.Tensor, high: torch.Tensor, *, out: torch.Tensor) -> None:
    """Torch's, which takes a tenth of the time for bounds that are numbers."""
    if low.ndim == high.ndim == 0:
        torch.clamp(x, low.item(), high.item(), out=out)
    else:
        torch.clamp(x, low, high, out=out)


def _conj(x: torch.Tensor, *, out: torch.Tensor) -> None:
    """Torch's, which returns real tensors themselves if it gets no `out`."""
    torch.conj_physical(x, out=out)


def _pow(x: torch.Tensor, y: torch.Tensor, *, out: torch.Tensor) -> None:
    """Torch's, or a product for the power 2."""
    if y.ndim == 0 and y.item() == 2:
        torch.mul(x, x, out=out)
    else:
        torch.pow(x, y, out=out)


_OWN: dict[str, Function] = {
    "clamp": _clamp,
    "conj": _conj,
    "copy": _copy,
    "gelu": _gelu,
    "gelu_backward": _gelu_backward,
    "gelu_tanh": _gelu_tanh,
    "log_softmax": _log_softmax,
    "pow": _pow,
}
