"""Traced scalars: scalar arguments of a fused function, and arithmetic with them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch.fusion.recorder import Recorder


class NotFusable(TypeError, AttributeError):
    """An argument of a fused function lacks an attribute. Also an AttributeError, so that ``hasattr`` works."""


class TracedScalar:
    """A scalar argument, or arithmetic of scalars, which the host computes anew in every call."""

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, trace: Recorder, kind: type, evaluate: Callable[..., Any], number: int | None = None) -> None:
        self.trace, self.kind, self.evaluate, self._number = trace, kind, evaluate, number

    @property
    def place(self) -> int:
        """The number of the input that holds the scalar; adds the input if there is none yet."""
        if self._number is None:
            self._number = self.trace.derive(self.kind, self.evaluate)
        return self._number

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(f"{self.trace.function}: the value of a scalar argument is known only when it runs; accepted: "
                        "arithmetic, or a constant of the function")  # fmt: skip

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __iter__ = _refuse
    __round__ = __floor__ = __ceil__ = __trunc__ = __divmod__ = __rdivmod__ = _refuse

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotFusable(
            f"{self.trace.function}: {name} of a scalar argument cannot be fused; accepted: arithmetic, real, imag and "
            "conjugate()"
        )

    def __repr__(self) -> str:
        return f"a scalar argument ({self.kind.__name__})"


def _of_one(function: Callable[..., Any]) -> Callable[[TracedScalar], TracedScalar]:
    def method(self: TracedScalar) -> TracedScalar:
        made = type(function(self.kind(1)))
        return TracedScalar(self.trace, made, lambda *values: function(self.evaluate(*values)))

    return method


def _of_two(function: Callable[..., Any], reflected: bool) -> Callable[..., Any]:
    def method(self: TracedScalar, other: Any) -> Any:
        if isinstance(other, TracedScalar):
            evaluate, others = other.evaluate, other.kind
        else:
            value = other.item() if isinstance(other, np.generic) else other
            kind = next((kind for kind in SCALAR_TYPES if isinstance(value, kind)), None)
            if kind is None:
                return NotImplemented
            constant = kind(value)
            evaluate, others = (lambda *values: constant), kind
        pair = (evaluate, self.evaluate) if reflected else (self.evaluate, evaluate)
        kinds = (others, self.kind) if reflected else (self.kind, others)
        made = type(function(*(kind(1) for kind in kinds)))
        return TracedScalar(self.trace, made, lambda *values: function(pair[0](*values), pair[1](*values)))

    return method


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
_PARTS = (
    ("real", property(_of_one(operator.attrgetter("real")))),
    ("imag", property(_of_one(operator.attrgetter("imag")))),
    ("conjugate", _of_one(operator.methodcaller("conjugate"))),
)
for _name, _part in _PARTS:
    setattr(TracedScalar, _name, _part)
for _short in ("neg", "pos", "abs", "invert"):
    setattr(TracedScalar, f"__{_short}__", _of_one(getattr(operator, f"__{_short}__")))
for _short in _BINARY:
    setattr(TracedScalar, f"__{_short}__", _of_two(getattr(operator, f"__{_short}__"), False))
    setattr(TracedScalar, f"__r{_short}__", _of_two(getattr(operator, f"__{_short}__"), True))
for _short in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(TracedScalar, f"__{_short}__", _of_two(getattr(operator, f"__{_short}__"), False))
