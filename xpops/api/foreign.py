"""Arrays of any framework as xpops arrays: the arguments of a call, and a decorator for functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, overload

from xpops.api.signatures import Function, TupleFunction
from xpops.arrays import Array, adopt_foreign
from xpops.dispatch.gradients.calls import RecordedCall, makers, recorder_of
from xpops.dispatch.gradients.rules import rule_of
from xpops.dispatch.steady import known_array
from xpops.frameworks.registry import adapter_of

P = ParamSpec("P")


def adopt_all(arrays: tuple[Any, ...], function: str) -> list[Array]:
    """What `adopt_foreign` returns for each of a function's arguments ``*arrays``."""
    found: list[Any] = list(map(known_array, arrays))
    for i, x in enumerate(found):
        if x is None:
            found[i] = adopt_foreign(arrays[i], function, f"arrays[{i}]")
    return found


@overload
def keeps_framework(function: Callable[Concatenate[Any, P], Array]) -> Function[P]: ...
@overload
def keeps_framework(function: Callable[Concatenate[Any, P], tuple[Array, ...]]) -> TupleFunction[P]: ...
def keeps_framework(function: Callable[Concatenate[Any, P], Any]) -> Any:
    """Make a function whose first argument is an xpops array accept an array of any framework.

    The result, or each result in a tuple, is converted to an array of that framework, which shares its memory.

    A framework records the gradient if the function is `differentiable`.
    """
    rule = rule_of(function, ())

    @wraps(function)
    def call(x: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        if isinstance(x, Array):
            return function(x, *args, **kwargs)
        recorder = recorder_of((x,))
        if recorder is not None and (rule is not None or recorder.is_traced(x)):
            _require_no_gradient_by(function.__name__, (*args, *kwargs.values()))
            return recorder.record(_recorded(call, args, kwargs), (x,))
        result = function(adopt_foreign(x, function.__name__, "x"), *args, **kwargs)
        adapter = adapter_of(type(x))
        if adapter is None:
            return result
        return tuple(map(adapter.export, result)) if isinstance(result, tuple) else adapter.export(result)

    return call


def _recorded(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> RecordedCall:
    """The call of a function that keeps the framework, with its derivatives."""
    given = signature(function).bind(None, *args, **kwargs)
    given.apply_defaults()
    return RecordedCall(
        function.__name__,
        ("x",),
        given.arguments,
        rule_of(function, ()),
        lambda x: function(x, *args, **kwargs),
        ("function", function, args, kwargs),
    )


makers["function"] = _recorded


def _require_no_gradient_by(function: str, settings: tuple[Any, ...]) -> None:
    """Refuse settings that need a gradient or are traced: the call reads their values."""
    if recorder_of(settings) is not None:
        raise TypeError(
            f"{function}: an argument after x needs a gradient or is traced, and the call reads its values; "
            "accepted: its detach(), or an array with values"
        )
