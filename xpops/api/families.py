"""Public functions that are expressions of others: fused once for each combination of parameters."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from xpops.api.fusion import Fused
from xpops.arrays.tensors import array_layout
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.gradients.calls import RecordedCall, makers, recorder_of, remember_recorded
from xpops.dispatch.gradients.rules import differentiable, rule_of
from xpops.dispatch.keys import way_of
from xpops.dispatch.primitives import freeze, is_hashable
from xpops.dispatch.steady import known
from xpops.engine import engine_of, is_cuda
from xpops.frameworks.adapter import Adapter, is_inherited
from xpops.frameworks.differentiable import Facts
from xpops.frameworks.registry import adapter_of
from xpops.ops.derivatives.elementwise import Derivative
from xpops.plan.cache import BoundedDict


class Family:
    """A function of parameters and arrays, which is a fused function for each combination of parameters.

    A later call on a GPU is one look-up and the launches. In a fused function, and on the host for arrays of ours, of
    NumPy and of torch, the function itself runs.

    Parameters
    ----------
    function : callable
        ``function(*parameters, *arrays)``, an expression that `fuse` accepts. It checks the arrays.
    name : str
        The public function, for errors.
    names : tuple of str
        The names of the arrays and scalars, for errors. The last ones may be left out of calls; then `parameters`
        differ.
    host : callable, optional
        The same function, for arrays on the host that are not fused. By default `function`.
    derivative : callable, optional
        The derivative by `x` (`xpops.ops.derivatives`), if it is none that those of the parts of `function` give.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        *names: str,
        host: Callable[..., Any] | None = None,
        derivative: Derivative | None = None,
    ) -> None:
        self._function, self._name, self._names = function, name, names
        self.__module__ = function.__module__  # which has the family among its variables
        self._rule = None if derivative is None else rule_of(differentiable(derivative)(function), ())
        self._host = host or function
        self._members: BoundedDict[tuple[Any, ...], Fused] = BoundedDict(1024)

    def __call__(self, parameters: tuple[Any, ...], x: Any, *others: Any) -> Any:
        """Call the function with parameters, which may be lists, and with arrays and scalars; `x` is an array."""
        try:
            member = self._members.get(way_of(self._function, parameters))
        except TypeError:  # a list of axes cannot be hashed
            member = None
        if member is not None:
            result = member.known(x, *others)
            if result is not None:
                return result
        recorder = None if self._rule is None else recorder_of((x,))
        if recorder is not None:
            return self._record(recorder, parameters, (x, *others))
        if isinstance(x, Traced) or not self._is_fused(x):
            return self._compute(parameters, x, *others)
        frozen = tuple(freeze(each, self._name) for each in parameters)
        return self.member(frozen, 1 + len(others))(x, *others)

    def recorded(self, parameters: tuple[Any, ...], others: int) -> RecordedCall:
        """A call of `x` and `others` more arguments, with its derivative."""
        assert self._rule is not None
        named = dict(zip(signature(self._function).parameters, parameters, strict=False))
        return RecordedCall(
            self._name,
            self._names[: 1 + others],
            named,
            self._rule,
            lambda *arrays: self(parameters, *arrays),
            ("family", self, parameters, others),
        )

    def _record(self, recorder: Adapter, parameters: tuple[Any, ...], arguments: tuple[Any, ...]) -> Any:
        """The result of a call of which a framework records the gradient."""
        way, is_kept = way_of(self, parameters), is_hashable(parameters)
        result = known(way, arguments) if is_kept else None
        if result is None:
            call = self.recorded(parameters, len(arguments) - 1)
            result = recorder.record(call, arguments)
            if is_kept:
                remember_recorded(way, arguments, result, recorder, call)
        return result

    def _compute(self, parameters: tuple[Any, ...], *arrays: Any) -> Any:
        """The function of traced arrays, or of arrays on the host."""
        return (self._function if isinstance(arrays[0], Traced) else self._host)(*parameters, *arrays)

    def _is_fused(self, x: Any) -> bool:
        """Whether one call is faster than several: on a GPU, where each result is exported, and in traced programs."""
        layout = array_layout(x, self._name, self._names[0])
        if isinstance(layout, Facts):
            return True
        return is_cuda(engine_of(layout.device)) or is_inherited(adapter_of(type(x)), "allocator")

    def member(self, parameters: tuple[Any, ...], count: int) -> Fused:
        """The fused function of `count` arguments."""
        way = way_of(self._function, parameters)
        member = self._members.get(way)
        if member is None:

            def function(*arrays: Any) -> Any:
                return self._compute(parameters, *arrays)

            function.__name__ = self._name  # of kernels and errors
            member = self._members[way] = Fused(function, self._names[:count], member_of=(self, parameters, count))
        return member


makers["family"] = Family.recorded
