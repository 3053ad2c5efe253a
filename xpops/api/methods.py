"""The methods that arrays have beyond the standard, each from the function of the same name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.api import searching, statistical, utility
from xpops.api.data_types import astype
from xpops.api.manipulation import permute_dims, reshape
from xpops.array import Array


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
    """As `xpops.permute_dims`; without axes, all in reverse.

    Examples
    --------
    >>> xp.zeros((2, 3, 4)).transpose().shape
    (4, 3, 2)
    """
    order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
    view: Array = permute_dims(self, order if axes else tuple(reversed(range(self.ndim))))
    return view


# The reductions that are methods; `axis` may be positional there.
_REDUCTIONS = (
    *(getattr(statistical, name) for name in statistical.__all__ if not name.startswith("cumulative")),
    *(getattr(utility, name) for name in utility.__all__),
    searching.argmax,
    searching.argmin,
)


def _reducing(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Array, axis: Any = None, **options: Any) -> Any:
        return function(self, axis=axis, **options)

    method.__name__, method.__qualname__ = function.__name__, f"Array.{function.__name__}"
    method.__doc__ = f"As `xpops.{function.__name__}`."
    return method


def attach() -> None:
    """Give the methods to `Array`."""
    for function in _REDUCTIONS:
        setattr(Array, function.__name__, _reducing(function))
    Array.astype = astype
    Array.reshape = _reshape
    Array.transpose = _transpose
