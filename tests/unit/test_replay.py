"""Recordings of functions on a pretended driver, whose work runs as late as possible."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from tests.helpers.fake_driver import FakeContext, FakeDriver, pretend
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.errors import DeviceError
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.tensor import Tensor

SIDE = 7
N = 1000


class Engine:
    """The parts of a runtime that recordings use, on the pretended driver."""

    def __init__(self, driver: FakeDriver) -> None:
        from xpops.engine.cuda.runtime import streams
        from xpops.engine.cuda.runtime.memory import Pool
        from xpops.engine.cuda.runtime.recording import Recorder

        self.driver, self.context = driver, FakeContext()
        context: Any = self.context
        self.pool = Pool(context)
        self.recorder = Recorder(context, self.pool)
        self.current_stream = streams.current(0)
        self.layout = layout_of(dt.float32, (N,), None, Device("cuda:0"))

    def allocate(self, layout: Layout, stream: int) -> tuple[int, Any]:
        return self.pool.allocator(layout.nbytes)(stream)

    def retain(self, owner: Any, stream: int) -> None:
        assert stream in self.driver.capturing
        self.pool.captures.memory(stream).keep(owner)

    def compute(self, function: Callable[..., float], *operands: Any) -> Tensor:
        """A new array, computed on the current stream from the values at the addresses of operands."""
        stream, values = self.current_stream(), self.driver.values
        address, block = self.allocate(self.layout, stream)
        sources = [each._data for each in operands]
        self.driver.launch(
            stream, lambda: values.__setitem__(address, function(*(values.get(each) for each in sources)))
        )
        return Tensor(self.layout, address, block)

    def array(self, value: float, stream: int = 0) -> Tensor:
        address, block = self.allocate(self.layout, stream)
        self.driver.write(stream, address, value)
        return Tensor(self.layout, address, block)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    driver = pretend(monkeypatch, 1 << 38)
    found = Engine(driver)

    def copier(source: Layout, target: Layout) -> Callable[..., None]:
        assert source.shape == target.shape

        def copy(stream: int, out: int, x: int) -> None:
            driver.launch(stream, lambda: driver.values.__setitem__(out, driver.values.get(x)))

        return copy

    for module in ("replay", "direct"):
        monkeypatch.setattr(f"xpops.dispatch.{module}.copier", copier)
    # No framework has memory on this device.
    monkeypatch.setattr("xpops.dispatch.replay.join_recording", lambda device, stream: nullcontext([]))
    yield found
    gc.collect()


def replay_of(engine: Engine, function: Callable[..., Any], *arrays: Tensor, results: int = 1, stream: int = 0) -> Any:
    from xpops.dispatch.replay import Replay

    given: Any = engine
    layouts = (engine.layout,) * results
    return Replay(
        given, "step", function, (engine.layout,) * len(arrays), layouts, stream, tuple(each._data for each in arrays)
    )


def call(engine: Engine, replay: Any, *arrays: Tensor, stream: int = 0) -> Tensor:
    """A call as the steady state makes it: new memory for the result."""
    address, block = engine.allocate(engine.layout, stream)
    replay(stream, address, *(each._data for each in arrays))
    return Tensor(engine.layout, address, block)


def value(engine: Engine, x: Tensor, stream: int = 0) -> Any:
    engine.driver.finish(stream)
    return engine.driver.values[x._data]


def test_new_data_at_the_same_address(engine: Engine) -> None:
    x = engine.array(2.0)
    replay = replay_of(engine, lambda x: engine.compute(lambda a: 10 * a, engine.compute(lambda a: a + 1, x)), x)
    for number in range(5):
        engine.driver.write(0, x._data, float(number))
        assert value(engine, call(engine, replay, x)) == 10 * (number + 1)


def test_new_data_at_another_address(engine: Engine) -> None:
    first, fixed = engine.array(1.0), engine.array(100.0)
    replay = replay_of(engine, lambda x, w: engine.compute(lambda a, b: a + b, x, w), first, fixed)
    arrays = [engine.array(float(number)) for number in range(200)]
    results = [call(engine, replay, x, fixed) for x in arrays]
    assert [value(engine, each) for each in results] == [100.0 + number for number in range(200)]
    moved = engine.array(1000.0)
    assert value(engine, call(engine, replay, first, moved)) == 1001
    assert value(engine, call(engine, replay, arrays[5], fixed)) == 105


def test_results_that_are_kept_do_not_change(engine: Engine) -> None:
    x = engine.array(0.0)
    replay = replay_of(engine, lambda x: engine.compute(lambda a: a + 0.5, x), x)
    results = []
    for number in range(20):
        engine.driver.write(0, x._data, float(number))
        results.append(call(engine, replay, x))
    assert [value(engine, each) for each in results] == [number + 0.5 for number in range(20)]


def test_a_loop_copies_nothing_soon(engine: Engine) -> None:
    """With the addresses of an earlier call there is one launch, which writes the result where the call wants it."""
    x = engine.array(1.0)
    replay = replay_of(engine, lambda x: engine.compute(lambda a: 3 * a, engine.compute(lambda a: a + 1, x)), x)
    result = call(engine, replay, x)
    for _ in range(6):
        result = call(engine, replay, x)
    engine.driver.finish(0)
    ran: list[int] = []
    for graph in engine.driver.graphs:
        graph.work.insert(0, lambda: ran.append(1))
    engine.driver.launch = lambda stream, work, launch=engine.driver.launch: (ran.append(0), launch(stream, work))  # type: ignore[method-assign,misc,assignment]
    result = call(engine, replay, x)
    assert ran == [0, 0, 0, 0]  # the mark above, two kernels, and the end of the launch
    assert value(engine, result) == 6


def test_a_state_is_fed_back(engine: Engine) -> None:
    state = engine.array(0.0)
    replay = replay_of(engine, lambda s: engine.compute(lambda a: a + 1, s), state)
    for _ in range(30):
        state = call(engine, replay, state)
    assert value(engine, state) == 30


def test_a_result_may_be_an_argument_or_appear_twice(engine: Engine) -> None:
    x = engine.array(1.0)

    def function(x: Any) -> Any:
        y = engine.compute(lambda a: a + 1, x)
        return y, y, x

    replay = replay_of(engine, function, x, results=3)
    kept = []
    for number in range(6):
        engine.driver.write(0, x._data, float(number))
        made = [engine.allocate(engine.layout, 0) for _ in range(3)]
        replay(0, *(address for address, _ in made), x._data)
        engine.driver.finish(0)
        assert [engine.driver.values[address] for address, _ in made] == [number + 1, number + 1, number]
        kept = made if number % 2 else kept  # so that addresses come back in another order


def test_calls_on_several_streams_do_not_disturb_each_other(engine: Engine) -> None:
    arrays = {stream: [engine.array(float(stream + number), stream) for number in range(4)] for stream in (0, SIDE)}
    replay = replay_of(engine, lambda x: engine.compute(lambda a: 2 * a, x), arrays[0][0])
    results = [(s, n, call(engine, replay, arrays[s][n], stream=s)) for n in range(4) for s in (0, SIDE)]
    engine.driver.finish_alternately(SIDE, 0)
    assert [engine.driver.values[each._data] for *_, each in results] == [2.0 * (s + n) for s, n, _ in results]


def test_arrays_of_the_closure_are_seen_anew_and_kept(engine: Engine) -> None:
    x, scale = engine.array(1.0), engine.array(5.0)
    holder = {"scale": scale}
    replay = replay_of(engine, lambda x: engine.compute(lambda a, b: a * b, x, holder["scale"]), x)
    engine.driver.write(0, scale._data, 7.0)
    assert value(engine, call(engine, replay, x)) == 7
    alive = weakref.ref(scale)
    holder["scale"] = engine.array(11.0)
    del scale
    gc.collect()
    assert alive() is not None
    others = [engine.array(13.0) for _ in range(50)]
    assert value(engine, call(engine, replay, x)) == 7
    del replay, others
    gc.collect()
    engine.pool.captures.collect()
    assert alive() is None


def test_an_error_ends_the_recording_and_passes_through(engine: Engine) -> None:
    x = engine.array(1.0)

    def fails(x: Any) -> Any:
        engine.compute(lambda a: a, x)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        replay_of(engine, fails, x)
    assert not engine.driver.capturing
    engine.pool.captures.collect()
    assert not engine.pool.captures._graphs
    replay = replay_of(engine, lambda x: engine.compute(lambda a: a + 1, x), x)
    assert value(engine, call(engine, replay, x)) == 2


def test_a_wait_is_refused_with_the_name_of_the_function(engine: Engine) -> None:
    def waits(x: Any) -> Any:
        raise DeviceError("reading an array on the host cannot be captured")

    with pytest.raises(DeviceError, match="step: cannot be recorded: reading an array"):
        replay_of(engine, waits, engine.array(1.0))


def test_another_stream_is_refused(engine: Engine) -> None:
    from xpops import stream

    class Stream:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, SIDE

    def switches(x: Any) -> Any:
        with stream(Stream()):
            return engine.compute(lambda a: a, x)

    with pytest.raises(DeviceError, match=r"step: .*another stream cannot be recorded"):
        replay_of(engine, switches, engine.array(1.0))


def test_results_of_another_shape_are_refused(engine: Engine) -> None:
    def other(x: Any) -> Any:
        found = engine.compute(lambda a: a, x)
        return Tensor(layout_of(dt.float32, (N // 2,), None, Device("cuda:0")), found._data, found._owner)

    with pytest.raises(ValueError, match=r"step: it returns .*\(500,\).* before"):
        replay_of(engine, other, engine.array(1.0))


def test_within_a_capture_the_function_itself_runs(engine: Engine) -> None:
    x = engine.array(3.0)
    replay = replay_of(engine, lambda x: engine.compute(lambda a: a + 1, x), x)
    result = engine.array(0.0)
    engine.driver.cuStreamBeginCapture(SIDE, None)
    replay(SIDE, result._data, x._data)
    _, graph = engine.driver.cuStreamEndCapture(SIDE)
    assert len(graph.work) == 2
    engine.driver.cuGraphInstantiate(graph, 0)
    engine.driver.write(0, x._data, 8.0)
    engine.driver.cuGraphLaunch(graph, 0)
    assert value(engine, result) == 9


def test_memory_goes_with_the_graph(engine: Engine) -> None:
    x = engine.array(3.0)
    replay = replay_of(engine, lambda x: engine.compute(lambda a: a + 1, x), x)
    result = call(engine, replay, x)
    assert value(engine, result) == 4
    before = len(engine.driver.freed)
    del replay
    gc.collect()
    assert not engine.driver.graphs
    engine.pool.captures.collect()
    assert len(engine.driver.freed) > before
    assert value(engine, result) == 4
