"""Eager calls like earlier ones: the first few through DLPack, later ones as a compiled program.

XLA gives its arrays to a program in less time than DLPack takes for one of them; but a program has to be compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from marshal import dumps
from typing import Any

import jax

from xpops.frameworks.differentiable import Differentiable
from xpops.frameworks.jax.calls import call_of, facts_of
from xpops.plan.cache import BoundedDict

# After so many calls a program computes them. To compile one takes 20 to 40 ms. That is what it saves in 300 to 1000
# calls, and half of what the first call of the same function of `jax.numpy` takes.
REPEATS = 10
# The most values of its scalars for which a call has programs, and the most programs, of 2 MB each, of the process.
_MOST_VALUES, _MOST = 16, 512
_made = count()


class Repeated:
    """Later calls like one: a function of the arguments.

    Parameters
    ----------
    launch : callable
        Takes scalars, and the memory of arrays.
    lend : callable
        Returns the memory of an array; scalars as they are.
    call : callable
        Returns the call.
    arguments : tuple
        Those of the first call.
    """

    def __init__(
        self,
        launch: Callable[..., Any],
        lend: Callable[[Any], Any],
        call: Callable[[], Differentiable],
        arguments: tuple[Any, ...],
    ) -> None:
        self._launch, self._lend, self._call = launch, lend, call
        self._places = tuple([place for place, x in enumerate(arguments) if isinstance(x, jax.Array)])
        self._scalars = tuple([place for place in range(len(arguments)) if place not in self._places])
        # The bytes of scalars, since 0.0 and -0.0 are equal -> the number of calls, or their program.
        self._counts: BoundedDict[bytes, int] = BoundedDict(256)
        self._programs: dict[bytes, Callable[..., Any]] = {}
        # How many calls of programs have failed on the host, in any thread.
        self._failures, self._compiles = 0, True
        self._sharding = arguments[self._places[0]].sharding
        self._on_host = next(iter(self._sharding.device_set)).platform == "cpu"

    def __call__(self, *arguments: Any) -> Any:
        scalars = dumps([arguments[place] for place in self._scalars], 2) if self._scalars else b""
        program = self._programs.get(scalars)
        if program is None:
            return self._call_and_count(scalars, arguments)
        failures = self._failures
        try:
            result = program(*[arguments[place] for place in self._places] if self._scalars else arguments)
            first = result[0] if result.__class__ is tuple else result
            # While JAX traces a function, the call on values that are known is computed at once, as the first one was.
            if isinstance(first, jax.core.Tracer):
                return self._call_and_count(scalars, arguments)
            if self._on_host:
                first.block_until_ready()  # only now it has failed, if the operands took their time
        except (jax.errors.JaxRuntimeError, FloatingPointError):  # the second of JAX's own check for NaNs
            failures = -1
        # A call that failed raises its own error if it is made again.
        return result if failures == self._failures else self._call_and_count(scalars, arguments)

    def _count_failure(self) -> None:
        self._failures += 1

    def _call_and_count(self, scalars: bytes, arguments: tuple[Any, ...]) -> Any:
        """The result through DLPack. Later calls get a program if they are many."""
        result = self._launch(*map(self._lend, arguments))
        if self._compiles and scalars not in self._programs:
            calls = self._counts[scalars] = self._counts.get(scalars, 0) + 1
            if calls >= REPEATS:
                self._compile(scalars, arguments)
        return result

    def _compile(self, scalars: bytes, arguments: tuple[Any, ...]) -> None:
        if len(self._programs) >= _MOST_VALUES or next(_made) >= _MOST:
            self._compiles = False
            return
        call = self._call()
        try:
            call.results(tuple([facts_of(x) if isinstance(x, jax.Array) else x for x in arguments]))
        except TypeError:  # the shapes of results depend on data
            self._compiles = False
        else:
            function = call_of(call, self._places, arguments, self._count_failure)
            self._programs[scalars] = jax.jit(function, out_shardings=self._sharding)  # the same device, always
