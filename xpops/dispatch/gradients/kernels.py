"""A call as one kernel that writes its results to given memory: what a program of another compiler runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from xpops.core.devices import Device
from xpops.core.layouts import Layout
from xpops.core.operands import Scalar
from xpops.dispatch.direct import arrays_on
from xpops.dispatch.gradients.calls import RecordedCall
from xpops.dispatch.primitives import copier
from xpops.engine import engine_of, is_cuda
from xpops.engine.cuda.runtime import streams
from xpops.engine.program import Data, Kernel, Program
from xpops.plan.signature import Operand


def kernel_of(
    call: RecordedCall, arguments: tuple[Layout | Scalar, ...], outs: tuple[Layout, ...], device: Device
) -> Kernel:
    """The kernel ``(stream, *outs, *arrays)`` of a call.

    Parameters
    ----------
    call : RecordedCall
    arguments : tuple of Layout or scalar
        The layouts of arrays, and the scalars, which the kernel holds.
    outs : tuple of Layout
        The memory for the results, which may have narrower dtypes.
    device : Device
        That of all arrays.
    """
    specs = tuple([x if isinstance(x, Layout) else type(x) for x in arguments])
    planned = None if call.plan is None else call.plan(device, specs)
    if not isinstance(planned, Program):
        return _computing(call, specs, arguments, outs)
    kernel = _holding(planned.kernel, arguments, len(outs))
    if planned.layouts != outs:
        kernel = _converting(kernel, planned.layouts, outs, device)
    return engine_of(device).sequence(kernel, (*outs, *(x for x in arguments if isinstance(x, Layout))))


def _holding(kernel: Kernel, arguments: tuple[Layout | Scalar, ...], results: int) -> Kernel:
    """`kernel` with the scalars in their places."""
    if all(isinstance(x, Layout) for x in arguments):
        return kernel

    def hold(stream: int, *data: Data) -> None:
        arrays = iter(data[results:])
        kernel(stream, *data[:results], *_filled(arguments, arrays))

    return hold


def _filled(arguments: tuple[Layout | Scalar, ...], arrays: Iterator[Any]) -> list[Any]:
    """The arguments with these arrays in the places of layouts."""
    return [next(arrays) if isinstance(x, Layout) else x for x in arguments]


def _converting(kernel: Kernel, layouts: tuple[Layout, ...], outs: tuple[Layout, ...], device: Device) -> Kernel:
    """`kernel`, whose results have these layouts, with a conversion of each result to `outs`."""
    allocators = tuple(map(engine_of(device).allocator, layouts))
    copiers = tuple(map(copier, layouts, outs))
    count = len(outs)

    def convert(stream: int, *data: Data) -> None:
        made = [allocate(stream) for allocate in allocators]
        kernel(stream, *[each for each, _ in made], *data[count:])
        for copy, out, (each, _) in zip(copiers, data[:count], made, strict=True):
            copy(stream, out, each)

    return convert


def _computing(
    call: RecordedCall,
    specs: tuple[Operand, ...],
    arguments: tuple[Layout | Scalar, ...],
    outs: tuple[Layout, ...],
) -> Kernel:
    """The kernel of a call that is several others: it computes arrays of ours, and copies them."""
    device, count = outs[0].device, len(outs)
    on_gpu = is_cuda(engine_of(device))

    def compute(stream: int, *data: Data) -> None:
        values = tuple(_filled(arguments, iter(data[count:])))
        with streams.set_current(device.index, stream) if on_gpu else nullcontext():
            found = call.compute(*arrays_on(specs, values))
            for out, target, made in zip(outs, data, found if isinstance(found, tuple) else (found,), strict=False):
                copier(made._layout, out)(stream, target, made._data)

    return compute
