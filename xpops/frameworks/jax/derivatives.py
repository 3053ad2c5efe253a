"""Derivatives of calls in JAX: linear functions of tangents, whose transposes xpops has as expressions."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from xpops.frameworks.differentiable import Differentiable, Facts

# ``tangents_p.bind(*saved, *tangents, pullback)`` returns the tangents of the results that have any.
tangents_p = Primitive("xpops_tangents")
tangents_p.multiple_results = True


class Pullback:
    """The function from cotangents of a call's results to those of its arguments.

    Parameters
    ----------
    call : Differentiable
    wanted : tuple of bool
        The arguments with tangents.
    arguments : list
        The scalars, and None for arrays.
    facts : tuple of Facts or None
        Those of arguments; None for scalars.
    results : array or tuple of array
    """

    def __init__(
        self,
        call: Differentiable,
        wanted: tuple[bool, ...],
        arguments: list[Any],
        facts: tuple[Facts | None, ...],
        results: Any,
    ) -> None:
        self._call, self._wanted, self._arguments, self._facts = call, wanted, arguments, facts
        places, self._needs_results = call.saved(wanted)
        self._places = [place for place in places if facts[place] is not None]
        self._is_single = not isinstance(results, tuple)
        made = (results,) if self._is_single else results
        self._results = [Facts(tuple(x.shape), x.dtype) for x in made]
        self.smooth = [fact for fact in self._results if jnp.issubdtype(fact.dtype, jnp.inexact)]
        self.count = len(self._places) + (len(made) if self._needs_results else 0)

    def saved_of(self, arguments: list[Any], results: Any) -> list[Any]:
        """What the cotangents depend on."""
        made = [results] if self._is_single else list(results)
        return [*(arguments[place] for place in self._places), *(made if self._needs_results else ())]

    def tangents(self, saved: list[Any], given: list[Any]) -> Any:
        """The tangents of the results; those of integers have the dtype float0."""
        found = iter(tangents_p.bind(*saved, *given, pullback=self) if self.smooth else ())
        made = tuple(
            next(found) if jnp.issubdtype(fact.dtype, jnp.inexact) else np.zeros(fact.shape, jax.dtypes.float0)
            for fact in self._results
        )
        return made[0] if self._is_single else made

    def cotangents(self, saved: Any, given: Any) -> list[Any]:
        """The cotangents of `wanted` arguments, from those of results of inexact dtypes.

        JAX pairs a cotangent and a tangent as ``re(u * t)``, torch and our derivatives as ``re(conj(u) * t)``.
        """
        rest, arguments = iter(given), list(self._arguments)
        for place, x in zip(self._places, saved, strict=False):
            arguments[place] = x
        every = [
            next(rest).conj() if jnp.issubdtype(fact.dtype, jnp.inexact) else jnp.zeros(*fact) for fact in self._results
        ]
        results = tuple(saved[len(self._places) :]) if self._needs_results else None
        if self._is_single:
            made = self._call_with(every[0], arguments, results[0] if results else None)
        else:
            made = self._call_with(tuple(every), arguments, results)
        return [
            jnp.zeros(*fact) if x is None else x.conj()
            for x, fact, each in zip(made, self._facts, self._wanted, strict=True)
            if each and fact is not None
        ]

    def _call_with(self, given: Any, arguments: list[Any], results: Any) -> tuple[Any, ...]:
        return self._call.cotangents(self._wanted, given, self._facts, arguments, results, fused=False)


def push(*arguments: Any, pullback: Pullback) -> list[Any]:
    """The tangents of results: the transpose of the pullback, which is linear, so that any point will do."""
    saved, tangents = arguments[: pullback.count], arguments[pullback.count :]
    point = [jnp.zeros(*fact) for fact in pullback.smooth]
    _, transpose = jax.vjp(lambda given: pullback.cotangents(saved, given), point)
    found: list[Any] = transpose(list(tangents))[0]
    return found


def _abstract(*arguments: Any, pullback: Pullback) -> list[Any]:
    return [jax.core.ShapedArray(*fact) for fact in pullback.smooth]


def _differentiate(primals: Any, tangents: Any, *, pullback: Pullback) -> Any:
    return jax.jvp(partial(push, pullback=pullback), primals, tuple(map(ad.instantiate_zeros, tangents)))


def _transpose(given: Any, *arguments: Any, pullback: Pullback) -> list[Any]:
    saved, tangents = arguments[: pullback.count], arguments[pullback.count :]
    made = pullback.cotangents(saved, list(map(ad.instantiate_zeros, given)))
    found = [x if ad.is_undefined_primal(t) else None for x, t in zip(made, tangents, strict=True)]
    return [*(None for _ in saved), *found]


def _batch(arguments: Any, axes: Any, *, pullback: Pullback) -> Any:
    found = jax.vmap(partial(push, pullback=pullback), in_axes=tuple(axes))(*arguments)
    return found, [0] * len(found)


tangents_p.def_impl(push)
tangents_p.def_abstract_eval(_abstract)
ad.primitive_jvps[tangents_p] = _differentiate
ad.primitive_transposes[tangents_p] = _transpose
batching.primitive_batchers[tangents_p] = _batch
mlir.register_lowering(tangents_p, mlir.lower_fun(push, multiple_results=True))
