"""Device memory on a pretended driver: the stream of freed blocks, and what happens if memory runs out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.helpers.fake_driver import FakeContext, FakeDriver, pretend
from xpops.core.errors import OutOfMemoryError
from xpops.engine.caches import other_caches
from xpops.engine.cuda.runtime.memory import KEPT_SHARE, MIDDLING, SMALL, Pool

A, B = 5, 9
TOTAL = 1 << 38
SIZES = [1000, SMALL + 1, MIDDLING + 1]
Make = Callable[[int], Pool]


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    return pretend(monkeypatch, TOTAL)


@pytest.fixture
def pool(driver: FakeDriver) -> Pool:
    context: Any = FakeContext()
    return Pool(context)


@pytest.mark.parametrize("size", SIZES)
def test_a_block_that_is_freed_under_late_work_is_not_written_by_another_stream(
    size: int, driver: FakeDriver, pool: Pool
) -> None:
    """The block is freed while a write on stream A is pending. Stream B must not get the block before that write."""
    allocate = pool.allocator(size)
    address, block = allocate(A)
    driver.write(A, address, "A's")
    del block
    other, kept = allocate(B)
    driver.write(B, other, "B's")
    driver.finish(B)
    driver.finish(A)
    assert driver.values[other] == "B's"
    assert kept.address == other


@pytest.mark.parametrize("size", SIZES)
def test_a_block_is_used_again_on_its_own_stream_at_once(size: int, driver: FakeDriver, pool: Pool) -> None:
    allocate = pool.allocator(size)
    for stream in (A, B, 0):
        address, block = allocate(stream)
        driver.write(stream, address, "late")
        del block
        assert allocate(stream)[0] == address


def test_a_block_that_no_list_has_room_for_is_freed_on_its_stream(driver: FakeDriver, pool: Pool) -> None:
    allocate = pool.allocator(MIDDLING)
    blocks = [allocate(A) for _ in range(TOTAL // KEPT_SHARE // MIDDLING + 2)]
    driver.launch(A, lambda: None)  # so that A is busy
    del blocks
    assert [stream for _, stream in driver.freed] == [A, A]
    assert pool.trim() == TOTAL // KEPT_SHARE


def test_lists_of_the_default_stream_make_room_for_others(driver: FakeDriver, pool: Pool) -> None:
    """Blocks of other streams stay in their lists: a free on this stream would not be ordered after their work."""
    small, other = pool.allocator(MIDDLING), pool.allocator(MIDDLING // 2)
    for stream in (A, 0):
        blocks = [small(stream) for _ in range(TOTAL // KEPT_SHARE // MIDDLING // 2)]
        del blocks
    assert driver.freed == []
    block = other(0)
    assert {stream for _, stream in driver.freed} == {0}
    assert len(driver.freed) == TOTAL // KEPT_SHARE // MIDDLING // 2
    del block
    assert len(driver.freed) == TOTAL // KEPT_SHARE // MIDDLING // 2, "the new size is kept"


def test_what_lists_keep_is_handed_back_before_memory_is_out(driver: FakeDriver, pool: Pool) -> None:
    allocate = pool.allocator(MIDDLING)
    blocks = [allocate(stream) for stream in (A, B, 0, A)]
    del blocks
    kept = 4 * MIDDLING
    assert sum(driver.held.values()) == kept
    large, block = pool.allocator(TOTAL - kept // 2)(A)
    assert driver.trims == 1
    assert list(driver.held) == [large]
    del block


def test_what_other_libraries_cache_is_asked_for_last(driver: FakeDriver, pool: Pool) -> None:
    """If that is not enough, the error states how much is free and how much was cached."""
    released: list[int] = []

    def release() -> None:
        released.append(driver.others)
        driver.others = 0

    other_caches.append(release)
    try:
        driver.others = 1 << 30
        _, block = pool.allocator(TOTAL - (1 << 30))(0)
        assert released == []
        del block
        address, block = pool.allocator(TOTAL)(0)
        assert released == [1 << 30]
        with pytest.raises(OutOfMemoryError, match=rf"cuda:0: 67,109,376 bytes .*; 0 of {TOTAL:,} .* after 0 cach"):
            pool.allocator(MIDDLING + 1)(0)
        assert list(driver.held) == [address]
        del block
    finally:
        other_caches.remove(release)


def test_what_is_freed_during_a_capture_is_freed_after_it(driver: FakeDriver, pool: Pool) -> None:
    address, block = pool.allocator(MIDDLING + 1)(A)
    driver.capturing.add(A)
    del block
    assert (driver.freed, driver.in_graphs) == ([], [])
    driver.capturing.clear()
    _, other = pool.allocator(MIDDLING + 1)(B)
    assert driver.freed == [(address, A)]
    del other


def test_what_is_freed_on_a_stream_that_is_gone_is_handed_back_by_a_trim(driver: FakeDriver, pool: Pool) -> None:
    _, block = pool.allocator(MIDDLING + 1)(A)
    driver.gone.add(A)
    del block
    assert driver.freed == []
    assert pool.trim() == 0
    assert driver.held == {}


# Settling: the driver gives freed memory to other libraries once somebody has waited for the stream that freed it.


class Ended(Exception):
    """Raised when there is nothing more to wait for."""


class Queue(list[Any]):
    """A queue that ends its reader when it is empty."""

    put = list.append

    def get(self) -> Any:
        if not self:
            raise Ended
        return self.pop(0)


@pytest.fixture
def settle(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Run the thread's work until there is none left."""
    settler = pool._settler
    monkeypatch.setattr(settler, "_freed", Queue())
    monkeypatch.setattr("xpops.engine.cuda.runtime.settling.time.sleep", lambda seconds: None)

    def work() -> None:
        with pytest.raises(Ended):
            settler._run()

    return work


def test_what_an_idle_stream_frees_is_settled_at_once(driver: FakeDriver, pool: Pool) -> None:
    _, block = pool.allocator(MIDDLING + 1)(A)
    del block
    assert driver.held == {}


@pytest.mark.parametrize("stream", [A, 0])
def test_what_a_busy_stream_frees_is_settled_in_time(
    stream: int, driver: FakeDriver, pool: Pool, settle: Callable[[], None]
) -> None:
    for _ in range(3):
        _, block = pool.allocator(MIDDLING + 1)(stream)
        driver.launch(stream, lambda: None)
        del block
        assert len(driver.held) == 1
        settle()
        assert driver.held == {}


def test_a_capture_keeps_the_settling_thread_from_the_default_stream(
    driver: FakeDriver, pool: Pool, settle: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, block = pool.allocator(MIDDLING + 1)(0)
    driver.launch(0, lambda: None)
    del block
    driver.gone.add(0)  # the driver answers like this while a blocking stream is captured
    settle()
    assert len(driver.held) == 1
    driver.gone.clear()
    _, block = pool.allocator(2 * MIDDLING)(0)
    del block
    settle()
    assert driver.held == {}
