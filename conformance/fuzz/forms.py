"""Forms of calls: a function, the kinds of its operands and its parameters. Kernels are made for forms."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from random import Random
from typing import Any

import numpy as np

import xpops as xp
from conformance.fuzz.errors import Bound
from conformance.fuzz.values import BOOL, INT64, UNSIGNED, DType, is_float
from xpops.testing import LAYOUTS
from xpops.testing.layouts import Shape

# Edges of packs, tiles and blocks, empty and 0-d ones; the long ones are drawn seldom.
SHAPES: tuple[Shape, ...] = (
    (),
    (1,),
    (0,),
    (7,),
    (33,),
    (255,),
    (4097,),
    (5, 0, 3),
    (3, 5, 7),
    (8, 64),
    (37, 53),
    (64, 1),
    (1, 129),
    (130, 17),
    (2, 3, 4, 5),
    (4, 1, 6, 2, 3),
)
LONG_SHAPES: tuple[Shape, ...] = ((70001,), (300, 257), (3, 4099, 5))


class Spec:
    """The kind of an operand."""

    __slots__ = ("domain", "dtype", "layout", "shape")

    def __init__(self, dtype: DType, shape: Shape, layout: str = "contiguous", domain: str = "any") -> None:
        self.dtype, self.shape, self.layout, self.domain = dtype, shape, layout, domain

    def __repr__(self) -> str:
        return f"{self.dtype}{list(self.shape)}" + ("" if self.layout == "contiguous" else f" {self.layout}")


# A Python scalar is an operand as it is.
Operand = Spec | bool | int | float
Drawn = tuple[tuple[Operand, ...], dict[str, Any]]


@dataclass(frozen=True)
class Function:
    """A function of xpops, and what it should return.

    Attributes
    ----------
    name : str
        As in xpops.
    draw : callable
        Random and dtype -> operands and parameters.
    dtypes : tuple of numpy.dtype
        What it is drawn with.
    oracle : callable
        Of NumPy arrays in higher precision, and the parameters -> array or tuple of arrays.
    result : callable
        The dtypes of the operands, and the parameters -> the dtype of the result, or of all results.
    bound : Bound, optional
        The error allowed; none where the result is exact.
    positional : tuple of str
        Parameters that it takes by their places, behind the operands.
    call : callable, optional
        In place of the function of this name.
    has_out, may_view : bool
        Whether it has ``out=``; whether its result may share memory with an operand.
    gradient : {"recorded", "none", "refused"}
        What becomes of torch tensors that require grad: torch records the call, or the result does not depend on their
        values, or TypeError.
    """

    name: str
    draw: Callable[[Random, DType], Drawn]
    dtypes: tuple[DType, ...]
    oracle: Callable[..., Any]
    result: Callable[[Sequence[DType], dict[str, Any]], DType]
    bound: Bound | None = None
    positional: tuple[str, ...] = ()
    call: Callable[..., Any] | None = None
    has_out: bool = False
    may_view: bool = False
    gradient: str = "recorded"

    def __call__(self, *operands: Any, **parameters: Any) -> Any:
        call = self.call or operator.attrgetter(self.name)(xp)
        named = {name: value for name, value in parameters.items() if name not in self.positional}
        return call(*operands, *(parameters[name] for name in self.positional), **named)


@dataclass(frozen=True)
class Form:
    """A function with operands' kinds and parameters."""

    function: Function
    operands: tuple[Operand, ...]
    parameters: dict[str, Any]

    def __str__(self) -> str:
        named = [f"{name}={value!r}" for name, value in self.parameters.items()]
        return f"{self.function.name}({', '.join([*map(repr, self.operands), *named])})"

    @property
    def dtypes(self) -> tuple[DType, ...]:
        """Those of the operands that are arrays."""
        return tuple(each.dtype for each in self.operands if isinstance(each, Spec))


def draw_form(random: Random, function: Function) -> Form:
    """A form of a function."""
    operands, parameters = function.draw(random, random.choice(function.dtypes))
    return Form(function, tuple(_laid_out(random, each) for each in operands), parameters)


def vary_form(random: Random, form: Form) -> Form:
    """The form with another layout of an operand, or other dtypes, or other parameters and shapes."""
    kind = random.random()
    places = [place for place, each in enumerate(form.operands) if isinstance(each, Spec)]
    if kind < 0.5:
        operands, place = list(form.operands), random.choice(places)
        operands[place] = _laid_out(random, operands[place], 1.0)
        return replace(form, operands=tuple(operands))
    # The same draw with another dtype, or with the same one and a draw that differs.
    dtype = random.choice(form.function.dtypes) if kind < 0.8 else form.dtypes[0]
    operands_, parameters = form.function.draw(random, dtype)
    return Form(form.function, tuple(_laid_out(random, each) for each in operands_), parameters)


def _laid_out(random: Random, operand: Operand, probability: float = 0.5) -> Operand:
    if not isinstance(operand, Spec) or random.random() > probability:
        return operand
    return Spec(operand.dtype, operand.shape, random.choice(list(LAYOUTS)), operand.domain)


def draw_shape(random: Random, least: int = 0) -> Shape:
    """A shape of at least so many axes."""
    long = random.random() < 0.06
    return random.choice([shape for shape in (LONG_SHAPES if long else SHAPES) if len(shape) >= least])


# Rules for the dtype of a result.


def common(dtypes: Sequence[DType], parameters: Any = None) -> DType:
    """That of all operands."""
    return reduce(np.promote_types, dtypes)


def boolean(dtypes: Sequence[DType], parameters: Any = None) -> DType:
    """bool."""
    return BOOL


def index(dtypes: Sequence[DType], parameters: Any = None) -> DType:
    """int64."""
    return INT64


def of_parts(dtypes: Sequence[DType], parameters: Any = None) -> DType:
    """The dtype of the parts of a complex number; that of the operand otherwise."""
    return np.dtype(dtypes[0].type(0).real.dtype) if dtypes[0].kind == "c" else dtypes[0]


def of_sums(dtypes: Sequence[DType], parameters: Any = None) -> DType:
    """The standard's: integers are added in 64 bits."""
    (dtype, *_) = dtypes
    if dtype in UNSIGNED:
        return np.dtype("uint64")
    return dtype if is_float(dtype) or dtype.kind == "c" else INT64
