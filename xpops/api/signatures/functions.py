"""Types of functions of arrays and parameters."""

# The last overloads accept operands of any framework; the earlier ones give a more exact type for some frameworks.
# mypy: disable-error-code="overload-overlap"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Never, ParamSpec, Protocol, TypeVar, cast, overload

from xpops.api.signatures.frameworks import Jax, Named, NumPy, R, Torch
from xpops.arrays import Array
from xpops.core.operands import Producer, Scalar

P = ParamSpec("P")
S = TypeVar("S", contravariant=True)


class FusedFunction(Named, Protocol[P, R]):
    """A fused function. It has the parameters and the results of the function from which it was made."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The results."""

    def source(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """The C++ of the kernels that compute them."""


class Contraction(Named, Protocol):
    """A function of a string and any number of arrays."""

    @overload
    def __call__(self, subscripts: str, /, *operands: NumPy) -> NumPy: ...
    @overload
    def __call__(self, subscripts: str, /, *operands: Array) -> Array: ...
    @overload
    def __call__(self, subscripts: str, /, *operands: Torch[R]) -> R: ...
    @overload
    def __call__(self, subscripts: str, /, *operands: Jax[R]) -> R: ...
    @overload
    def __call__(self, subscripts: str, /, *operands: Producer) -> Array: ...


class Function(Named, Protocol[P]):
    """A function of one array and parameters."""

    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...
    @overload
    def __call__(self, x: Torch[R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x: Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...


class TupleFunction(Named, Protocol[P]):
    """A function of one array and parameters, with several results."""

    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> tuple[NumPy, ...]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> tuple[Array, ...]: ...
    @overload
    def __call__(self, x: Torch[R], /, *args: P.args, **kwargs: P.kwargs) -> tuple[R, ...]: ...
    @overload
    def __call__(self, x: Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> tuple[R, ...]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> tuple[Array, ...]: ...


class BinaryFunction(Named, Protocol[S, P]):
    """A function of two arrays and parameters. The second operand may also be an `S`: Scalar, or Never for none."""

    @overload
    def __call__(self, x1: NumPy, x2: NumPy | S, /, *args: P.args, **kwargs: P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, x1: Array, x2: Producer | S, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...
    @overload
    def __call__(self, x1: Torch[R], x2: Torch[R] | S, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x1: Jax[R], x2: Jax[R] | S, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x1: Producer, x2: Producer | S, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...


class TernaryFunction(Named, Protocol[P]):
    """A function of three arrays and parameters."""

    @overload
    def __call__(self, x1: NumPy, x2: NumPy, x3: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, x1: Array, x2: Producer, x3: Producer, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...
    @overload
    def __call__(self, x1: Torch[R], x2: Torch[R], x3: Torch[R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x1: Jax[R], x2: Jax[R], x3: Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, x1: Producer, x2: Producer, x3: Producer, /, *args: P.args, **kwargs: P.kwargs) -> Array: ...


class SequenceFunction(Named, Protocol[P]):
    """A function of a list or tuple of arrays, and parameters."""

    @overload
    def __call__(self, arrays: Sequence[NumPy], /, *args: P.args, **kwargs: P.kwargs) -> NumPy: ...
    @overload
    def __call__(self, arrays: Sequence[Array], /, *args: P.args, **kwargs: P.kwargs) -> Array: ...
    @overload
    def __call__(self, arrays: Sequence[Torch[R]], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, arrays: Sequence[Jax[R]], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, arrays: Sequence[Producer], /, *args: P.args, **kwargs: P.kwargs) -> Array: ...


def contraction(function: Callable[..., Any]) -> Contraction:
    """The function itself, as a `Contraction`."""
    return cast(Contraction, function)


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
