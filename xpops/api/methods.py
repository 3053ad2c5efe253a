"""Methods of arrays beyond the standard. Each calls the function of the same name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.api import foreign_methods
from xpops.api.data_types import astype
from xpops.api.elementwise.complex_numbers import conj
from xpops.api.elementwise.limits import clip
from xpops.api.indexing import take
from xpops.api.manipulation.axes import permute_dims
from xpops.api.manipulation.shapes import reshape, squeeze
from xpops.api.searching import argmax, argmin, nonzero
from xpops.api.sorting import argsort
from xpops.api.statistics.extremes import max, min
from xpops.api.statistics.moments import mean, std, var
from xpops.api.statistics.sums import prod, sum
from xpops.api.utility import all, any
from xpops.arrays import Array
from xpops.core.elsewhere import FUNCTIONS, METHODS, Elsewhere
from xpops.dispatch.fusion.traced_arrays import Traced


def _reshape(self: Array, *shape: Any, copy: bool | None = None) -> Array:
    """As `xpops.reshape`; the lengths may also be given one by one.

    Examples
    --------
    >>> xp.arange(6).reshape(2, 3).shape
    (2, 3)
    """
    view: Array = reshape(self, shape[0] if len(shape) == 1 else shape, copy=copy)
    return view


def _transpose(self: Array, *axes: Any) -> Array:
    """As `xpops.permute_dims`; without arguments, all axes in reverse.

    Examples
    --------
    >>> xp.zeros((2, 3, 4)).transpose().shape
    (4, 3, 2)
    """
    order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    view: Array = permute_dims(self, order if axes else tuple(reversed(range(self.ndim))))
    return view


def _flatten(self: Array) -> Array:
    """A copy of the elements in one axis, in C order.

    Examples
    --------
    >>> xp.zeros((2, 3)).flatten().shape
    (6,)
    """
    line: Array = reshape(self, (-1,), copy=True)
    return line


def _ravel(self: Array) -> Array:
    """The elements in one axis, in C order: a view if the strides allow one, else a copy.

    Examples
    --------
    >>> xp.zeros((2, 3)).ravel().shape
    (6,)
    """
    line: Array = reshape(self, (-1,))
    return line


def _squeeze(self: Array, axis: Any = None) -> Array:
    """As `xpops.squeeze`; by default all axes of length 1.

    Examples
    --------
    >>> xp.zeros((1, 3, 1)).squeeze().shape
    (3,)
    """
    single = tuple(i for i, length in enumerate(self.shape) if length == 1)
    view: Array = squeeze(self, single if axis is None else axis)
    return view


# The reductions that are methods; `axis` may be positional there.
_REDUCTIONS = (all, any, argmax, argmin, max, mean, min, prod, std, sum, var)


def _reduction_method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, axis: Any = None, **options: Any) -> Any:
        return function(self, axis=axis, **options)

    method.__name__, method.__qualname__ = function.__name__, f"Array.{function.__name__}"
    method.__doc__ = f"As `xpops.{function.__name__}`."
    return method


def attach() -> None:
    """Add the methods to `Array`, and those that can be fused to the traced arrays of fused functions.

    Methods that only other libraries have become errors that name the call.
    """
    shared: tuple[Callable[..., Any], ...] = (*map(_reduction_method, _REDUCTIONS), astype, clip, conj)
    for method in shared:
        for cls in (Array, Traced):
            setattr(cls, method.__name__, method)
    own: tuple[Callable[..., Any], ...] = (argsort, nonzero, take, _flatten, _ravel, _reshape, _squeeze, _transpose)
    for method in own:
        setattr(Array, method.__name__.strip("_"), method)
    for name, found in {**foreign_methods.METHODS, **foreign_methods.ATTRIBUTES}.items():
        setattr(Array, name, found)
    missing = {name: call for name, call in {**FUNCTIONS, **METHODS}.items() if not hasattr(Array, name)}
    for name, call in missing.items():
        setattr(Array, name, Elsewhere(name, call))
    setattr(Array, "__dir__", lambda self: [name for name in object.__dir__(self) if name not in missing])  # noqa: B010
