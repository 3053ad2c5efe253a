"""Traced arrays, the arguments of a fused function: they record the calls on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from xpops.core.layouts import Layout
from xpops.dispatch.fusion.recorder import Recorder
from xpops.dispatch.fusion.traced_scalars import NotFusable, TracedScalar
from xpops.ops.elementwise import OPERATORS

ACCEPTED = "accepted in a fused function: elementwise functions, operators and reductions of its arguments"


class Traced:
    """A traced array in a fused function. It has a dtype and a shape, but no elements."""

    __array_ufunc__ = None

    def __init__(self, trace: Recorder, layout: Layout, place: int) -> None:
        self.trace, self.place = trace, place
        self.dtype, self.shape, self.ndim, self.size = layout.dtype, layout.shape, layout.ndim, layout.size
        self.device = trace.device

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotFusable(f"{self.trace.function}: {name} cannot be fused; {ACCEPTED}")

    def _in_place(self, other: object) -> NoReturn:
        raise TypeError(f"{self.trace.function}: operators in place cannot be fused; accepted: x = x + y")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _in_place
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = _in_place

    def __bool__(self) -> bool:
        raise TypeError(f"{self.trace.function}: a branch on elements cannot be fused; accepted: where")

    def __iter__(self) -> NoReturn:
        raise TypeError(f"{self.trace.function}: iteration cannot be fused; {ACCEPTED}")

    def __getitem__(self, key: object) -> NoReturn:
        raise TypeError(f"{self.trace.function}: indexing cannot be fused; {ACCEPTED}")

    __hash__ = None  # type: ignore[assignment]


def _binary(name: str, reflected: bool) -> Callable[[Traced, Any], Traced]:
    op = OPERATORS[name]

    def method(self: Traced, other: Any) -> Traced:
        traced: Traced = self.trace.apply(op, (other, self) if reflected else (self, other))
        return traced

    return method


def _unary(name: str) -> Callable[[Traced], Traced]:
    op = OPERATORS[name]

    def method(self: Traced) -> Traced:
        traced: Traced = self.trace.apply(op, (self,))
        return traced

    return method


_BINARY = (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("floordiv", "floor_divide"),
    ("mod", "remainder"), ("pow", "pow"), ("and", "bitwise_and"), ("or", "bitwise_or"), ("xor", "bitwise_xor"),
    ("lshift", "bitwise_left_shift"), ("rshift", "bitwise_right_shift"),
)  # fmt: skip
_COMPARISONS = (
    ("eq", "equal"), ("ne", "not_equal"), ("lt", "less"), ("le", "less_equal"), ("gt", "greater"),
    ("ge", "greater_equal"),
)  # fmt: skip
_UNARY = (("abs", "abs"), ("neg", "negative"), ("pos", "positive"), ("invert", "bitwise_invert"))
for _short, _name in _BINARY:
    setattr(Traced, f"__{_short}__", _binary(_name, False))
    setattr(Traced, f"__r{_short}__", _binary(_name, True))
for _short, _name in _COMPARISONS:
    setattr(Traced, f"__{_short}__", _binary(_name, False))
for _short, _name in _UNARY:
    setattr(Traced, f"__{_short}__", _unary(_name))


def require_no_trace(x: object, function: str) -> None:
    """TypeError if `x` is a traced value. For functions that cannot be fused."""
    if isinstance(x, (Traced, TracedScalar)):
        raise TypeError(f"{x.trace.function}: {function} cannot be fused; {ACCEPTED}")
