"""Functions of arrays, recorded as CUDA graphs."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xpops.core.errors import DeviceError
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import Tensor
from xpops.dispatch.direct import arrays_on, run_directly
from xpops.dispatch.fusion.results import results_of
from xpops.dispatch.primitives import copier
from xpops.dispatch.references import referenced_arrays
from xpops.engine.cuda.runtime import streams
from xpops.engine.cuda.runtime.capture import is_capturing
from xpops.engine.cuda.runtime.recording import Recording, Turns
from xpops.engine.program import Data, Kernel
from xpops.frameworks.registry import adapter_of, join_recording
from xpops.plan.cache import BoundedDict

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

# The most graphs of one function and one kind of arguments that copy nothing. Loops that reuse memory have one or two
# sets of addresses.
MOST = 4
# The most sets of addresses that are noted, so that the second call with one is recognised.
_NOTED = 64


class Replay:
    """The kernel ``(stream, *results, *operands)`` that replays a recorded function.

    The graph of the first call copies: it leaves results in its own memory, and reads from there every operand whose
    address has changed since. If a call has the same addresses as an earlier one, a graph is recorded for them that
    reads and writes in place.

    Parameters
    ----------
    engine : CudaEngine
    name : str
        The function's name, for errors.
    function : callable
        Takes and returns xpops arrays.
    specs, layouts : tuple of Layout
        The layouts of the operands, and of the results: C-contiguous.
    stream : int
        The stream of the first call.
    values : tuple of int
        The addresses of its operands.
    """

    def __init__(
        self,
        engine: CudaEngine,
        name: str,
        function: Callable[..., Any],
        specs: tuple[Layout, ...],
        layouts: tuple[Layout, ...],
        stream: int,
        values: tuple[int, ...],
    ) -> None:
        self._engine, self._name, self._function = engine, name, function
        self._specs, self.layouts = specs, layouts
        self._in_place: dict[tuple[int, ...], Recording] = {}
        self._noted: BoundedDict[tuple[int, ...], None] = BoundedDict(_NOTED)
        self._moved: set[int] = set()
        # The arrays that the function uses without being passed them, and the adapters of their frameworks.
        self._arrays = referenced_arrays(function)
        adapters = (adapter_of(type(each)) for each in self._arrays if not isinstance(each, Tensor))
        self._lenders = {each for each in adapters if each is not None}
        # CUDA graphs are not safe for threads.
        self._lock = threading.Lock()
        self._copying = self._record_copying(stream, values)

    def __call__(self, stream: int, *data: int) -> None:
        """Replay a graph; within a capture, call the function, so that the capture includes its work."""
        if is_capturing(stream):
            with streams.set_current(self._engine.context.index, stream):
                values = data[len(self.layouts) :]
                run_directly(self._name, self._function, self._specs, stream, *values).kernel(stream, *data)
            return
        with self._lock:
            if self._lenders:
                self._order(stream, first=True)
            recording = self._in_place.get(data)
            if recording is None:
                self._replay_new(stream, data)
            else:
                recording.replay(stream)
            if self._lenders:
                self._order(stream, first=False)

    def _replay_new(self, stream: int, data: tuple[int, ...]) -> None:
        """Replay for addresses that have no graph yet."""
        data = tuple(map(int, data))  # JAX's addresses keep their memory, so none may be kept here
        if data in self._noted and len(self._in_place) < MOST and self._uses_the_same_arrays():
            recording = self._in_place[data] = self._record_in_place(data)
            recording.replay(stream)
            return
        self._noted[data] = None
        values = data[len(self.layouts) :]
        moved = {place for place, value in enumerate(values) if value != self._copying.values[place]} - self._moved
        if moved:
            if not self._uses_the_same_arrays():
                raise DeviceError(
                    f"{self._name}: it uses other arrays than when it was recorded; accepted: the same arrays, whose "
                    "elements may change, or arrays as arguments"
                )
            self._moved |= moved
            self._copying = self._record_copying(stream, values)
        self._copying.replay(stream, data)

    def _uses_the_same_arrays(self) -> bool:
        """Whether the function, which runs again for another recording, would use the arrays of the first one."""
        now = referenced_arrays(self._function)
        return list(map(id, now)) == list(map(id, self._arrays))

    def _order(self, stream: int, first: bool) -> None:
        """Order the replay after, and before, the work of frameworks whose arrays the function uses by itself."""
        for lender in self._lenders:
            theirs = lender.current_stream(self._engine.context.device)
            if theirs is not None and theirs != stream:
                self._engine.order(*((theirs, stream) if first else (stream, theirs)))

    def _record_in_place(self, data: tuple[int, ...]) -> Recording:
        """The graph of one set of addresses."""
        count = len(self.layouts)

        def run(stream: int, results: Sequence[Tensor]) -> None:
            for result, layout, target in zip(results, self.layouts, data[:count], strict=True):
                if result._data != target:
                    copier(result._layout, layout)(stream, target, result._data)

        sizes = [layout.nbytes for layout in self.layouts]
        placed = {
            number: (target, size)
            for number, target, size in zip(self._copying.numbers, data[:count], sizes, strict=True)
            if number is not None
        }
        return self._record(data[count:], self._specs, run, placed)[0]

    def _record_copying(self, stream: int, values: tuple[int, ...]) -> _Copying:
        """The graph that serves all addresses of operands that have moved, and of results."""
        engine, specs, given, loads = self._engine, list(self._specs), list(values), []
        buffers = []
        for place in sorted(self._moved):
            source = specs[place]
            specs[place] = layout_of(source.dtype, source.shape, None, source.device)
            given[place], owner = engine.allocate(specs[place], stream)
            buffers.append(owner)
            loads.append((place, copier(source, specs[place]), given[place]))
        found: list[Tensor] = []

        def run(stream: int, results: Sequence[Tensor]) -> None:
            engine.retain(buffers, stream)
            found.extend(results)

        recording, taken = self._record(tuple(given), tuple(specs), run, {})
        stores = [
            (copier(result._layout, layout), result._data) for result, layout in zip(found, self.layouts, strict=True)
        ]
        numbers = [_number(result, taken) for result in found]
        return _Copying(recording, Turns(engine.context), values, loads, stores, numbers)

    def _record(
        self,
        values: tuple[int, ...],
        specs: tuple[Layout, ...],
        finish: Callable[[int, Sequence[Tensor]], None],
        placed: dict[int, tuple[int, int]],
    ) -> tuple[Recording, list[tuple[int, int]]]:
        """Record the function on arrays at these addresses; ``finish(stream, results)`` belongs to the recording."""

        def run(stream: int) -> None:
            with join_recording(self._engine.context.device, stream) as pools:
                self._engine.retain((self._arrays, pools), stream)
                results = results_of(self._name, self._function(*arrays_on(specs, values)), Tensor)
                self._check(results)
                finish(stream, results)

        try:
            return self._engine.recorder.record(run, placed)
        except DeviceError as error:
            raise DeviceError(f"{self._name}: {_refused_call(error)}cannot be recorded: {error}") from error

    def _check(self, results: Sequence[Tensor]) -> None:
        found = [(result._layout.dtype, result._layout.shape, result._layout.device) for result in results]
        expected = [(layout.dtype, layout.shape, layout.device) for layout in self.layouts]
        if found != expected:
            raise ValueError(
                f"{self._name}: it returns {found} now, and {expected} when it was called before; "
                "accepted: results whose dtype, shape and device depend on those of the arguments only"
            )


class _Copying:
    """A graph between copies: of operands to its memory, and of results from its memory.

    Parameters
    ----------
    values : tuple of int
        The addresses of operands that it was recorded with.
    loads : list of (int, Kernel, int)
        The place of an operand that is copied, the copy, and where it is copied to.
    stores : list of (Kernel, int)
        The copy of each result, and where it is copied from.
    numbers : list of int or None
        For each result, which of the recorded allocations it is; None if it is only a part of one, or none.
    """

    def __init__(
        self,
        recording: Recording,
        turns: Turns,
        values: tuple[int, ...],
        loads: list[tuple[int, Kernel, int]],
        stores: list[tuple[Kernel, Data]],
        numbers: list[int | None],
    ) -> None:
        self._recording, self._turns, self.values = recording, turns, values
        self._loads, self._stores, self.numbers = loads, stores, numbers

    def replay(self, stream: int, data: tuple[int, ...]) -> None:
        """Copy, replay and copy, for the addresses of results and operands."""
        self._turns.begin(stream)
        for place, copy, buffer in self._loads:
            copy(stream, buffer, data[len(self._stores) + place])
        self._recording.replay(stream)
        for out, (copy, source) in zip(data, self._stores, strict=False):
            copy(stream, out, source)
        self._turns.end(stream)


def _number(result: Tensor, taken: list[tuple[int, int]]) -> int | None:
    """Which allocation a C-contiguous result is as a whole: the last one of its address and its bytes."""
    wanted = result._data, result._layout.nbytes
    if not result._layout.contiguous or wanted not in taken:
        return None
    return len(taken) - 1 - taken[::-1].index(wanted)


def _refused_call(error: Exception) -> str:
    """The function of xpops whose call was refused, for an error; empty if it is unknown."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        module = frame.f_globals.get("__name__", "")
        if module.startswith(("xpops.api.", "xpops.arrays.")) and module != "xpops.api.foreign":
            return f"{frame.f_code.co_name} "
    return ""
