"""Calls on JAX's tracers: what `jax.jit`, `jax.grad` and `jax.vmap` make of them.

A compiled program calls back into Python when it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.experimental.buffer_callback import buffer_callback

from xpops.core.operands import Scalar
from xpops.frameworks.differentiable import Differentiable, Facts
from xpops.frameworks.jax.derivatives import Pullback
from xpops.frameworks.jax.steps import Step


def facts_of(x: Any) -> Facts:
    """The shape and the dtype of a tracer or an array."""
    return Facts(tuple(x.shape), np.dtype(x.dtype))


def record(call: Differentiable, arguments: tuple[Any, ...]) -> Any:
    """The results of a call, as a part of the traced program."""
    places = tuple(place for place, x in enumerate(arguments) if isinstance(x, jax.Array))
    facts = tuple(facts_of(x) if place in places else None for place, x in enumerate(arguments))

    def filled(arrays: Any) -> list[Any]:
        """The arguments, with these arrays in their places."""
        made = list(arguments)
        for place, x in zip(places, arrays, strict=True):
            made[place] = x
        return made

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def results(*arrays: Any) -> Any:
        if any(isinstance(x, jax.core.Tracer) for x in arrays):
            return _step(call, filled(arrays))
        return call.compute(*filled(map(jnp.asarray, arrays)))  # JAX passes ndarrays on in a class of its own

    def derive(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        primals = tuple(map(jnp.asarray, primals))
        made = results(*primals)
        wanted = tuple(_has_tangent(place, places, tangents) for place in range(len(arguments)))
        pullback = Pullback(call, wanted, filled([None] * len(places)), facts, made)
        saved = pullback.saved_of(filled(primals), made)
        given = [x for x in tangents if not isinstance(x, SymbolicZero)]
        return made, pullback.tangents(saved, given)

    results.defjvp(derive, symbolic_zeros=True)
    return results(*(arguments[place] for place in places))


def _has_tangent(place: int, places: tuple[int, ...], tangents: tuple[Any, ...]) -> bool:
    return place in places and not isinstance(tangents[places.index(place)], SymbolicZero)


def call_of(
    call: Differentiable, places: tuple[int, ...], arguments: tuple[Any, ...], failed: Callable[[], None]
) -> Callable[..., Any]:
    """The call as a function of the arrays at some places, for `jax.jit`. `failed` is that of its `Step`."""
    # Not the arrays, which would live as long as the program.
    scalars = [None if place in places else x for place, x in enumerate(arguments)]

    def function(*arrays: Any) -> Any:
        rest = iter(arrays)
        return _step(call, [next(rest) if x is None else x for x in scalars], failed)

    function.__name__ = "xpops_call"  # in profiles
    return function


def _step(call: Differentiable, arguments: list[Any], failed: Callable[[], None] | None = None) -> Any:
    """A step of the program that computes the call.

    Under `jax.vmap` an elementwise call gets one more axis in front; others run in a loop.
    """
    arrays = tuple(x for x in arguments if isinstance(x, jax.Array))
    if call.broadcasts:
        count = max(x.ndim for x in arrays)
        arrays = tuple(jnp.reshape(x, (1,) * (count - x.ndim) + x.shape) for x in arrays)
    rest = iter(arrays)
    arguments = [next(rest) if isinstance(x, jax.Array) else x for x in arguments]
    found = call.results(tuple(facts_of(x) if isinstance(x, jax.Array) else x for x in arguments))
    # Without JAX's 64-bit mode, results of 64 bits are narrowed, as JAX does.
    shapes = [
        jax.ShapeDtypeStruct(each.shape, jax.dtypes.canonicalize_dtype(each.dtype))
        for each in ((found,) if isinstance(found, Facts) else found)
    ]
    step = Step(call, tuple(map(_scalar, arguments)), failed)
    made = buffer_callback(step, shapes, vmap_method="expand_dims" if call.broadcasts else "sequential")(*arrays)
    return made[0] if isinstance(found, Facts) else tuple(made)


def _scalar(x: Any) -> Scalar | None:
    """An argument as a Python scalar; None for arrays."""
    if isinstance(x, jax.Array):
        return None
    value: Scalar = x.item() if isinstance(x, np.generic) else x
    return value
