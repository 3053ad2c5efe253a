"""`xp.graph` on the emulated GPU: what it records and replays, without a GPU."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.emulator import STREAM
from tests.unit.conftest import PretendedEngine
from xpops.dispatch import steady
from xpops.dispatch.direct import run_directly


class Recorded:
    """A graph: launches with their arguments."""

    def __init__(self, recorder: Recorder, work: list[Callable[[], None]]) -> None:
        self.recorder, self.work = recorder, work

    def replay(self, stream: int) -> None:
        self.recorder.replays += 1
        for launch in self.work:
            launch()


class Lent:
    """A block that returns to a list when it is dropped, as those of the pool do."""

    def __init__(self, block: Any, free: list[Any]) -> None:
        self.block, self.free = block, free

    def __del__(self) -> None:
        self.free.append(self.block)


class Recorder:
    """Keeps the launches of the pretended engine while a function is recorded, instead of running them."""

    def __init__(self, engine: PretendedEngine) -> None:
        self.work: list[Callable[[], None]] | None = None
        self.records = self.replays = 0
        self._taken: list[tuple[int, int]] = []
        self._placed: dict[int, tuple[int, int]] = {}
        self._kept: list[Any] = []
        self._free: dict[int, list[Any]] = {}
        self._launcher, self._allocator = engine.launcher, engine.pool.allocator
        engine.launcher, engine.pool.allocator = self.launcher, self.allocator  # type: ignore[method-assign]
        engine.recorder = self  # type: ignore[assignment]
        engine.retain = lambda owner, stream: self._kept.append(owner)  # type: ignore[method-assign]

    def record(self, run: Callable[[int], None], placed: dict[int, tuple[int, int]]) -> Any:
        self.records += 1
        self.work, self._taken, self._placed = [], [], placed
        try:
            run(STREAM)
            return Recorded(self, self.work), self._taken
        finally:
            self.work = None

    def launcher(self, *arguments: Any, **options: Any) -> Callable[..., None]:
        launch = self._launcher(*arguments, **options)

        def launch_or_keep(*values: Any) -> None:
            if self.work is None:
                launch(*values)
            else:
                self.work.append(lambda: launch(*values))

        return launch_or_keep

    def allocator(self, nbytes: int) -> Callable[[int], Any]:
        allocate = self._allocator(nbytes)

        def allocate_and_note(stream: int) -> Any:
            if self.work is None:
                free = self._free.setdefault(nbytes, [])
                block = free.pop() if free else allocate(stream)[1]
                return block.address, Lent(block, free)
            address, size = self._placed.get(len(self._taken), (0, -1))
            address, block = (address, None) if size == nbytes else allocate(stream)
            self._taken.append((address, nbytes))
            self._kept.append(block)
            return address, block

        return allocate_and_note


class NoTurns:
    def __init__(self, context: Any) -> None:
        pass

    def begin(self, stream: int) -> None:
        pass

    end = begin


@pytest.fixture
def recorder(pretended: PretendedEngine, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    found = Recorder(pretended)
    pretended.context.index = 7  # no real GPU's stream changes
    for module in ("xpops.dispatch.replay", "xpops.engine.cuda.runtime.capture"):
        monkeypatch.setattr(f"{module}.is_capturing", lambda stream: found.work is not None)
    monkeypatch.setattr("xpops.dispatch.replay.Turns", NoTurns)
    return found


def write(x: Any, host: Any) -> None:
    x[...] = float(host)


def test_one_replay_a_call(pretended: PretendedEngine, recorder: Recorder) -> None:
    """A loop gets to a state in which a call is one replay, without copies, and no planning."""
    step = xp.graph(lambda x, y: (x + y) * 2 - xp.sqrt(y))
    x, y = (pretended.array(np.full((4, 33), value, np.float32)) for value in (1, 9))
    for _ in range(6):
        result = step(x, y)
    found = []
    for number in range(4):
        write(x, number)
        before = pretended.launches, recorder.replays, recorder.records
        result = step(x, y)
        found.append((pretended.launches - before[0], recorder.replays - before[1], recorder.records - before[2]))
        assert result.to_numpy().tolist() == [[(number + 9) * 2 - 3.0] * 33] * 4
    assert found[-1] == (4, 1, 0), "as many launches as the function has"


def test_results_stay_and_new_arrays_are_read(pretended: PretendedEngine, recorder: Recorder) -> None:
    step = xp.graph(lambda x, w, k: (x * w + k, x))
    w = pretended.array(np.full(70, 3, np.float32))
    arrays = [pretended.array(np.full(70, number, np.float32)) for number in range(30)]
    kept = [(number, k, step(x, w, k)) for number, x in enumerate(arrays) for k in (1, 2.5)]
    for number, k, (product, same) in kept:
        assert product.to_numpy().tolist() == [3.0 * number + k] * 70
        assert same.to_numpy().tolist() == [number] * 70


def test_addresses_do_not_keep_memory(pretended: PretendedEngine, recorder: Recorder) -> None:
    """The addresses of JAX's arrays keep the arrays' memory: none is left when its call is done."""
    left = [0]

    class Address(int):
        def __del__(self) -> None:
            left[0] -= 1

    step = xp.graph(lambda x: x + 1)
    arrays = [pretended.array(np.full(70, number, np.float32)) for number in range(9)]
    for _ in range(2):
        step(arrays[0])
    (launch,) = (launch for key, launch in steady.launches.items() if key[0] is step._way)  # type: ignore[attr-defined]
    for x in arrays * 3:
        left[0] += 1
        assert float(launch(Address(x._data))[3]) == float(x[3]) + 1
        assert left[0] == 0


def test_layouts(pretended: PretendedEngine, recorder: Recorder) -> None:
    step = xp.graph(lambda x: x + 1)
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    x = pretended.array(host)
    for _ in range(5):
        for view in (slice(None), slice(1, 3), (slice(None), slice(None, None, 2)), (slice(None), slice(1, 4))):
            np.testing.assert_array_equal(step(x[view]).to_numpy(), host[view] + 1)
        np.testing.assert_array_equal(step(x.T).to_numpy(), host.T + 1)


def test_the_first_call_runs_the_function_once(pretended: PretendedEngine, recorder: Recorder) -> None:
    total = pretended.array(np.zeros(50, np.float32))

    @xp.graph
    def accumulate(x: Any) -> Any:
        total[...] = total + x
        return total

    x = pretended.array(np.ones(50, np.float32))
    results = [accumulate(x) for _ in range(7)]
    assert [float(each[49]) for each in results] == [1, 2, 3, 4, 5, 6, 7]


def test_waits_and_writes_are_refused(pretended: PretendedEngine, recorder: Recorder) -> None:
    x = pretended.array(np.ones(50, np.float32))
    with pytest.raises(ValueError, match="read-only"):
        xp.graph(lambda x: xp.add(x, 1, out=x))(x)

    @xp.graph
    def waits(x: Any) -> Any:
        if recorder.work is not None:  # the emulator waits without asking
            xp.nonzero(x)
        return x + 1

    def refuse(*arguments: Any) -> None:
        raise xp.DeviceError("a wait cannot be captured in a CUDA graph")

    pretended.ask = refuse  # type: ignore[method-assign,assignment]
    for _ in range(2):
        with pytest.raises(xp.DeviceError, match=r"waits: nonzero cannot be recorded: a wait"):
            waits(x)


def test_a_graph_in_a_graph(pretended: PretendedEngine, recorder: Recorder) -> None:
    inner = xp.graph(lambda x: x * 2)
    outer = xp.graph(lambda x: inner(x) + inner(x + 1))
    x = pretended.array(np.zeros(50, np.float32))
    for number in range(6):
        write(x, number)
        assert float(outer(x)[3]) == 4 * number + 2
        assert float(inner(x)[3]) == 2 * number


def test_a_dropped_graph_leaves_no_launches(pretended: PretendedEngine, recorder: Recorder) -> None:
    x = pretended.array(np.zeros(50, np.float32))
    step = xp.graph(lambda x, k: x + k)
    before = set(steady.launches)
    for k in (1, 2, 3):
        for _ in range(3):
            step(x, k)
    ways = {key[0] for key in steady.launches if isinstance(key[0], tuple) and type(key[0][0]) is object}
    assert len(ways) == 3
    del step
    gc.collect()
    assert not {key for key in set(steady.launches) - before if key[0] in ways}


def test_many_layouts_are_bounded(pretended: PretendedEngine, recorder: Recorder) -> None:
    from xpops.api.graph import LIMIT, Graph

    step = xp.graph(lambda x: x + 1)
    assert isinstance(step, Graph)
    for size in range(1, LIMIT + 10):
        for _ in range(2):
            assert float(step(pretended.array(np.zeros(size, np.float32)))[size - 1]) == 1
        assert len(step._replays) <= LIMIT


def test_within_a_capture(pretended: PretendedEngine, recorder: Recorder) -> None:
    """Another library captures: the call launches what the function launches, on any call."""
    step = xp.graph(lambda x: x * 3 + 1)
    x = pretended.array(np.ones(50, np.float32))
    for calls in (0, 5):
        for _ in range(calls):
            step(x)
        recorder.work = []
        result = step(x)
        work, recorder.work = recorder.work, None
        write(x, 5)
        for launch in work:
            launch()
        assert float(result[7]) == 16
        write(x, 1)


def test_a_function_runs_directly(pretended: PretendedEngine) -> None:
    x = pretended.array(np.arange(6, dtype=np.float32))
    program = run_directly("name", lambda x: x[::2] + 1, (x._layout,), STREAM, x._data)
    out = pretended.array(np.zeros(3, np.float32))
    program.kernel(STREAM, out._data)
    assert out.to_numpy().tolist() == [1, 3, 5]


def test_replaced_arrays_of_the_closure(pretended: PretendedEngine, recorder: Recorder) -> None:
    """The recording goes on with the arrays that it was made with; no other recording mixes both."""
    holder = {"w": pretended.array(np.full(50, 3.0, np.float32))}
    step, x, y = (
        xp.graph(lambda x: x * holder["w"]),
        pretended.array(np.ones(50, np.float32)),
        pretended.array(np.ones(50, np.float32)),
    )
    step(x)
    holder["w"] = pretended.array(np.full(50, 5.0, np.float32))
    for _ in range(4):
        np.testing.assert_array_equal(step(x).to_numpy(), np.full(50, 3.0))
    with pytest.raises(xp.DeviceError, match="uses other arrays than when it was recorded"):
        step(y)
    np.testing.assert_array_equal(step(x).to_numpy(), np.full(50, 3.0))
