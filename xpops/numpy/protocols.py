"""NumPy's protocols: NumPy's own functions, called with xpops arrays, are the functions of this namespace.

>>> import numpy
>>> numpy.sqrt(xp.asarray([1.0, 4.0]))
Array([1., 2.], dtype=float64, device='cpu')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy

from xpops.arrays import Array
from xpops.frameworks.registry import adapter_of, is_wrapper
from xpops.numpy import creation, reductions
from xpops.numpy.arguments import given, is_scalar

# A module of NumPy, and where its functions are here. Those of the standard are in `xpops`, too.
_MODULES = {
    "numpy": ("xpops.numpy", "xpops"),
    "numpy.fft": ("xpops.numpy.fft",),
    "numpy.lib.stride_tricks": ("xpops.numpy",),
    "numpy.linalg": ("xpops.numpy.linalg",),
}
# A ufunc and its method, and the function that computes the same.
_METHODS = {
    ("add", "accumulate"): reductions.cumsum,
    ("add", "reduce"): reductions.sum,
    ("logical_and", "reduce"): reductions.all,
    ("logical_or", "reduce"): reductions.any,
    ("maximum", "reduce"): reductions.max,
    ("minimum", "reduce"): reductions.min,
    ("multiply", "accumulate"): reductions.cumprod,
    ("multiply", "reduce"): reductions.prod,
}
# What computes NumPy's functions that take ``like=x``.
_CREATION: dict[str, Callable[..., Any]] = {
    "arange": creation.arange,
    "array": creation.array,
    "asanyarray": creation.asarray,
    "asarray": creation.asarray,
    "empty": creation.empty,
    "eye": creation.eye,
    "full": creation.full,
    "identity": creation.identity,
    "ones": creation.ones,
    "tri": creation.tri,
    "zeros": creation.zeros,
}
# Values of options that ask for nothing. Functions of this namespace lack most of these options.
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "device": (None, "cpu"),
    "casting": ("safe", "same_kind"),
    "order": (None, "C", "K", "A"),
    "subok": (False, True),
    "writeable": (False,),
}


def call_ufunc(x: Array, ufunc: numpy.ufunc, method: str, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """`Array.__array_ufunc__` of `x`. NotImplemented if xpops lacks the ufunc, or takes no such operand."""
    function = _ufunc_method(ufunc, method)
    if function is None or not all(map(_is_operand, (*operands, *options.get("out", ())))):
        return NotImplemented
    return function(*_on_device(x, operands), **_without_neutral(options))


def call_function(
    x: Array,
    function: Callable[..., Any],
    types: Iterable[type],
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """`Array.__array_function__` of `x`. NotImplemented if there are arrays that xpops does not take.

    NumPy computes a function that xpops lacks. It converts the arrays, which is an error for those on a GPU.
    """
    if not all(map(_is_array_type, types)):
        return NotImplemented
    if not hasattr(function, "__wrapped__"):  # the caller passed ``like=x``
        create = _CREATION.get(function.__name__)
        return NotImplemented if create is None else create(*arguments, **_without_neutral(options), device=x.device)
    found = _counterpart(function)
    if found is None:
        return function.__wrapped__(*arguments, **options)
    return found(*_on_device(x, arguments), **_without_neutral(options))


@lru_cache(512)
def _counterpart(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """The function of xpops with the name of a function or a ufunc of NumPy."""
    name = function.__name__
    modules = map(import_module, _MODULES.get(getattr(function, "__module__", "numpy"), ()))
    return next((getattr(module, name) for module in modules if name in module.__all__), None)


@lru_cache(512)
def _ufunc_method(ufunc: numpy.ufunc, method: str) -> Callable[..., Any] | None:
    name = ufunc.__name__
    if getattr(numpy, name, None) is not ufunc:  # a ufunc of another library
        return None
    along_axis = _METHODS.get((name, method))
    if along_axis is not None:
        return lambda x, axis=0, **options: along_axis(x, axis, **options)
    function = _counterpart(ufunc)
    if method == "outer" and function is not None:
        return lambda x, y, **options: function(given(x)[(..., *[None] * numpy.ndim(y))], y, **options)
    return function if method == "__call__" else None


def _is_array_type(cls: type) -> bool:
    return adapter_of(cls) is not None and not is_wrapper(cls)


def _is_operand(x: Any) -> bool:
    return x is None or isinstance(x, (list, tuple)) or is_scalar(x) or _is_array_type(type(x))


def _on_device(x: Array, arguments: tuple[Any, ...]) -> list[Any]:
    """The arguments, with NumPy's arrays without axes on the device of `x`. Dask and xarray make them of scalars."""
    return [
        creation.asarray(each, device=x.device) if isinstance(each, numpy.ndarray) and not each.ndim else each
        for each in arguments
    ]


def _without_neutral(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _NEUTRAL or value not in _NEUTRAL[name]}
