"""A decorator for functions of xpops arrays that then accept and return arrays of any framework."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, overload

from xpops.api.signatures import Function, TupleFunction
from xpops.arrays import Array, adopt_foreign
from xpops.frameworks.registry import adapter_of

P = ParamSpec("P")


@overload
def keeps_framework(function: Callable[Concatenate[Any, P], Array]) -> Function[P]: ...
@overload
def keeps_framework(function: Callable[Concatenate[Any, P], tuple[Array, ...]]) -> TupleFunction[P]: ...
def keeps_framework(function: Callable[Concatenate[Any, P], Any]) -> Any:
    """Make a function whose first argument is an xpops array accept an array of any framework.

    The result, or each result in a tuple, is converted to an array of that framework, which shares its memory.
    """

    @wraps(function)
    def call(x: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        if isinstance(x, Array):
            return function(x, *args, **kwargs)
        result = function(adopt_foreign(x, function.__name__, "x"), *args, **kwargs)
        adapter = adapter_of(type(x))
        if adapter is None:
            return result
        return tuple(map(adapter.export, result)) if isinstance(result, tuple) else adapter.export(result)

    return call
