"""Python's operators as methods, each made from the operator's row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from xpops.core.errors import describe
from xpops.core.operands import Producer, Scalar
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch import Tensor, binary, launches, unary
from xpops.dispatch.primitives import call
from xpops.dispatch.products import NAMES, product
from xpops.frameworks.registry import adapter_of, is_wrapper
from xpops.ops.elementwise import IDENTITY, OPERATORS

T = TypeVar("T")


class _Unary(Protocol):
    """A method of one operand. It returns an array of the operand's class."""

    def __get__(self, x: T, owner: type[T] | None = None, /) -> Callable[[], T]: ...


class _Binary(Protocol):
    """A method of two operands. It returns an array of the first operand's class."""

    def __get__(self, x: T, owner: type[T] | None = None, /) -> Callable[[Producer | Scalar], T]: ...


def _is_operand(x: Any, name: str) -> bool:
    """Whether an operator takes `x`. If not, Python tries the method of `x`, such as that of a wrapper.

    TypeError for lists and tuples: their own methods would repeat them, or compare identities.
    """
    if isinstance(x, (list, tuple)):
        raise TypeError(f"{name}: an operand is {describe(x)}; accepted: arrays and Python scalars, so use asarray")
    if isinstance(x, (Tensor, *SCALAR_TYPES, np.generic)):
        return True
    return adapter_of(type(x)) is not None and not is_wrapper(type(x))


def _unary(name: str) -> _Unary:
    op = OPERATORS[name]

    def method(self: Tensor) -> Any:
        return unary(op, self)

    return cast(_Unary, method)


def _forward(name: str) -> _Binary:
    """The method for ``x + y``. If y is no operand, it returns NotImplemented, so that Python tries the method of y."""
    op = OPERATORS[name]
    find = launches.get

    def method(self: Tensor, other: Any) -> Any:
        # The same look-up as in `binary`: a call of `binary` would cost more than the look-up.
        if other.__class__ is self.__class__:
            launch = find((op, self._layout, other._layout))
            if launch is not None:
                return launch(self._data, other._data)
        return binary(op, self, other) if _is_operand(other, name) else NotImplemented

    return cast(_Binary, method)


def _operators(name: str) -> tuple[_Binary, _Binary, _Binary]:
    """The methods for ``x + y``, for ``y + x`` if the method of y returns NotImplemented, and for ``x += y``."""
    op = OPERATORS[name]

    def reflected(self: Tensor, other: Any) -> Any:
        return binary(op, other, self) if _is_operand(other, name) else NotImplemented

    def in_place(self: Tensor, other: Any) -> Any:
        return binary(op, self, other, self) if _is_operand(other, name) else NotImplemented

    return _forward(name), cast(_Binary, reflected), cast(_Binary, in_place)


def _matmul(self: Tensor, other: Any) -> Any:
    return call(product, "matmul", NAMES, (self, other), False) if _is_operand(other, "matmul") else NotImplemented


def _reflected_matmul(self: Tensor, other: Any) -> Any:
    return call(product, "matmul", NAMES, (other, self), False) if _is_operand(other, "matmul") else NotImplemented


def _matmul_in_place(self: Tensor, other: Any) -> Any:
    result = _matmul(self, other)
    if result is NotImplemented:
        return result
    if result._layout.shape != self._layout.shape or result._layout.dtype != self._layout.dtype:
        raise ValueError(
            f"matmul: the array has shape {self._layout.shape} and dtype {self._layout.dtype}, the product "
            f"{result._layout.shape} and {result._layout.dtype}; accepted: in place, products like the array"
        )
    return unary(IDENTITY, result, self)


class Operators(Tensor):
    """A tensor with Python's operators.

    In place, the result must have the array's shape and the same kind of dtype; for ``@=``, the same dtype.
    """

    __slots__ = ()
    __add__, __radd__, __iadd__ = _operators("add")
    __sub__, __rsub__, __isub__ = _operators("subtract")
    __mul__, __rmul__, __imul__ = _operators("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _operators("divide")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _operators("floor_divide")
    __mod__, __rmod__, __imod__ = _operators("remainder")
    __pow__, __rpow__, __ipow__ = _operators("pow")
    __and__, __rand__, __iand__ = _operators("bitwise_and")
    __or__, __ror__, __ior__ = _operators("bitwise_or")
    __xor__, __rxor__, __ixor__ = _operators("bitwise_xor")
    __lshift__, __rlshift__, __ilshift__ = _operators("bitwise_left_shift")
    __rshift__, __rrshift__, __irshift__ = _operators("bitwise_right_shift")
    __matmul__, __rmatmul__ = cast(_Binary, _matmul), cast(_Binary, _reflected_matmul)
    __imatmul__ = cast(_Binary, _matmul_in_place)
    # These compare elements; the methods of `object` compare identities.
    __eq__: _Binary = _forward("equal")  # type: ignore[assignment]
    __ne__: _Binary = _forward("not_equal")  # type: ignore[assignment]
    __lt__ = _forward("less")
    __le__ = _forward("less_equal")
    __gt__ = _forward("greater")
    __ge__ = _forward("greater_equal")
    __abs__ = _unary("abs")
    __neg__ = _unary("negative")
    __pos__ = _unary("positive")
    __invert__ = _unary("bitwise_invert")
    __hash__ = None  # type: ignore[assignment]  # arrays are mutable and compare by element
