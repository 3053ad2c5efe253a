"""Graphs: functions of calls that are recorded once, and replayed as one CUDA graph."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable
from dataclasses import fields
from types import MethodType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from xpops.core.errors import describe
from xpops.core.layouts import Layout
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch import Tensor
from xpops.dispatch.direct import run_directly
from xpops.dispatch.fusion.traced_arrays import require_no_trace
from xpops.dispatch.keys import way_of
from xpops.dispatch.measured import make_measured_launch
from xpops.dispatch.operands import Operands
from xpops.dispatch.steady import known, launches, make_launch, remember
from xpops.engine import engine_of, is_cuda
from xpops.engine.cuda.runtime import streams
from xpops.frameworks.registry import adapter_of
from xpops.plan.cache import BoundedDict

if TYPE_CHECKING:
    from xpops.dispatch.replay import Replay
    from xpops.engine.cuda.engine import CudaEngine

__all__ = ["Graph", "graph"]

P = ParamSpec("P")
R = TypeVar("R")
# The most combinations of layouts, and of other arguments, for which a function keeps recordings.
LIMIT = 32


def graph(function: Callable[P, R], /) -> Callable[P, R]:
    """Record the calls that a function makes, and replay them as one CUDA graph.

    The first call with arrays of certain layouts runs `function`, and records it. Later calls replay a recording on the
    data of their arguments: a single launch. The few calls that need another recording, for other addresses, run
    `function` again. Results are new arrays.

    Parameters
    ----------
    function : callable
        Takes arrays and other arguments, by position or by name. It gets an xpops array, read-only, for each array of
        any framework, and must not keep it. It returns an xpops array, or a tuple of two or more.

    Returns
    -------
    callable
        A function with the same arguments. The results are arrays of the arguments' framework, as with any other
        function. On the CPU, and while another library captures a graph, it runs `function` in every call.

    Raises
    ------
    DeviceError
        In the first call, if `function` calls what cannot be recorded: it waits for the GPU, as ``float(x)`` and
        `nonzero` do, copies from the host, draws random numbers, or uses another stream.
    TypeError
        If `function` returns anything else, or an argument is neither an array nor hashable.
    ValueError
        If `function` writes an argument.

    Notes
    -----
    Numbers, texts and other arguments except arrays are constants of a recording. Another constant makes another
    recording. So does another layout of an array: its shape, strides, dtype, device or alignment.

    Arrays that `function` uses without being passed them are read and written where they are: a replay sees new
    elements, but no new array of the same name. The graph keeps those in the closure, the defaults, the globals and
    their attributes alive. Arrays from elsewhere, such as another module, must live as long as the graph.

    An argument whose address has changed is copied to memory of the graph first, and each result is copied from there.
    A call with the addresses of an earlier call, as in a loop, copies nothing: its recording is in place.

    Memory that a recording took belongs to it until the graph is dropped.

    Examples
    --------
    >>> @xp.graph
    ... def step(x, w):
    ...     return xp.tanh(x @ w) + x
    >>> step(xp.ones((1, 2)), xp.eye(2))
    Array([[1.76159416, 1.76159416]], dtype=float64, device='cpu')
    """
    return cast("Callable[P, R]", Graph(function))


class Graph:
    """A recorded function, as `graph` returns it.

    Parameters
    ----------
    function : callable
    names : tuple of str, optional
        The public names of the arguments, for errors.
    """

    def __init__(self, function: Callable[..., Any], names: tuple[str, ...] | None = None) -> None:
        if not callable(function):
            raise TypeError(f"graph: function is {function!r}; accepted: a function of arrays")
        functools.update_wrapper(self, function, updated=())
        self._function, self._name, self._names = function, getattr(function, "__name__", "graph"), names
        # Which arguments are arrays, and the others -> the same function of these arrays alone.
        self._with_constants: BoundedDict[Hashable, Graph] = BoundedDict(LIMIT)
        self._replays: dict[tuple[Layout, ...], Replay] = {}
        # The key of this graph's launches. They must not refer to the graph, which forgets them when it is dropped.
        self._way = way_of(object(), ())
        weakref.finalize(self, _forget, self._way).atexit = False

    def __repr__(self) -> str:
        return f"<graph {self._name}>"

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """The graph as a method, whose first argument is a constant."""
        return self if instance is None else MethodType(self, instance)

    def __call__(self, /, *arguments: Any, **named: Any) -> Any:
        """The function's results."""
        if not named:
            result = known(self._way, arguments)
            if result is not None:
                return result
        given = dict[int | str, Any]([*enumerate(arguments), *named.items()])
        arrays = tuple(place for place, value in given.items() if _is_array(value))
        if len(arrays) == len(arguments) and not named:
            return self._call(arguments)
        constants = {place: value for place, value in given.items() if place not in arrays}
        frozen = tuple((place, self._freeze(place, value)) for place, value in constants.items())
        found = self._with_constants.get((arrays, frozen))
        if found is None:
            found = self._with_constants[arrays, frozen] = self._bind(arrays, constants)
        return found(*(given[place] for place in arrays))

    def _bind(self, arrays: tuple[int | str, ...], constants: dict[int | str, Any]) -> Graph:
        """The function of the arguments at `arrays`, by position. The other arguments are constants."""
        function = self._function

        @functools.wraps(function)
        def call_with_constants(*values: Any) -> Any:
            given = {**constants, **dict(zip(arrays, values, strict=True))}
            positional = (given[place] for place in sorted(place for place in given if isinstance(place, int)))
            return function(*positional, **{place: each for place, each in given.items() if isinstance(place, str)})

        return Graph(call_with_constants, tuple(map(_name_of, arrays)))

    def _freeze(self, place: int | str, value: Any) -> Hashable:
        """A constant as part of a key. Equal keys mean the same value: 1, 1.0 and True differ, and so does -0.0."""
        require_no_trace(value, self._name)
        if isinstance(value, SCALAR_TYPES):
            return type(value), repr(value)
        if isinstance(value, tuple):
            return type(value), *(self._freeze(place, each) for each in value)
        if isinstance(value, frozenset):
            return type(value), frozenset(self._freeze(place, each) for each in value)
        rules = getattr(type(value), "__dataclass_params__", None)
        if rules is not None and rules.eq and rules.frozen:
            return type(value), *(self._freeze(place, getattr(value, each.name)) for each in fields(value))
        if _is_array(value):
            raise TypeError(
                f"{self._name}: {_name_of(place)} holds an array; accepted: arrays as arguments of their own"
            )
        try:
            hash(value)
        except TypeError:
            raise TypeError(
                f"{self._name}: {_name_of(place)} is {describe(value)}; accepted: arrays, and hashable constants"
            ) from None
        return type(value), value

    def _call(self, arguments: tuple[Any, ...]) -> Any:
        """The results by the slow path, for arrays only: record what is new, and remember the launch."""
        names = self._names or tuple(_name_of(place) for place in range(len(arguments)))
        operands = Operands(self._name, names, arguments)
        specs = cast("tuple[Layout, ...]", operands.specs)
        engine, replay = engine_of(operands.device), self._replays.get(specs)
        try:
            if not is_cuda(engine):  # there is nothing to record
                run = functools.partial(run_directly, self._name, self._function, specs)
                launch = make_measured_launch(operands, self._way, run)
            elif replay is None:
                return self._first_call(engine, operands, specs)
            else:
                launch = make_launch(operands, replay.layouts, replay)
            results = launch(*operands.inputs)
        finally:
            operands.release()
        remember(self._way, arguments, operands, operands.repeated(arguments, launch))
        return results

    def _first_call(self, engine: CudaEngine, operands: Operands, specs: tuple[Layout, ...]) -> Any:
        """Run the function on a GPU, and record it if it can be replayed."""
        # Imported here, because only GPUs need it.
        from xpops.dispatch.replay import Replay
        from xpops.engine.cuda.runtime.capture import is_capturing

        stream, values = operands.stream, tuple(operands.values)
        with streams.set_current(operands.device.index, stream):
            program = run_directly(self._name, self._function, specs, stream, *values)
        results = make_launch(operands, *program)(*operands.inputs)
        if not is_capturing(stream):
            if len(self._replays) >= LIMIT:
                self._replays.clear()
                _forget(self._way)
            self._replays[specs] = Replay(engine, self._name, self._function, specs, program.layouts, stream, values)
        return results


def _is_array(x: Any) -> bool:
    return isinstance(x, Tensor) or adapter_of(type(x)) is not None


def _name_of(place: int | str) -> str:
    """The name of an argument for errors."""
    return place if isinstance(place, str) else f"arguments[{place}]"


def _forget(way: tuple[Any, ...]) -> None:
    """Drop the remembered launches of a graph, and with them its recordings."""
    for key in list(launches):
        if key[0] is way:
            launches.pop(key, None)
