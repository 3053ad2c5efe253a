"""Types of elementwise functions. In each class, the first overload that accepts the operands gives the type."""

# The last overloads accept operands of any framework; the earlier ones give a more exact type for some frameworks.
# mypy: disable-error-code="overload-overlap"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, cast, overload

from xpops.api.signatures.frameworks import Jax, Named, NumPy, R, Torch
from xpops.arrays import Array
from xpops.core.operands import Producer, Scalar

Out = TypeVar("Out", bound=Producer)


class UnaryOperator(Named, Protocol):
    """An elementwise function of one array. The result has the type of `x`, or of `out`."""

    @overload
    def __call__(self, x: NumPy, /, *, out: None = None) -> NumPy: ...
    @overload
    def __call__(self, x: Array, /, *, out: None = None) -> Array: ...
    @overload
    def __call__(self, x: Torch[R], /, *, out: None = None) -> R: ...
    @overload
    def __call__(self, x: Jax[R], /, *, out: None = None) -> R: ...
    @overload
    def __call__(self, x: Producer, /, *, out: None = None) -> Array: ...
    @overload
    def __call__(self, x: Producer, /, *, out: Out) -> Out: ...


class BinaryOperator(Named, Protocol):
    """An elementwise function of two operands, of which at most one is a scalar.

    The result has the type that both arrays share, else `Array`; with `out`, the type of `out`.
    """

    @overload
    def __call__(self, x1: NumPy, x2: NumPy | Scalar, /, *, out: None = None) -> NumPy: ...
    @overload
    def __call__(self, x1: Scalar, x2: NumPy, /, *, out: None = None) -> NumPy: ...
    @overload
    def __call__(self, x1: Array, x2: Producer | Scalar, /, *, out: None = None) -> Array: ...
    @overload
    def __call__(self, x1: Scalar, x2: Array, /, *, out: None = None) -> Array: ...
    @overload
    def __call__(self, x1: Torch[R], x2: Torch[R] | Scalar, /, *, out: None = None) -> R: ...
    @overload
    def __call__(self, x1: Scalar, x2: Torch[R], /, *, out: None = None) -> R: ...
    @overload
    def __call__(self, x1: Jax[R], x2: Jax[R] | Scalar, /, *, out: None = None) -> R: ...
    @overload
    def __call__(self, x1: Scalar, x2: Jax[R], /, *, out: None = None) -> R: ...
    @overload
    def __call__(self, x1: Producer, x2: Producer | Scalar, /, *, out: None = None) -> Array: ...
    @overload
    def __call__(self, x1: Scalar, x2: Producer, /, *, out: None = None) -> Array: ...
    @overload
    def __call__(self, x1: Producer, x2: Producer | Scalar, /, *, out: Out) -> Out: ...
    @overload
    def __call__(self, x1: Scalar, x2: Producer, /, *, out: Out) -> Out: ...


class TernaryOperator(Named, Protocol):
    """An elementwise function of three operands. At most two of them are scalars.

    The result has the type that all arrays share, else `Array`; with `out`, the type of `out`. If the first operand is
    a scalar, the type is not known.
    """

    @overload
    def __call__(self, x1: NumPy, x2: NumPy | Scalar, x3: NumPy | Scalar, /, *, out: None = None) -> NumPy: ...
    @overload
    def __call__(self, x1: Array, x2: Producer | Scalar, x3: Producer | Scalar, /, *, out: None = None) -> Array: ...
    @overload
    def __call__(self, x1: Torch[R], x2: Torch[R] | Scalar, x3: Torch[R] | Scalar, /, *, out: None = None) -> R: ...
    @overload
    def __call__(self, x1: Jax[R], x2: Jax[R] | Scalar, x3: Jax[R] | Scalar, /, *, out: None = None) -> R: ...
    @overload
    def __call__(self, x1: Producer, x2: Producer | Scalar, x3: Producer | Scalar, /, *, out: None = None) -> Array: ...
    @overload
    def __call__(self, x1: Scalar, x2: Producer | Scalar, x3: Producer | Scalar, /, *, out: None = None) -> Any: ...
    @overload
    def __call__(self, x1: Producer | Scalar, x2: Producer | Scalar, x3: Producer | Scalar, /, *, out: Out) -> Out: ...


