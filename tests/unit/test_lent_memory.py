"""Memory of two owners on a pretended driver: memory must not be overwritten before pending work has read it.

The engine's real `order`, `retain` and pool run. The driver runs work only when something waits for it.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import pytest

from tests.helpers.fake_driver import FakeContext, FakeDriver, pretend
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.errors import DeviceError
from xpops.core.layouts import layout_of
from xpops.dispatch.ownership import Borrowed, Lent
from xpops.engine.cuda.engine import CudaEngine
from xpops.engine.cuda.runtime.memory import MIDDLING, SMALL, Pool
from xpops.engine.cuda.runtime.words import Events

OURS, THEIRS = 5, 9
GPU = Device("cuda")
sizes = pytest.mark.parametrize("size", [1000, SMALL + 1, MIDDLING + 1])


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return pretend(monkeypatch)


@pytest.fixture
def engine(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> CudaEngine:
    """The parts of a CUDA engine that manage memory, on the pretended driver."""
    made: Any = CudaEngine.__new__(CudaEngine)
    made.context = FakeContext()
    made.pool = Pool(made.context)
    made.current_stream = lambda: OURS
    made._retained, made._retained_lock, made._events = {}, threading.RLock(), Events(made.context)
    monkeypatch.setattr("xpops.dispatch.ownership.engine_of", lambda device: made)
    engine: CudaEngine = made
    return engine


class Owner:
    """A lender's array. The lender overwrites its memory, on its own stream, as soon as nothing refers to the array."""

    def __init__(self, driver: FakeDriver, address: int) -> None:
        self._driver, self._address = driver, address
        driver.write(THEIRS, address, "lent")

    def __del__(self) -> None:
        self._driver.write(THEIRS, self._address, "filled again")


@sizes
def test_a_consumer_reads_what_we_lent_before_it_is_filled_again(
    size: int, driver: FakeDriver, engine: CudaEngine
) -> None:
    allocate = engine.pool.allocator(size)
    address, block = allocate(OURS)
    driver.write(OURS, address, "lent")
    engine.order(OURS, THEIRS)  # as `__dlpack__` does
    memory = Lent(block, GPU, THEIRS, OURS)
    del block
    driver.finish(OURS)
    seen = driver.read(THEIRS, address)  # late
    del memory
    again, kept = allocate(OURS)
    driver.write(OURS, again, "filled again")
    driver.finish(OURS)
    driver.finish(THEIRS)
    assert seen == ["lent"]
    assert (again, driver.values[address]) == (address, "filled again"), "the memory was used again"
    del kept


@sizes
def test_what_is_lent_is_not_used_again_before_it_comes_back(size: int, driver: FakeDriver, engine: CudaEngine) -> None:
    allocate = engine.pool.allocator(size)
    address, block = allocate(OURS)
    memory = Lent(block, GPU, THEIRS, OURS)
    del block
    other, kept = allocate(OURS)
    assert other != address
    del memory, kept


def test_we_read_what_we_borrowed_before_its_lender_fills_it_again(driver: FakeDriver, engine: CudaEngine) -> None:
    memory = Borrowed(Owner(driver, 1), GPU, THEIRS)
    engine.order(THEIRS, OURS)  # as imports do
    seen = driver.read(OURS, 1)  # late
    del memory
    driver.finish(THEIRS)
    assert seen == ["lent"]
    assert driver.values[1] == "filled again"


def test_what_was_borrowed_of_nobody_known_is_kept_until_our_work_is_done(
    driver: FakeDriver, engine: CudaEngine
) -> None:
    memory = Borrowed(Owner(driver, 1), GPU, None)
    driver.finish(THEIRS)
    seen = driver.read(OURS, 1)
    del memory
    driver.finish(THEIRS)
    assert driver.values[1] == "lent"
    driver.finish(OURS)
    engine.retain(object(), OURS)  # the next retain drops owners whose work is done
    driver.finish(THEIRS)
    assert (seen, driver.values[1]) == (["lent"], "filled again")


def test_a_lender_whose_stream_is_gone_gets_its_memory_behind_our_work(driver: FakeDriver, engine: CudaEngine) -> None:
    memory = Borrowed(Owner(driver, 1), GPU, THEIRS)
    driver.finish(THEIRS)
    driver.gone.add(THEIRS)
    seen = driver.read(OURS, 1)
    del memory
    driver.finish(THEIRS)
    assert driver.values[1] == "lent"
    driver.finish(OURS)
    assert seen == ["lent"]


def test_what_is_retained_is_dropped_once(driver: FakeDriver, engine: CudaEngine) -> None:
    """For any order of the streams for which it is retained."""
    owners = [Owner(driver, i) for i in range(3)]
    gone = [weakref.ref(owner) for owner in owners]
    for owner, stream in zip(owners, (OURS, THEIRS, OURS), strict=True):
        engine.retain(owner, stream)
    del owners, owner
    driver.finish(THEIRS)
    engine.retain(None, THEIRS)
    assert [ref() is None for ref in gone] == [False, True, False]
    driver.finish(OURS)
    engine.retain(None, OURS)
    assert [ref() is None for ref in gone] == [True, True, True]


def test_a_captured_stream_is_not_ordered_with_another(driver: FakeDriver, engine: CudaEngine) -> None:
    driver.capturing.add(THEIRS)
    for first, then in ((OURS, THEIRS), (THEIRS, OURS)):
        with pytest.raises(DeviceError, match="one of which is captured"):
            engine.order(first, then)


def test_an_array_on_a_captured_stream_is_not_read(driver: FakeDriver, engine: CudaEngine) -> None:
    """Its values do not exist yet, and waiting for them would end the capture."""
    driver.capturing.add(OURS)
    with pytest.raises(DeviceError, match="reading an array on the host cannot be captured"):
        engine.to_host(1 << 30, layout_of(dt.float32, (4,), None, GPU), OURS)
