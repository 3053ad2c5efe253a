"""Elementwise kernels of torch's own functions, for tensors in the host's memory."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_float
from functools import partial
from typing import Any

import numpy as np
import torch

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.engine import engine_of
from xpops.engine.cpu.elementwise import is_compiled
from xpops.engine.cpu.rounding import cast
from xpops.engine.program import Kernel
from xpops.frameworks.adapter import R
from xpops.frameworks.torch_functions import (
    TORCH_DTYPES,
    Function,
    allocates,
    copy_by_odd,
    faster_of,
    function_of,
    in_blocks,
    widened,
)
from xpops.ops.elementwise import IDENTITY
from xpops.ops.operator import Operator
from xpops.ops.torch import HALVES, TorchFunction, casts_alike
from xpops.plan.signature import Operand, Signature, signature_of

# torch.scalar_tensor takes no larger integer.
_LARGEST = 2**63 - 1
# float64 holds all numbers of these.
_EXACT_IN_FLOAT64 = frozenset((dt.int32, dt.uint32, dt.float64))
# Numbers below these are in the range of float16 and of float32.
_SMALL, _BIG = 2.0**15, 2.0**63

# See `xpops.dispatch.steady`.
Launch = Callable[..., Any]
# Converts an operand to what torch's function takes; None: the function takes the operand itself.
_Converter = Callable[[Any], Any] | None


def elementwise_kernel(
    op: Operator, specs: tuple[Operand, ...], dtype: DType | None, out: Layout, host: Kernel
) -> Kernel | None:
    """The kernel of an elementwise call; None if NumPy computes it.

    Parameters
    ----------
    dtype : numpy.dtype or None
        The result's dtype, for casts.
    host : Kernel
        The kernel of the host's engine on tensors. It raises the error for a scalar that the loop's dtype cannot hold.
    """
    if op is IDENTITY:
        return _copy_kernel(specs[0], out)
    signature = signature_of(op, specs, dtype)
    if out.dtype != signature.dtype:
        return None
    kernel = _by_torch(op, specs, signature, out, host)
    if kernel is not None:
        return _within_range(kernel, 2, specs, signature.loop, host)
    if op.own_halves or is_compiled(op, signature.loop, specs, out):
        return None
    return _through_float32(op, specs, signature, out)


def elementwise_launch(
    op: Operator, specs: tuple[Operand, ...], dtype: DType | None, out: Layout, launch: Launch
) -> Launch:
    """The launch of an elementwise call by a torch function that makes the result, where it makes it as xpops does.

    Such a call takes a quarter less time than one with memory and a kernel that writes it.

    Parameters
    ----------
    launch : callable
        Takes the tensors and scalars, and returns the result, for all other calls.
    """
    arrays = [spec for spec in specs if isinstance(spec, Layout)]
    if out.size == 0 or any((x.shape, x.strides) != (out.shape, out.strides) for x in arrays):
        return launch
    # Torch's strides of axes of length 1 are others, if a scalar becomes a tensor without axes, or axes are permuted.
    if 1 in out.shape and not (out.contiguous and len(arrays) == len(specs)):
        return launch
    if op is IDENTITY:
        theirs = TORCH_DTYPES[out.dtype]
        return partial(torch.Tensor.to, dtype=theirs, copy=True) if casts_alike(arrays[0].dtype, out.dtype) else launch
    signature = signature_of(op, specs, dtype)
    found = _function_of(op, specs, signature, out) if out.dtype == signature.dtype else None
    if found is None or not allocates(found[0]):
        return launch
    return _within_range(_calling(*found), 0, specs, signature.loop, launch)


def _calling(function: Function, converters: list[_Converter], same: TorchFunction) -> Launch:
    """The launch that calls a function of converted operands."""
    more = same.arguments

    def convert_and_call(*operands: Any) -> Any:
        return function(*[x if to is None else to(x) for x, to in zip(operands, converters, strict=True)], *more)

    if any(converters):
        return convert_and_call
    return (lambda *operands: function(*operands, *more)) if more else function


def _by_torch(
    op: Operator, specs: tuple[Operand, ...], signature: Signature, out: Layout, host: Kernel
) -> Kernel | None:
    """The kernel of the function that the row names."""
    same, loop = op.torch, signature.loop[op.condition]
    if same is None or loop not in same.wide:
        found = _function_of(op, specs, signature, out)
        return None if found is None else _kernel(*found)
    x, function = specs[0], function_of(same.name)
    if function is None or not isinstance(x, Layout) or x.dtype != loop or out.dtype not in (loop, dt.bool):
        return None
    kernel = widened(function, (), x)
    return faster_of(host, kernel, x) if is_compiled(op, signature.loop, specs, out) else kernel


def _function_of(
    op: Operator, specs: tuple[Operand, ...], signature: Signature, out: Layout
) -> tuple[Function, list[_Converter], TorchFunction] | None:
    """The function that the row names, if it computes the call, and the conversions of the operands that it takes."""
    same, loop = op.torch, signature.loop[op.condition]
    function = None if same is None else function_of(same.name)
    if same is None or function is None or loop not in same.dtypes - same.wide or out.dtype not in (loop, dt.bool):
        return None
    converters: list[_Converter] = []
    for spec, wanted in zip(specs[: op.arity - op.parameters], signature.loop, strict=False):
        if isinstance(spec, Layout) and not casts_alike(spec.dtype, wanted):
            return None
        converters.append(_converter(spec, wanted))
    return function, [*converters, *[None] * op.parameters], same


def _through_float32(op: Operator, specs: tuple[Operand, ...], signature: Signature, out: Layout) -> Kernel | None:
    """The kernel of the host's engine on halves that torch converts to float32 and back: NumPy takes much longer.

    None for one operand: the engine has a table of all results.
    """
    halves = [isinstance(spec, Layout) and spec.dtype in HALVES for spec in specs]
    as_given = [isinstance(spec, type) or spec.dtype == loop for spec, loop in zip(specs, signature.loop, strict=True)]
    if len(specs) == 1 or not any(halves) or not all(as_given) or out.dtype in dt.FLOAT8:
        return None
    loops = tuple(dt.float32 if half else loop for half, loop in zip(halves, signature.loop, strict=True))
    narrow = out.dtype in HALVES
    wide = layout_of(dt.float32, out.shape, None, out.device) if narrow else out
    single = tuple(
        layout_of(dt.float32, spec.shape, spec.strides, spec.device) if isinstance(spec, Layout) and half else spec
        for spec, half in zip(specs, halves, strict=True)
    )
    kernel = engine_of(out.device).elementwise(op, signature._replace(loop=loops, dtype=wide.dtype), single, wide)

    def convert_and_launch(stream: int, out: torch.Tensor, *operands: Any) -> None:
        given = [x.to(torch.float32) if half else x for x, half in zip(operands, halves, strict=True)]
        result = torch.empty(wide.shape, dtype=torch.float32, device="cpu") if narrow else out
        kernel(stream, *[x.detach().numpy() if isinstance(x, torch.Tensor) else x for x in (result, *given)])
        if narrow:
            out.copy_(result)

    return convert_and_launch


def _copy_kernel(x: Operand, out: Layout) -> Kernel | None:
    if not isinstance(x, Layout):
        return None
    if casts_alike(x.dtype, out.dtype):
        return lambda stream, out, x: out.copy_(x)
    if x.dtype in _EXACT_IN_FLOAT64 and out.dtype in (*HALVES, dt.float8_e5m2):
        return in_blocks(copy_by_odd, x) if x.shape == out.shape else copy_by_odd
    return None


def _kernel(function: Function, converters: list[_Converter], same: TorchFunction) -> Kernel:
    """The kernel of a function of converted operands."""
    more = same.arguments

    def kernel(stream: int, out: torch.Tensor, *operands: Any) -> None:
        function(*operands, *more, out=out)

    def convert_and_launch(stream: int, out: torch.Tensor, *operands: Any) -> None:
        converted = [x if to is None else to(x) for x, to in zip(operands, converters, strict=True)]
        function(*converted, *more, out=out)

    return convert_and_launch if any(converters) else kernel


def _converter(spec: Operand, dtype: DType) -> _Converter:
    """The conversion of an operand to the loop's dtype."""
    theirs = TORCH_DTYPES[dtype]
    if isinstance(spec, Layout):
        return None if spec.dtype == dtype else partial(torch.Tensor.to, dtype=theirs)
    make = partial(torch.scalar_tensor, dtype=theirs, device="cpu")
    if dtype in HALVES:  # torch would round twice what float32 does not hold
        return lambda value: make(
            value if abs(value) < _SMALL and c_float(value).value == value else _rounded(value, dtype)
        )
    if dtype.kind in "fc":  # torch refuses numbers beyond the range instead of making them infinite, and large integers
        widest = torch.complex128 if dtype.kind == "c" else torch.float64
        return lambda value: make(value) if abs(value) < _BIG else _scalar(value, widest).to(theirs)
    return make


def _scalar(value: complex, dtype: torch.dtype) -> torch.Tensor:
    """A tensor of one number, also from an integer of any size."""
    floating = complex(value) if dtype.is_complex else float(value)  # type: ignore[arg-type]
    return torch.scalar_tensor(floating, dtype=dtype, device="cpu")


def _rounded(value: float, dtype: DType) -> float:
    with np.errstate(all="ignore"):
        return float(cast(value if abs(value) < _BIG else float(value), dtype))


def _within_range(
    call: Callable[..., R], first: int, specs: tuple[Operand, ...], loop: tuple[DType, ...], otherwise: Callable[..., R]
) -> Callable[..., R]:
    """`call`, or `otherwise` if an integer is beyond the range of the loop's dtype. The operands begin at `first`."""
    bounds = [
        (first + position, int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), _LARGEST))
        for position, (spec, dtype) in enumerate(zip(specs, loop, strict=True))
        if spec is int and dtype.kind in "iu"
    ]
    if not bounds:
        return call

    def check_and_call(*given: Any) -> R:
        fits = all(low <= given[position] <= high for position, low, high in bounds)
        return (call if fits else otherwise)(*given)

    return check_and_call
