"""Selections that write their results before their sizes are known, on the emulated GPU."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import Block, Pool
from tests.unit.conftest import PretendedEngine
from xpops.core.errors import OutOfMemoryError
from xpops.core.guards import waits
from xpops.engine.cuda.kernels.selection.rooms import Rooms
from xpops.engine.cuda.runtime.memory import block_size

SIZE = 9001
HOST = np.random.default_rng(3).normal(size=SIZE).astype(np.float32)
# The numbers of selected elements of calls one after the other, with at least two like numbers before each change.
SERIES = {
    "same": [4000] * 5,
    "a few more and fewer": [4000, 4001, 4100, 3990, 4000, 3901],
    "growing beyond the memory": [4000, 4000, 4000, 6000, 6000, 6000, SIZE, SIZE, SIZE],
    "shrinking": [SIZE, SIZE, SIZE, 4000, 4000, 4000, 1, 1, 1],
    "none": [0, 0, 0, 5000, 0, 0, 0, SIZE],
    "alternating": [300, 8000] * 4,
    "alternating in pairs": [300, 300, 8000, 8000] * 3,
    "slowly growing": [int(100 * 1.05**k) for k in range(60)],
}
FORMS: dict[str, Callable[[Any, Any], tuple[Any, ...]]] = {
    "mask": lambda x, mask: (x[mask],),
    "mask of a view": lambda x, mask: (x[::-1][mask],),
    "mask of rows": lambda x, mask: (x[1:].reshape((3000, 3))[mask[:3000]],),
    "nonzero": lambda x, mask: tuple(mask.nonzero()),
    "nonzero of two axes": lambda x, mask: tuple(mask[1:].reshape((9, 1000)).nonzero()),
}


def mask_of(count: int, seed: int = 0) -> Any:
    """A mask of `SIZE` elements with `count` True."""
    mask = np.zeros(SIZE, np.bool_)
    mask[np.random.default_rng((count, seed)).permutation(SIZE)[:count]] = True
    return mask


def held(array: Any) -> int:
    """The bytes of the block that an array keeps."""
    block = array._owner
    return int(block._stop - block._start)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("series", SERIES)
def test_counts_that_change(series: str, form: str, pretended: PretendedEngine) -> None:
    call, x = FORMS[form], pretended.array(HOST)
    for number, count in enumerate(SERIES[series]):
        mask = mask_of(count, number)
        got, wanted = call(x, pretended.array(mask)), call(HOST, mask)
        for each, right in zip(got, wanted, strict=True):
            assert held(each) <= block_size(right.nbytes * 5 // 4)
            assert (each.dtype, each.shape) == (right.dtype, right.shape)
            np.testing.assert_array_equal(each.to_numpy(), right)


def test_earlier_results_are_kept(pretended: PretendedEngine) -> None:
    x, masks = pretended.array(HOST), [mask_of(4000, seed) for seed in range(6)]
    got = [x[pretended.array(mask)] for mask in masks]
    for each, mask in zip(got, masks, strict=True):
        np.testing.assert_array_equal(each.to_numpy(), HOST[mask])


def events_of(engine: PretendedEngine, monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any]) -> list[str]:
    """The launches of a call, and when it waits for the count, in order."""
    events, ask, before = [], engine.ask, engine.launches

    def logging_ask(stream: int, launch: Callable[[int], None]) -> Callable[[], int]:
        answer = ask(stream, launch)

        def wait() -> int:
            events.extend(["launch"] * (engine.launches - before) + ["wait"])
            return answer()

        return wait

    with monkeypatch.context() as patch:
        patch.setattr(engine, "ask", logging_ask)
        call()
    return events + ["launch"] * (engine.launches - before - events.count("launch"))


def test_the_third_like_call_does_not_wait_to_write(
    pretended: PretendedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels count, scan, and write."""
    x = pretended.array(HOST)
    masks = [pretended.array(mask_of(4000, seed)) for seed in range(5)]
    few = pretended.array(mask_of(10))
    waiting, guessing = ["launch"] * 2 + ["wait", "launch"], ["launch"] * 3 + ["wait"]
    seen = [events_of(pretended, monkeypatch, lambda mask=mask: x[mask]) for mask in (*masks, few, few, few, few)]
    assert seen == [waiting] * 2 + [guessing] * 3 + [[*guessing, "launch"], waiting, guessing, guessing]


def test_no_memory_for_the_guess(pretended: PretendedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result has room where the guess has none."""
    x = pretended.array(HOST)
    for _ in range(3):
        x[pretended.array(mask_of(8000))]
    mask, allocator, refused = mask_of(100), Pool.allocator, []

    def limited(self: Pool, nbytes: int) -> Callable[[int], tuple[int, Block]]:
        def refuse(stream: int) -> tuple[int, Block]:
            refused.append(nbytes)
            raise OutOfMemoryError("there is no more")

        return refuse if nbytes > 32000 else allocator(self, nbytes)

    given = pretended.array(mask)
    with monkeypatch.context() as patch:
        patch.setattr(Pool, "allocator", limited)
        np.testing.assert_array_equal(x[given].to_numpy(), HOST[mask])
        assert len(refused) == 1
        with pytest.raises(OutOfMemoryError):
            x[pretended.array(mask_of(8500))]
    np.testing.assert_array_equal(x[given].to_numpy(), HOST[mask])


def test_waits_are_reported_before_anything_is_launched(pretended: PretendedEngine) -> None:
    x, mask = pretended.array(HOST), pretended.array(mask_of(4000))
    for _ in range(4):
        x[mask]
        before = pretended.launches
        with pytest.raises(AssertionError, match="depends on the data"), waits.forbid():
            x[mask]
        assert pretended.launches == before


def test_threads_with_one_plan(pretended: PretendedEngine) -> None:
    x, counts = pretended.array(HOST), ([4000] * 12, [300] * 12, [4000, 300] * 6)
    x[pretended.array(mask_of(4000))]
    wrong: list[Any] = []

    def work(series: list[int], seed: int) -> None:
        for number, count in enumerate(series):
            mask = mask_of(count, 100 * seed + number)
            got = x[pretended.array(mask)].to_numpy()
            if not np.array_equal(got, HOST[mask]):
                wrong.append((seed, number, count))

    threads = [threading.Thread(target=work, args=(series, seed)) for seed, series in enumerate(counts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("count", [1, 31, 127, 128, 129, 1000, 2**17 - 1, 2**20 + 1, 2**26, 2**27 + 5, 2**33], ids=str)
def test_rooms(count: int, width: int) -> None:
    rooms = Rooms(width)
    assert rooms.next() == (0, False)
    rooms.check(0, count)
    room, _ = rooms.next()
    assert count * 17 // 16 <= room
    assert rooms.check(room, count)
    assert rooms.next() == (room, True)
    for other in (room - room // 32, room, max(room * 15 // 16, 1)):
        assert rooms.check(room, other)
        assert rooms.next() == (room, True)
    assert not rooms.check(room, room + 1)
    bigger, is_likely = rooms.next()
    assert bigger > room
    assert not is_likely
    if bigger * width > 2**12:
        assert not rooms.check(bigger, bigger // 2)


@pytest.mark.parametrize(("few", "many"), [(0, 1000), (1000, 1500), (2**20, 2**21), (2**27, 2**27 * 3 // 2)])
def test_there_is_no_guess_if_counts_alternate(few: int, many: int) -> None:
    rooms = Rooms(4)
    rooms.check(0, many)
    for count in (few, many) * 3:
        room, is_likely = rooms.next()
        assert not is_likely
        rooms.check(room, count)
    assert not rooms.next()[1]
