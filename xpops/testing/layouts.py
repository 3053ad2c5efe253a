"""Layouts of arrays: for a shape, a base array and the view of it that has this shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

Shape = tuple[int, ...]


class View(NamedTuple):
    """A view of a base.

    Attributes
    ----------
    base : tuple of int
        The shape of the base.
    start : int
        The elements of a 1-D base that are left out; the others get the shape `inner`.
    inner : tuple of int
    key : tuple of slice
        Then they are sliced.
    order : tuple of int
        Then their axes are permuted.
    shape : tuple of int
        Then they are broadcast to the shape of the view.
    """

    base: Shape
    start: int
    inner: Shape
    key: tuple[slice, ...]
    order: tuple[int, ...]
    shape: Shape


def contiguous(shape: Shape) -> View:
    """The base itself."""
    return _view(shape, shape)


def shifted(shape: Shape) -> View:
    """All elements but the first: contiguous, and off alignment."""
    return _view((math.prod(shape) + 1,), shape, start=1)


def cropped(shape: Shape) -> View:
    """The inner columns."""
    return _keyed(shape, -1, 3, slice(1, -2))


def stepped(shape: Shape) -> View:
    """Every other column."""
    return _keyed(shape, -1, shape[-1] if shape else 0, slice(None, None, 2))


def mirrored(shape: Shape) -> View:
    """Rows from right to left."""
    return _keyed(shape, -1, 0, slice(None, None, -1))


def upside_down(shape: Shape) -> View:
    """The first axis from its end."""
    return _keyed(shape, 0, 0, slice(None, None, -1))


def transposed(shape: Shape) -> View:
    """All axes in reversed order."""
    order = tuple(reversed(range(len(shape))))
    return _view(tuple(reversed(shape)), tuple(reversed(shape)), order=order, shape=shape)


def interleaved(shape: Shape) -> View:
    """The first axis is the innermost one."""
    order = (len(shape) - 1, *range(len(shape) - 1)) if shape else ()
    base = (*shape[1:], *shape[:1])
    return _view(base, base, order=order, shape=shape)


def repeated(shape: Shape) -> View:
    """One row for all."""
    base = (1, *shape[1:]) if shape else ()
    return _view(base, base, shape=shape)


LAYOUTS: dict[str, Callable[[Shape], View]] = {
    each.__name__: each
    for each in (contiguous, shifted, cropped, stepped, mirrored, upside_down, transposed, interleaved, repeated)
}


def _view(base: Shape, inner: Shape, start: int = 0, order: Any = None, shape: Any = None) -> View:
    whole = (slice(None),) * len(inner)
    return View(base, start, inner, whole, order or tuple(range(len(inner))), inner if shape is None else shape)


def _keyed(shape: Shape, axis: int, more: int, key: slice) -> View:
    if not shape:
        return contiguous(shape)
    base, keys = list(shape), [slice(None)] * len(shape)
    base[axis] += more
    keys[axis] = key
    return View(tuple(base), 0, tuple(base), tuple(keys), tuple(range(len(shape))), shape)
