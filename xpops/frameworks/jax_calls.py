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

from xpops.engine.cuda.runtime import streams
from xpops.frameworks import capsule as dl
from xpops.frameworks.differentiable import Differentiable, Facts
from xpops.frameworks.jax_derivatives import Pullback


class _Stream:
    """XLA's stream, which it gives as an address."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle


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
            return _call_back(call, filled, arrays)
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
            with streams.stream(_Stream(context.stream)):
                call.write(filled(buffers), outs)

    made = buffer_callback(step, shapes, vmap_method="expand_dims" if call.broadcasts else "sequential")(*arrays)
    return made[0] if isinstance(found, Facts) else tuple(made)
