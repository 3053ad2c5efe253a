"""Elementwise operators on NumPy.

A call is one call of the row's function if that is a ufunc or takes `out`, and all operands have its dtypes. Any other
call makes several passes over temporary arrays, so it runs over blocks that fit a core's cache. A function of one
16-bit number is read from a table of its 65,536 results.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cpu.blocks import Key, block_shape, blocks
from xpops.engine.cpu.quiet import quietly
from xpops.engine.cpu.rounding import NARROW, SINGLE, WIDENED, assign, buffer_of, cast
from xpops.engine.program import Kernel
from xpops.ops.elementwise import IDENTITY
from xpops.ops.operator import Operator
from xpops.plan.signature import Operand, Signature

NDArray = np.ndarray[Any, Any]
# compute(out, *operands) writes `out`.
Compute = Callable[..., None]
Conversion = Callable[[Any], NDArray | float]

# The elements of a block. Measured on x86-64 with an L2 cache of 2 MiB, 2026-11, over 2**12 to 2**16.
BLOCK = 1 << 14
# A table pays off if the array has as many elements.
_TABLE = 1 << 16


def elementwise(op: Operator, signature: Signature, operands: tuple[Operand, ...], out: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.elementwise`."""
    if op is IDENTITY:
        return _copy(operands[0], out)
    if is_compiled(op, signature.loop, operands, out):
        return _compiled(op, signature.loop, operands, out)
    as_given = op.own_halves or op.cpu_halves
    loops = signature.loop if as_given else tuple(WIDENED.get(loop, loop) for loop in signature.loop)
    function, layouts = op.cpu, [operand for operand in operands if isinstance(operand, Layout)]
    ready = [isinstance(x, Layout) and x.dtype == loop for x, loop in zip(operands, loops, strict=True)]
    conversions: list[Conversion | None] = [
        None if is_ready else partial(_converted, loop=loop, wide=wide)
        for is_ready, loop, wide in zip(ready, signature.loop, loops, strict=True)
    ]
    if sum(ready) == len(layouts) and _writes(function, loops, out.dtype):
        return _in_one_call(function, conversions)

    of_arrays, of_scalars = (
        [convert if isinstance(x, Layout) is array else None for x, convert in zip(operands, conversions, strict=True)]
        for array in (True, False)
    )

    def compute(out: NDArray, *inputs: Any) -> None:
        assign(out, np.asarray(function(*_all_converted(inputs, of_arrays))))

    if len(operands) == len(layouts) == 1 and layouts[0].dtype in WIDENED and out.size >= _TABLE:
        compute = _tabulated(compute, layouts[0].dtype, out.dtype)
    by_blocks = _by_blocks(compute, operands, out)

    def compute_with_scalars(out: NDArray, *inputs: Any) -> None:
        by_blocks(out, *_all_converted(inputs, of_scalars))

    return _quiet(compute_with_scalars if any(of_scalars) else by_blocks)


def is_compiled(op: Operator, loops: tuple[DType, ...], operands: tuple[Operand, ...], out: Layout) -> bool:
    """Whether the compiled core computes a call, in one pass and without temporary arrays."""
    if compiled is None or not op.core or out.dtype not in SINGLE:
        return False
    if op.own_halves and any(loop != dt.float32 for loop in loops):
        return False
    return all(
        loop in SINGLE and (not isinstance(x, Layout) or x.dtype == loop or (x.dtype in SINGLE and loop == dt.float32))
        for x, loop in zip(operands, loops, strict=True)
    )


def _compiled(op: Operator, loops: tuple[DType, ...], operands: tuple[Operand, ...], out: Layout) -> Kernel:
    assert compiled is not None
    run, name, count = compiled.compute, op.name, op.arity - op.parameters
    conversions = [
        _to_buffer(x, out.ndim) if isinstance(x, Layout) else _to_float(x, loop, place >= count)
        for place, (x, loop) in enumerate(zip(operands, loops, strict=True))
    ]

    def kernel(stream: int, out: NDArray, *inputs: Any) -> None:
        run(name, out, *inputs)

    def converting_kernel(stream: int, out: NDArray, *inputs: Any) -> None:
        run(name, buffer_of(out), *_all_converted(inputs, conversions))

    return converting_kernel if out.dtype == dt.bfloat16 or any(conversions) else kernel


