"""The steady state: a call with known layouts launches its kernel without planning.

This module has what all kinds of calls share: the class of results, and the remembered launches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.core.layouts import Layout
from xpops.dispatch.calls import PLAN_LIMIT
from xpops.dispatch.tensor import Tensor
from xpops.engine.program import Kernel
from xpops.engine.protocol import Engine
from xpops.plan.cache import BoundedDict

# The class of results. `xpops.arrays` sets it: this package must not import that one.
array_class: type[Any] = Tensor
# (operator or plan, layout or scalar type, ...) -> function from the operands' data to a new array.
launches: BoundedDict[tuple[Any, ...], Callable[..., Any]] = BoundedDict(PLAN_LIMIT)
# Class of a framework's arrays -> the inline cache of the framework, which recognises a call by itself.
inline: dict[type, Any] = {}


def make_launch(engine: Engine, layout: Layout, kernel: Kernel, count: int) -> Callable[..., Any]:
    """The steady state for xpops arrays and one result: get the current stream, allocate, launch, wrap.

    Parameters
    ----------
    count : int
        The number of operands. One or two get a function of their own, which builds no tuple.
    """
    allocate, current_stream, cls = engine.allocator(layout), engine.current_stream, array_class

    def one(x: Any) -> Any:
        stream = current_stream()
        data, owner = allocate(stream)
        kernel(stream, data, x)
        return cls(layout, data, owner)

    def two(x1: Any, x2: Any) -> Any:
        stream = current_stream()
        data, owner = allocate(stream)
        kernel(stream, data, x1, x2)
        return cls(layout, data, owner)

    def any_number(*values: Any) -> Any:
        stream = current_stream()
        data, owner = allocate(stream)
        kernel(stream, data, *values)
        return cls(layout, data, owner)

    if count > 2:
        return any_number
    return one if count == 1 else two


def make_launch_of_several(
    engine: Engine, layouts: tuple[Layout, ...], kernel: Kernel
) -> Callable[..., tuple[Any, ...]]:
    """`make_launch` for several results."""
    allocators, current_stream, cls = (
        [engine.allocator(layout) for layout in layouts],
        engine.current_stream,
        array_class,
    )

    def launch(*values: Any) -> tuple[Any, ...]:
        stream = current_stream()
        made = [allocate(stream) for allocate in allocators]
        kernel(stream, *[data for data, _ in made], *values)
        return tuple([cls(layout, *each) for layout, each in zip(layouts, made, strict=True)])

    return launch
