"""Views: the elements of an array in another shape, or with its axes in another order.

Views of a framework's arrays are made by the framework, which takes a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from xpops.arrays.array import Array, adopt_foreign, contiguous_copy
from xpops.arrays.regions import Show, show_region, view_of
from xpops.core.compiled import compiled
from xpops.core.guards import copies
from xpops.core.layouts import Layout, alignment, contiguous_strides, extent, layout_of
from xpops.dispatch.calls import call_for
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.keys import is_constant, way_of
from xpops.dispatch.primitives import call, freeze, is_hashable
from xpops.dispatch.steady import known_view, read_by_framework, remember_view
from xpops.engine import engine_of
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.frameworks.registry import adapter_of
from xpops.ops.derivatives import movement as derivative
from xpops.ops.elementwise import IDENTITY
from xpops.plan.strides import views
from xpops.plan.strides.views import Region


class Step(NamedTuple):
    """How a view shows an array of some shape.

    Attributes
    ----------
    kind : str
        "reshape", "permute", "broadcast_to", "flip", "unstack" or "diagonal".
    argument : tuple of int or int
        The new shape, the order of the axes, the new shape, the axes, the axis, or the offset of the diagonals.
    """

    kind: str
    argument: Any


def _view(plan: Callable[..., Step], function: str, x: Any, *parameters: Any) -> Any:
    """The view of an array of any framework.

    Parameters
    ----------
    plan : callable
        ``plan(shape, *parameters)`` checks the parameters, and returns a `Step`.
    function : str
        The public function, for errors.
    """
    if not (is_hashable(parameters) and all(map(is_constant, parameters))):
        adapter = adapter_of(type(x))
        if adapter is not None and adapter.is_traced(x):  # perhaps with symbolic sizes
            return _first_view(plan, None, function, x, parameters)
        try:
            frozen = [freeze(each, function) for each in parameters]
        except TypeError:  # such as an array of lengths: the plan takes it, or says what it accepts
            return _first_view(plan, None, function, x, parameters)
        return _view(plan, function, x, *frozen)
    way = way_of(plan, parameters)
    result = known_view(way, x)
    return _first_view(plan, way, function, x, parameters) if result is None else result


if compiled is None:
    view = _view
else:
    compiled.set_view(_view)
    view = compiled.view


def _first_view(plan: Callable[..., Step], way: Any, function: str, x: Any, parameters: tuple[Any, ...]) -> Any:
    """The view by the slow path: plan, and remember how the view is made. It is not remembered if `way` is None."""
    if isinstance(x, Array):
        show, argument = _own_view(x._layout, plan(x.shape, *parameters))
        if way is not None:
            remember_view(way, x, show, argument)
        return show(x, argument)
    adapter = adapter_of(type(x))
    theirs = {} if adapter is None else adapter.views(type(x))
    if adapter is not None and theirs:
        kind, arguments = _their_view(plan(tuple(x.shape), *parameters), len(x.shape), theirs)
        known = theirs if kind in theirs else {"flip": _flipped_copy}
        if kind in known:
            result = known[kind](x, *arguments)
            if copies.is_open:
                _report_copies(function, x, result)
            elif way is not None and not adapter.is_traced(x):
                remember_view(way, x, known[kind], *arguments)
                read_by_framework((x,), adapter)
            return result
    given = adopt_foreign(x, function, "x")
    show, argument = _own_view(given._layout, plan(given.shape, *parameters))
    result = show(given, argument)
    if adapter is None:
        return result
    return tuple(map(adapter.export, result)) if isinstance(result, tuple) else adapter.export(result)


def _their_view(step: Step, ndim: int, theirs: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    """The kind of a framework's view of an array with `ndim` axes, and what its function takes after the array."""
    kind, argument = step
    if kind == "permute" and "mT" in theirs and _is_transpose(argument):
        return "mT", ()
    if kind == "diagonal" and ndim > 2:
        return kind, (argument, -2, -1)
    return kind, (argument,)


def _is_transpose(order: tuple[int, ...]) -> bool:
    """Whether an order of axes exchanges the last two."""
    count = len(order)
    return count >= 2 and order == (*range(count - 2), count - 1, count - 2)


def _report_copies(function: str, x: Any, result: Any) -> None:
    """Report a framework's "view" that has memory of its own. Tensors that require grad are not checked."""
    with suppress(TypeError):
        theirs = _span(adopt_foreign(x, function, "x"))
        for part in result if isinstance(result, tuple) else (result,):
            own = _span(adopt_foreign(part, function, "x"))
            if own and (own.start < theirs.start or own.stop > theirs.stop):
                copies.report(f"{function}: an array of shape {tuple(x.shape)} is copied by its framework")


def _span(x: Array) -> range:
    """The addresses of the memory of an array."""
    low, high = extent(x._layout)
    start = engine_of(x.device).address(x._data)
    return range(start + low, start + high)


def _flipped_copy(x: Any, axes: tuple[int, ...]) -> Any:
    """The elements along `axes` in reverse, for frameworks without negative strides."""
    return call(_plan_flipped, "flip", ("x",), (x,), axes)


@differentiable(derivative.flip)
def _plan_flipped(engine: Engine, specs: tuple[Layout], axes: tuple[int, ...]) -> Program:
    (x,) = specs
    region = views.flip(x, axes)
    align = min(x.align, alignment(region.offset * x.dtype.itemsize))
    part = layout_of(x.dtype, region.shape, region.strides, x.device, align)
    out, copy = call_for(IDENTITY, (part,), x.device, x.dtype)
    return Program((out,), lambda stream, out, x: copy(stream, out, engine.view(x, region.offset, part)))


def _own_view(layout: Layout, step: Step) -> Show:
    """The function that shows an xpops array of a layout, and its argument."""
    kind, argument = step
    if kind == "unstack":
        before = (slice(None),) * argument
        regions = [views.index(layout, (*before, place)) for place in range(layout.shape[argument])]
        return _show_several, [show_region(layout, region) for region in regions]
    region: Region | None = getattr(views, kind)(layout, argument)
    if region is None:  # a reshape that strides cannot show
        return _show_copy, Region(0, argument, contiguous_strides(argument))
    return show_region(layout, region, writable=kind != "broadcast_to")


def _show_several(x: Array, parts: list[Show]) -> tuple[Array, ...]:
    return tuple([show(x, argument) for show, argument in parts])


def _show_copy(x: Array, region: Region) -> Array:
    if copies.is_open:
        copies.report(f"reshape: an array of shape {x.shape} and strides {x._layout.strides} is copied")
    return view_of(contiguous_copy(x), region)
