"""Calls that make arrays of numbers: a call like an earlier one only allocates and launches."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import NoneType
from typing import Any

from xpops.api.devices import default_device
from xpops.arrays import Array
from xpops.core.layouts import Layout
from xpops.dispatch.keys import Fixed, is_constant, way_of
from xpops.dispatch.steady import Launch, make_launch_on
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.plan.cache import BoundedDict

# Not in `xpops.dispatch.steady.launches`: a loop over numbers must not crowd out the launches of other calls.
_launches: BoundedDict[tuple[Any, ...], Launch] = BoundedDict(1024)
_NUMBERS = frozenset((int, float, NoneType))


def way_of_new(function: Any, numbers: tuple[Any, ...], settings: tuple[Any, ...], device: Any) -> tuple[Any, ...]:
    """The way of a call that makes an array.

    Parameters
    ----------
    function : callable
        The public function.
    numbers : tuple
        The way distinguishes 0.0 from -0.0. It is empty, so that the call is not remembered, if a number is anything
        but an int, a float or None, or has more digits than Python writes.
    settings : tuple
        Other parameters.
    device : Device or str, optional
    """
    if not _NUMBERS.issuperset(map(type, numbers)):
        return ()
    try:
        written = Fixed(map(str, numbers))
    except ValueError:
        return ()
    return way_of(function, (written, *settings, default_device() if device is None else device))


def known_new(way: tuple[Any, ...]) -> Array | None:
    """The array that a remembered call makes; None if no such call is remembered."""
    try:
        launch = _launches.get(way)
    except TypeError:  # a setting cannot be hashed
        return None
    made: Array | None = None if launch is None else launch()
    return made


def make_new(way: tuple[Any, ...], layout: Layout, kernel: Callable[[int, Data], None]) -> Array:
    """A new array that ``kernel(stream, data)`` writes. The call is remembered, unless its way is empty."""
    engine = engine_of(layout.device)
    launch = make_launch_on(engine, (layout,), kernel, None, engine.current_stream)
    made: Array = launch()
    if way and is_constant(way[1]):
        with suppress(TypeError):
            _launches[way] = launch
    return made
