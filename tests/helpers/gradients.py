"""Calls with gradients: their operands, and those of the elementwise rows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import pytest

import xpops as xp
import xpops.numpy
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import OF_NUMPY, OPERATORS

torch = pytest.importorskip("torch")
# The most by which two backward passes may differ on a GPU: libraries of NVIDIA add in any order.
NONDETERMINISM = 1e-10


class Case(NamedTuple):
    """A call.

    Attributes
    ----------
    name : str
        The public function.
    call : callable
        Takes the operands that require grad, and returns a tensor or a tuple of tensors.
    shapes : tuple
        Those of the operands.
    domain : str
        A word for each operand, as in `Operator.domain`.
    complex : bool
        Whether it takes complex operands.
    theirs : callable or None
        Torch's function of the same operands.
    sized_by_values : bool
        Whether the shape of the result depends on values of an array that the call makes.
    """

    name: str
    call: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...] = ((3, 4),)
    domain: str = ""
    complex: bool = False
    theirs: Callable[..., Any] | None = None
    sized_by_values: bool = False

    def __repr__(self) -> str:
        return self.name


def operand(shape: tuple[int, ...], domain: str, dtype: torch.dtype, seed: int) -> torch.Tensor:
    """A tensor of distinct numbers that are no multiples of 1/2, where rounding functions jump."""
    generator = torch.Generator().manual_seed(seed)
    count = prod(shape)
    real = torch.float64 if dtype in (torch.float64, torch.complex128) else torch.float32
    steps = (
        torch.randperm(count, generator=generator, device="cpu").to(real) + 0.5 + 0.137 * (seed % 3)
    ) / count  # between 0 and 1
    low, high = {"unit": (-0.8, 0.8), "positive": (0.3, 2.2), "nonzero": (0.6, 2.2), "above": (1.2, 2.5)}.get(
        domain, (-1.83, 1.91)
    )
    values = (low + (high - low) * steps).reshape(shape)
    if dtype.is_complex:
        others = (low + (high - low) * steps.flip(0)).reshape(shape)
        return torch.complex(values, 0.4 + others * 0.5).to(dtype)
    return values.to(dtype)


def constant(x: Any, values: Any) -> Any:
    """An array of these values, of the framework and on the device of `x`."""
    if isinstance(x, torch.Tensor):
        return torch.tensor(values, device=x.device)
    import jax.numpy as jnp

    return jnp.asarray(values)


def of_torch(name: str) -> Callable[..., Any] | None:
    place: Any = torch
    for part in name.split("."):
        place = getattr(place, part, None)
    return place


_DOMAINS = {"acosh": "above", "sqrt": "positive", "reciprocal": "nonzero"}
_THEIRS = {
    "divide": "div",
    "clip": "clamp",
    "real": "real",
    "leaky_relu": "nn.functional.leaky_relu",
    "gelu": "nn.functional.gelu",
    "silu": "nn.functional.silu",
    "softplus": "nn.functional.softplus",
    "sign": "sgn",
    "conj": "conj_physical",
}


def _of_row(op: Any, function: Callable[..., Any]) -> Case:
    count = op.arity - op.parameters
    shapes = ((3, 4), (4,), (3, 1))[:count]
    has_complex = op.accepts in ("floating-point", "numeric", "arithmetic", "any")
    domain = _DOMAINS.get(op.name, op.domain)
    name = _THEIRS.get(op.name, op.name)
    call = functools.partial(function, **op.options) if op.options else function
    theirs = of_torch(name)
    if op.condition:
        condition = [[True], [False], [True]]
        return Case(
            op.name,
            lambda x1, x2: xp.where(constant(x1, condition), x1, x2),
            ((3, 4), (4,)),
            "",
            True,
            lambda x1, x2: torch.where(constant(x1, condition), x1, x2),
        )
    if op.name == "clip":
        # A bound must not promote: all have one dtype.
        return Case("clip", xp.clip, ((3, 4), (4,), (3, 1)), "", False, torch.clamp)
    if op.name == "gelu_tanh":
        theirs = functools.partial(torch.nn.functional.gelu, approximate="tanh")
    if op.name == "heaviside":  # torch's gradcheck confuses results if one that has no gradient has another shape
        shapes = ((3, 4), (3, 4))
    if op.name == "nextafter":  # torch 2.11 does not differentiate its own
        theirs = lambda x1, x2: x1 + 0 * x2  # noqa: E731
    if op.name == "exponent":  # it is an integer, without a gradient
        return Case("frexp", lambda x: xpops.numpy.frexp(x)[0], theirs=lambda x: torch.frexp(x)[0])
    if op.name == "ldexp":  # torch.ldexp has gradients of 0 for negative powers
        theirs = lambda x: x * constant(x, [[4.0], [1.0], [0.125]])  # noqa: E731
        return Case("ldexp", lambda x: xpops.numpy.ldexp(x, constant(x, [[2], [0], [-3]])), theirs=theirs)
    if op.name in ("heaviside", "imag", "round"):  # torch has no derivative of its own, no real imag, no complex round
        theirs = None
    return Case(op.name, call, shapes, domain, has_complex, theirs)


ELEMENTWISE = [
    _of_row(op, getattr(xpops.numpy if op in OF_NUMPY else xp, op.public, None) or getattr(xp.nn, op.public))
    for op in (*OPERATORS.values(), *ACTIVATIONS.values())
    if op.derivatives and op.name != "identity"
]


def operands(case: Case, dtype: torch.dtype, device: str = "cpu") -> list[torch.Tensor]:
    """The operands of a case, which require grad."""
    words = case.domain.split() or ["any"] * len(case.shapes)
    return [
        operand(shape, word, dtype, seed).to(device).requires_grad_()
        for seed, (shape, word) in enumerate(zip(case.shapes, words * len(case.shapes), strict=False))
    ]