def _to_buffer(x: Layout, ndim: int) -> Conversion | None:
    """The conversion of an array to one of so many axes, with the buffer protocol."""
    if x.ndim == ndim:
        return buffer_of if x.dtype == dt.bfloat16 else None
    return lambda x: buffer_of(x.reshape((1,) * (ndim - x.ndim) + x.shape))


def _to_float(kind: type, loop: DType, is_parameter: bool) -> Conversion | None:
    """Convert a scalar to a float, rounded to the loop's dtype. The core itself rounds operands to float32."""
    if kind is float and loop == dt.float32 and not is_parameter:
        return None
    return lambda x: float(quietly(cast, quietly(cast, x, loop), dt.float32))


def _in_one_call(function: Callable[..., Any], conversions: list[Conversion | None]) -> Kernel:
    """The kernel that calls a function with `out`. Only scalars are converted."""

    def kernel(stream: int, out: NDArray, *inputs: NDArray) -> None:
        quietly(function, *inputs, out=out)

    def kernel_of_scalars(stream: int, out: NDArray, *inputs: Any) -> None:
        quietly(lambda: function(*_all_converted(inputs, conversions), out=out))

    return kernel_of_scalars if any(conversions) else kernel


def _copy(x: Operand, out: Layout) -> Kernel:
    """The kernel ``(stream, out, x)`` that assigns `x`, with at most one rounding."""

    def fill(out: NDArray, x: Any) -> None:
        np.copyto(buffer_of(out), buffer_of(cast(x, out.dtype)))

    if isinstance(x, Layout) and x.dtype != out.dtype and out.dtype in NARROW:
        return _quiet(_by_blocks(assign, (x,), out))
    copy = partial(np.copyto, casting="unsafe") if isinstance(x, Layout) and x.dtype == out.dtype else assign
    chosen = copy if isinstance(x, Layout) else fill

    def kernel(stream: int, out: NDArray, x: Any) -> None:
        quietly(chosen, out, x)

    return kernel


def _quiet(compute: Compute) -> Kernel:
    """The kernel that calls `compute` without NumPy's warnings."""

    def kernel(stream: int, out: NDArray, *inputs: Any) -> None:
        quietly(compute, out, *inputs)

    return kernel


def _by_blocks(compute: Compute, operands: tuple[Operand, ...], out: Layout) -> Compute:
    """The function that calls `compute` on one block of all arrays after the other."""
    layout, lengths = out, block_shape(out, (), BLOCK)
    arrays = [isinstance(operand, Layout) for operand in operands]

    def run(out: NDArray, *inputs: Any) -> None:
        for key in blocks(layout, lengths, range(layout.ndim)):
            parts = [_part(x, key) if array else x for x, array in zip(inputs, arrays, strict=True)]
            compute(out[key], *parts)

    return compute if out.size <= BLOCK else run


def _part(x: NDArray, key: Key) -> NDArray:
    """The elements of `x` that broadcast to a block of the result."""
    own = key[len(key) - x.ndim :]
    part: NDArray = x[tuple([slice(None) if length == 1 else each for length, each in zip(x.shape, own, strict=True)])]
    return part.reshape((1,) * (len(key) - x.ndim) + part.shape) if x.ndim < len(key) else part


def _tabulated(compute: Compute, dtype: DType, result: DType) -> Compute:
    """`compute` of one operand of 16 bits, from a table that the first call makes."""
    table: NDArray | None = None

    def look_up(out: NDArray, x: NDArray) -> None:
        nonlocal table
        if table is None:
            results = np.empty(1 << 16, result)
            compute(results, np.arange(1 << 16, dtype=np.uint16).view(dtype))
            table = results
        np.take(table, x.view(np.uint16).astype(np.intp), out=out, mode="wrap")

    return look_up


def _all_converted(inputs: tuple[Any, ...], conversions: list[Conversion | None]) -> list[NDArray | float]:
    return [x if convert is None else convert(x) for x, convert in zip(inputs, conversions, strict=True)]


def _writes(function: Callable[..., Any], loops: tuple[DType, ...], dtype: DType) -> bool:
    """Whether a row's function of such operands writes ``out`` of a dtype."""
    if isinstance(function, np.ufunc):
        return bool(function.resolve_dtypes((*loops, None))[-1] == dtype)
    return loops[0] == dtype and "out" in signature(function).parameters


def _converted(x: Any, loop: DType, wide: DType) -> NDArray:
    """Convert an operand to the loop's dtype, and then to the wider dtype of the computation."""
    return cast(cast(x, loop), wide)