class ChoiceOperator(Named, Protocol):
    """An elementwise function that chooses between two operands by a condition. At least one of the three is an array.

    The result has the type that all arrays share, else `Array`; with `out`, the type of `out`. If the condition is a
    Python bool, the type is not known. Of a condition alone, the indices where it is True have its type.
    """

    @overload
    def __call__(self, condition: NumPy, /) -> tuple[NumPy, ...]: ...
    @overload
    def __call__(self, condition: Array, /) -> tuple[Array, ...]: ...
    @overload
    def __call__(self, condition: Torch[R], /) -> tuple[R, ...]: ...
    @overload
    def __call__(self, condition: Jax[R], /) -> tuple[R, ...]: ...
    @overload
    def __call__(self, condition: Producer, /) -> tuple[Array, ...]: ...

    @overload
    def __call__(self, condition: NumPy, x1: NumPy | Scalar, x2: NumPy | Scalar, /, *, out: None = None) -> NumPy: ...
    @overload
    def __call__(
        self, condition: Array, x1: Producer | Scalar, x2: Producer | Scalar, /, *, out: None = None
    ) -> Array: ...
    @overload
    def __call__(
        self, condition: Torch[R], x1: Torch[R] | Scalar, x2: Torch[R] | Scalar, /, *, out: None = None
    ) -> R: ...
    @overload
    def __call__(self, condition: Jax[R], x1: Jax[R] | Scalar, x2: Jax[R] | Scalar, /, *, out: None = None) -> R: ...
    @overload
    def __call__(
        self, condition: Producer, x1: Producer | Scalar, x2: Producer | Scalar, /, *, out: None = None
    ) -> Array: ...
    @overload
    def __call__(self, condition: bool, x1: Any, x2: Any, /, *, out: None = None) -> Any: ...
    @overload
    def __call__(
        self, condition: Producer | bool, x1: Producer | Scalar, x2: Producer | Scalar, /, *, out: Out
    ) -> Out: ...


class ClipOperator(Named, Protocol):
    """An elementwise function of an array and two bounds. A bound may be None.

    The result has the type that all arrays share, else `Array`; with `out`, the type of `out`.
    """

    @overload
    def __call__(
        self,
        x: NumPy,
        /,
        min: NumPy | Scalar | None = None,
        max: NumPy | Scalar | None = None,
        *,
        out: None = None,
    ) -> NumPy: ...
    @overload
    def __call__(
        self,
        x: Array,
        /,
        min: Producer | Scalar | None = None,
        max: Producer | Scalar | None = None,
        *,
        out: None = None,
    ) -> Array: ...
    @overload
    def __call__(
        self,
        x: Torch[R],
        /,
        min: Torch[R] | Scalar | None = None,
        max: Torch[R] | Scalar | None = None,
        *,
        out: None = None,
    ) -> R: ...
    @overload
    def __call__(
        self, x: Jax[R], /, min: Jax[R] | Scalar | None = None, max: Jax[R] | Scalar | None = None, *, out: None = None
    ) -> R: ...
    @overload
    def __call__(
        self,
        x: Producer,
        /,
        min: Producer | Scalar | None = None,
        max: Producer | Scalar | None = None,
        *,
        out: None = None,
    ) -> Array: ...
    @overload
    def __call__(
        self, x: Producer, /, min: Producer | Scalar | None = None, max: Producer | Scalar | None = None, *, out: Out
    ) -> Out: ...


def unary_operator(function: Callable[..., Any]) -> UnaryOperator:
    """The function itself, as a `UnaryOperator`."""
    return cast(UnaryOperator, function)


def binary_operator(function: Callable[..., Any]) -> BinaryOperator:
    """The function itself, as a `BinaryOperator`."""
    return cast(BinaryOperator, function)


def ternary_operator(function: Callable[..., Any]) -> TernaryOperator:
    """The function itself, as a `TernaryOperator`."""
    return cast(TernaryOperator, function)


def choice_operator(function: Callable[..., Any]) -> ChoiceOperator:
    """The function itself, as a `ChoiceOperator`."""
    return cast(ChoiceOperator, function)


def clip_operator(function: Callable[..., Any]) -> ClipOperator:
    """The function itself, as a `ClipOperator`."""
    return cast(ClipOperator, function)
