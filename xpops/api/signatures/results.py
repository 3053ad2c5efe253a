"""Results with named parts, and types of the functions that return them."""

# The last overloads accept operands of any framework; the earlier ones give a more exact type for some frameworks.
# mypy: disable-error-code="overload-overlap"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Generic, NamedTuple, ParamSpec, Protocol, TypeVar, cast, overload

from xpops.api.signatures.frameworks import Jax, Named, NumPy, R, Torch
from xpops.arrays import Array
from xpops.core.operands import Producer

A = TypeVar("A")
P = ParamSpec("P")


class EigResult(NamedTuple, Generic[A]):
    """The result of `eig`; each part is an array of the operand's framework."""

    eigenvalues: A
    eigenvectors: A


class _EigResultFunction(Named, Protocol[P]):
    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> EigResult[NumPy]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> EigResult[Array]: ...
    @overload
    def __call__(self, x: Torch[R] | Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> EigResult[R]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> EigResult[Array]: ...


class EighResult(NamedTuple, Generic[A]):
    """The result of `eigh`; each part is an array of the operand's framework."""

    eigenvalues: A
    eigenvectors: A


class _EighResultFunction(Named, Protocol[P]):
    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> EighResult[NumPy]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> EighResult[Array]: ...
    @overload
    def __call__(self, x: Torch[R] | Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> EighResult[R]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> EighResult[Array]: ...


class QRResult(NamedTuple, Generic[A]):
    """The result of `qr`; each part is an array of the operand's framework."""

    Q: A
    R: A


class _QRResultFunction(Named, Protocol[P]):
    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> QRResult[NumPy]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> QRResult[Array]: ...
    @overload
    def __call__(self, x: Torch[R] | Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> QRResult[R]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> QRResult[Array]: ...


class SlogdetResult(NamedTuple, Generic[A]):
    """The result of `slogdet`; each part is an array of the operand's framework."""

    sign: A
    logabsdet: A


class _SlogdetResultFunction(Named, Protocol[P]):
    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> SlogdetResult[NumPy]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> SlogdetResult[Array]: ...
    @overload
    def __call__(self, x: Torch[R] | Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> SlogdetResult[R]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> SlogdetResult[Array]: ...


class SVDResult(NamedTuple, Generic[A]):
    """The result of `svd`; each part is an array of the operand's framework."""

    U: A
    S: A
    Vh: A


class _SVDResultFunction(Named, Protocol[P]):
    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> SVDResult[NumPy]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> SVDResult[Array]: ...
    @overload
    def __call__(self, x: Torch[R] | Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> SVDResult[R]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> SVDResult[Array]: ...


class TopK(NamedTuple, Generic[A]):
    """The result of `topk`; each part is an array of the operand's framework."""

    values: A
    indices: A


class _TopKFunction(Named, Protocol[P]):
    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> TopK[NumPy]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> TopK[Array]: ...
    @overload
    def __call__(self, x: Torch[R] | Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> TopK[R]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> TopK[Array]: ...


class UniqueAll(NamedTuple, Generic[A]):
    """The result of `unique_all`; each part is an array of the operand's framework."""

    values: A
    indices: A
    inverse_indices: A
    counts: A


class _UniqueAllFunction(Named, Protocol[P]):
    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> UniqueAll[NumPy]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> UniqueAll[Array]: ...
    @overload
    def __call__(self, x: Torch[R] | Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> UniqueAll[R]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> UniqueAll[Array]: ...


class UniqueCounts(NamedTuple, Generic[A]):
    """The result of `unique_counts`; each part is an array of the operand's framework."""

    values: A
    counts: A


class _UniqueCountsFunction(Named, Protocol[P]):
    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> UniqueCounts[NumPy]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> UniqueCounts[Array]: ...
    @overload
    def __call__(self, x: Torch[R] | Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> UniqueCounts[R]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> UniqueCounts[Array]: ...


class UniqueInverse(NamedTuple, Generic[A]):
    """The result of `unique_inverse`; each part is an array of the operand's framework."""

    values: A
    inverse_indices: A


class _UniqueInverseFunction(Named, Protocol[P]):
    @overload
    def __call__(self, x: NumPy, /, *args: P.args, **kwargs: P.kwargs) -> UniqueInverse[NumPy]: ...
    @overload
    def __call__(self, x: Array, /, *args: P.args, **kwargs: P.kwargs) -> UniqueInverse[Array]: ...
    @overload
    def __call__(self, x: Torch[R] | Jax[R], /, *args: P.args, **kwargs: P.kwargs) -> UniqueInverse[R]: ...
    @overload
    def __call__(self, x: Producer, /, *args: P.args, **kwargs: P.kwargs) -> UniqueInverse[Array]: ...


# Each function returns its argument unchanged.


def eig_function(function: Callable[Concatenate[Any, P], EigResult[Any]]) -> _EigResultFunction[P]:
    return cast("_EigResultFunction[P]", function)


def eigh_function(function: Callable[Concatenate[Any, P], EighResult[Any]]) -> _EighResultFunction[P]:
    return cast("_EighResultFunction[P]", function)


def qr_function(function: Callable[Concatenate[Any, P], QRResult[Any]]) -> _QRResultFunction[P]:
    return cast("_QRResultFunction[P]", function)


def slogdet_function(function: Callable[Concatenate[Any, P], SlogdetResult[Any]]) -> _SlogdetResultFunction[P]:
    return cast("_SlogdetResultFunction[P]", function)


def svd_function(function: Callable[Concatenate[Any, P], SVDResult[Any]]) -> _SVDResultFunction[P]:
    return cast("_SVDResultFunction[P]", function)


def topk_function(function: Callable[Concatenate[Any, P], TopK[Any]]) -> _TopKFunction[P]:
    return cast("_TopKFunction[P]", function)


def unique_all_function(function: Callable[Concatenate[Any, P], UniqueAll[Any]]) -> _UniqueAllFunction[P]:
    return cast("_UniqueAllFunction[P]", function)


def unique_counts_function(function: Callable[Concatenate[Any, P], UniqueCounts[Any]]) -> _UniqueCountsFunction[P]:
    return cast("_UniqueCountsFunction[P]", function)


def unique_inverse_function(function: Callable[Concatenate[Any, P], UniqueInverse[Any]]) -> _UniqueInverseFunction[P]:
    return cast("_UniqueInverseFunction[P]", function)
