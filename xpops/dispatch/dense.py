"""C-contiguous operands for primitives that need them: a view if strides allow it, else a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.primitives import copier
from xpops.engine.program import Data, Guess, Guessing, Owner, Program
from xpops.engine.protocol import Engine
from xpops.plan.signature import Operand


def require_array(spec: Operand, function: str, argument: str) -> Layout:
    """`spec` if it is a layout, so that the operand is an array.

    Raises
    ------
    TypeError
        If the operand is a Python scalar.
    """
    if isinstance(spec, Layout):
        return spec
    raise TypeError(f"{function}: {argument} is a Python {spec.__name__}; accepted: an array")


def reshape_dense(layout: Layout, shape: tuple[int, ...]) -> Layout:
    """A C-contiguous layout reshaped to `shape`."""
    return layout_of(layout.dtype, shape, None, layout.device, layout.align)


def make_dense(
    engine: Engine, layout: Layout, shape: tuple[int, ...] | None = None
) -> tuple[Layout, Callable[[int, Data], tuple[Data, Owner]]]:
    """A C-contiguous layout for the elements of `layout`, and a function ``(stream, data)`` that makes its data.

    The function returns the data and its owner, and copies only if `layout` is not C-contiguous. `shape` is the shape
    of the result, by default that of `layout`.
    """
    shape = layout.shape if shape is None else shape
    if layout.contiguous:
        view = reshape_dense(layout, shape)
        return view, lambda stream, data: (engine.view(data, 0, view), None)
    fresh = layout_of(layout.dtype, layout.shape, None, layout.device)
    copy, allocate, target = copier(layout, fresh), engine.allocator(fresh), reshape_dense(fresh, shape)

    def copy_data(stream: int, data: Data) -> tuple[Data, Owner]:
        made, owner = allocate(stream)
        copy(stream, made, engine.view(data, 0, layout))
        return engine.view(made, 0, target), owner

    return target, copy_data


@overload
def plan_on_dense(
    engine: Engine,
    layouts: tuple[Layout, ...],
    primitive: Callable[..., Program],
    *parameters: Any,
    as_given: tuple[int, ...] = ...,
) -> Program: ...
@overload
def plan_on_dense(
    engine: Engine,
    layouts: tuple[Layout, ...],
    primitive: Callable[..., Guessing],
    *parameters: Any,
    as_given: tuple[int, ...] = ...,
) -> Guessing: ...
def plan_on_dense(
    engine: Engine,
    layouts: tuple[Layout, ...],
    primitive: Callable[..., Program | Guessing],
    *parameters: Any,
    as_given: tuple[int, ...] = (),
) -> Program | Guessing:
    """``primitive(*layouts, *parameters)`` for operands that may not be C-contiguous: they are copied first if needed.

    `primitive` takes the operands at the places `as_given` in any layout.

    The data that a call passes may have other layouts; only the first element must be the same as in `layouts`.
    """
    if not engine.is_host and all(layout.contiguous for layout in layouts):
        return primitive(*layouts, *parameters)
    pairs = [
        (layout, lambda stream, data: (data, None)) if place in as_given else make_dense(engine, layout)
        for place, layout in enumerate(layouts)
    ]
    made = primitive(*(layout for layout, _ in pairs), *parameters)

    def prepare_all(stream: int, operands: tuple[Data, ...]) -> list[tuple[Data, Owner]]:
        return [prepare(stream, data) for (_, prepare), data in zip(pairs, operands, strict=True)]

    if isinstance(made, Program):
        kernel, count = made.kernel, len(made.layouts)

        def run(stream: int, *data: Data) -> None:
            operands = prepare_all(stream, data[count:])
            kernel(stream, *data[:count], *(operand for operand, _ in operands))

        return Program(made.layouts, run)
    inner = made

    def measure(stream: int, *data: Data) -> Program | Guess:
        operands = prepare_all(stream, data)
        found = inner(stream, *(operand for operand, _ in operands))
        count = len(found.layouts)

        def run(stream: int, *data: Data) -> None:
            found.kernel(stream, *data[:count], *(operand for operand, _ in operands))

        return found._replace(kernel=run)

    return measure
