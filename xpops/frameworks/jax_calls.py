"""Calls on JAX's tracers: what `jax.jit`, `jax.grad` and `jax.vmap` make of them.

A compiled program calls back into Python when it runs. The derivatives are those of `xpops.dispatch.gradients`, which
follow torch's convention for complex numbers: its cotangents are the conjugates of JAX's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.experimental.buffer_callback import buffer_callback

from xpops.engine.cuda.runtime import streams
from xpops.frameworks import capsule as dl
from xpops.frameworks.differentiable import Differentiable, Facts


@jax.tree_util.register_static
@dataclass(frozen=True)
class _Wanted:
    """Which arrays need a cotangent: known when a program is traced, not a value of it."""

    flags: tuple[bool, ...]


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

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def results(*arrays: Any) -> Any:
        if any(isinstance(x, jax.core.Tracer) for x in arrays):
            return _call_back(call, filled, arrays)
        return call.compute(*filled(arrays))

    def forward(*primals: Any) -> Any:
        wanted = tuple(bool(x.perturbed) and jnp.issubdtype(x.value.dtype, jnp.inexact) for x in primals)
        flags = tuple(_at(wanted, places, place) for place in range(len(arguments)))
        saved, needs_results = call.saved(flags)
        made = results(*(x.value for x in primals))
        kept = tuple(x.value if place in saved else None for place, x in zip(places, primals, strict=True))
        return made, (_Wanted(flags), kept, made if needs_results else None)

    def backward(residuals: Any, given: Any) -> Any:
        wanted, kept, made = residuals
        given = jax.tree.map(_cotangent, given, is_leaf=lambda x: isinstance(x, SymbolicZero))
        found = call.cotangents(wanted.flags, given, facts, filled(kept), made, False)
        return tuple(None if found[place] is None else _conjugate(found[place]) for place in places)

    results.defvjp(forward, backward, symbolic_zeros=True)
    return results(*(arguments[place] for place in places))


def _at(wanted: tuple[bool, ...], places: tuple[int, ...], place: int) -> bool:
    return place in places and wanted[places.index(place)]


def _cotangent(x: Any) -> Any:
    """What JAX passes for a result, as torch's cotangent."""
    if not isinstance(x, SymbolicZero):
        return _conjugate(x)
    return jnp.zeros(x.shape, jnp.int32 if x.dtype == jax.dtypes.float0 else x.dtype)


def _conjugate(x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


def _call_back(call: Differentiable, filled: Callable[[Any], list[Any]], arrays: Any) -> Any:
    """A step of the program that computes the call.

    Under `jax.vmap` an elementwise call gets one more axis in front; others run in a loop.
    """
    if call.broadcasts:
        count = max(x.ndim for x in arrays)
        arrays = tuple(jnp.reshape(x, (1,) * (count - x.ndim) + x.shape) for x in arrays)
    found = call.results(tuple(facts_of(x) if isinstance(x, jax.Array) else x for x in filled(arrays)))
    # Without JAX's 64-bit mode, results of 64 bits are narrowed, as JAX does.
    shapes = [
        jax.ShapeDtypeStruct(each.shape, jax.dtypes.canonicalize_dtype(each.dtype))
        for each in ((found,) if isinstance(found, Facts) else found)
    ]

    def step(context: Any, outs: Any, *buffers: Any) -> None:
        if outs[0].__dlpack_device__()[0] == dl.KIND_CPU:
            call.write(filled(map(np.asarray, buffers)), list(map(np.asarray, outs)))
        else:
            with streams.stream(context.stream):
                call.write(filled(buffers), outs)

    made = buffer_callback(step, shapes, vmap_method="expand_dims" if call.broadcasts else "sequential")(*arrays)
    return made[0] if isinstance(found, Facts) else tuple(made)
