"""Types of functions whose results are arrays of their operands' framework, for type checkers.

A decorator here returns its function as it is. What it changes is the type that mypy and pyright see: overloads by
framework. Operands of one framework give an array of that framework; operands of several give an `Array`; a result
written to `out` is `out`. Torch and JAX are recognised by protocols, so that neither needs to be installed.
"""

# The last overloads take operands of any frameworks; the earlier ones say more about some of them.
# mypy: disable-error-code="overload-overlap"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Never, ParamSpec, Protocol, TypeVar, cast, overload

from xpops.arrays import Array
from xpops.arrays.host import NDArray
from xpops.core.operands import Producer, Scalar

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
S = TypeVar("S", contravariant=True)
Out = TypeVar("Out", bound=Producer)


class Torch(Protocol[R]):
    """torch.Tensor, or a subclass such as Parameter: `R` is torch.Tensor for either."""

    def detach(self) -> R:
        """A view without gradients."""


class Jax(Protocol[R]):
    """jax.Array, which is `R`."""

    def block_until_ready(self) -> R:
        """The array, once it is computed."""


class _Named(Protocol):
    __name__: str


class UnaryOperator(_Named, Protocol):
    """An elementwise function of one array."""

    @overload
    def __call__(self, x: NDArray, /, *, out: None = None) -> NDArray: ...
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


class BinaryOperator(_Named, Protocol):
    """An elementwise function of two operands, one of which may be a scalar."""

    @overload
    def __call__(self, x1: NDArray, x2: NDArray | Scalar, /, *, out: None = None) -> NDArray: ...
    @overload
    def __call__(self, x1: Scalar, x2: NDArray, /, *, out: None = None) -> NDArray: ...
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


class Function(_Named, Protocol[P]):
    """A function of one array and parameters."""

    @overload
    def __call__(self, x: NDArray, /, *args: P.args, **kwargs: P.kwargs) -> NDArray: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...
    @overload
    def __call__(self, x: Torch[R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x: Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...


class TupleFunction(_Named, Protocol[P]):
    """A function of one array and parameters, with several results."""

    @overload
    def __call__(self, x: NDArray, /, *args: P.args, **kwargs: P.kwargs) -> tuple[NDArray, ...]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> tuple[Array, ...]: ...
    @overload
    def __call__(self, x: Torch[R], /, *args: P.args, **kwargs: P.kwargs) -> tuple[R, ...]: ...
    @overload
    def __call__(self, x: Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> tuple[R, ...]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> tuple[Array, ...]: ...


class BinaryFunction(_Named, Protocol[S, P]):
    """A function of two arrays and parameters. The second operand may be an `S` instead: Scalar, or Never."""

    @overload
    def __call__(self, x1: NDArray, x2: NDArray | S, /, *args: P.args, **kwargs: P.kwargs) -> NDArray: ...
    @overload
    def __call__(self, x1: Array, x2: Producer | S, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...
    @overload
    def __call__(self, x1: Torch[R], x2: Torch[R] | S, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x1: Jax[R], x2: Jax[R] | S, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x1: Producer, x2: Producer | S, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...


class TernaryFunction(_Named, Protocol[P]):
    """A function of three arrays and parameters."""

    @overload
    def __call__(self, x1: NDArray, x2: NDArray, x3: NDArray, /, *args: P.args, **kwargs: P.kwargs) -> NDArray: ...
    @overload
    def __call__(self, x1: Array, x2: Producer, x3: Producer, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...
    @overload
    def __call__(self, x1: Torch[R], x2: Torch[R], x3: Torch[R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x1: Jax[R], x2: Jax[R], x3: Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x1: Producer, x2: Producer, x3: Producer, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...


class SequenceFunction(_Named, Protocol[P]):
    """A function of a list or tuple of arrays, and parameters."""

    @overload
    def __call__(self, arrays: Sequence[NDArray], /, *args: P.args, **kwargs: P.kwargs) -> NDArray: ...
    @overload
    def __call__(self, arrays: Sequence[Array], /, *args: P.args, **kwargs: P.kwargs) -> Array: ...
    @overload
    def __call__(self, arrays: Sequence[Torch[R]], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, arrays: Sequence[Jax[R]], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, arrays: Sequence[Producer], /, *args: P.args, **kwargs: P.kwargs) -> Array: ...


def unary_operator(function: Callable[..., Any]) -> UnaryOperator:
    """The function itself, as a `UnaryOperator`."""
    return cast(UnaryOperator, function)


def binary_operator(function: Callable[..., Any]) -> BinaryOperator:
    """The function itself, as a `BinaryOperator`."""
    return cast(BinaryOperator, function)


def array_function(function: Callable[Concatenate[Any, P], Any]) -> Function[P]:
    """The function itself, as a `Function`."""
    return cast("Function[P]", function)


def tuple_function(function: Callable[Concatenate[Any, P], tuple[Any, ...]]) -> TupleFunction[P]:
    """The function itself, as a `TupleFunction`."""
    return cast("TupleFunction[P]", function)


def binary_function(function: Callable[Concatenate[Any, Any, P], Any]) -> BinaryFunction[Never, P]:
    """The function itself, as a `BinaryFunction` of two arrays."""
    return cast("BinaryFunction[Never, P]", function)


def scalar_function(function: Callable[Concatenate[Any, Any, P], Any]) -> BinaryFunction[Scalar, P]:
    """The function itself, as a `BinaryFunction` whose second operand may be a scalar."""
    return cast("BinaryFunction[Scalar, P]", function)


def ternary_function(function: Callable[Concatenate[Any, Any, Any, P], Any]) -> TernaryFunction[P]:
    """The function itself, as a `TernaryFunction`."""
    return cast("TernaryFunction[P]", function)


def sequence_function(function: Callable[Concatenate[Any, P], Any]) -> SequenceFunction[P]:
    """The function itself, as a `SequenceFunction`."""
    return cast("SequenceFunction[P]", function)
