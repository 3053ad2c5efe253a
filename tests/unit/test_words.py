"""Words that kernels write for the host, on a pretended driver."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from tests.helpers.fake_driver import FakeContext, FakeDriver, pretend
from xpops.core.compiled import compiled

STREAM = 5


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    fake = pretend(monkeypatch)
    kept: list[Any] = []

    def allocate(nbytes: int, flags: int) -> Any:
        kept.append(ctypes.create_string_buffer(nbytes))
        return fake.cuStreamQuery(STREAM + 1)[0], ctypes.addressof(kept[-1])

    monkeypatch.setattr(fake, "cuMemHostAlloc", allocate, raising=False)
    return fake


@pytest.fixture
def gpu(driver: FakeDriver) -> Any:
    from xpops.engine.cuda.runtime import runtime, words

    made = runtime.Runtime.__new__(runtime.Runtime)
    made.context = context = FakeContext()  # type: ignore[assignment]
    made._words, made._events = words.HostWords(context), words.Events(context)  # type: ignore[arg-type]
    made.faults = runtime.Faults(made._words, "cuda:0")  # type: ignore[arg-type]
    return made


def write(address: int, number: int) -> None:
    ctypes.c_uint64.from_address(address).value = number


def test_an_answer_waits_for_its_own_kernel_only(gpu: Any, driver: FakeDriver) -> None:
    for number in (3, 0, 7):  # words are used again
        answer = gpu.ask(STREAM, lambda word, number=number: driver.launch(STREAM, lambda: write(word, number)))
        later: list[int] = []
        driver.launch(STREAM, lambda: later.append(1))  # noqa: B023
        assert answer() == number
        assert later == []
        driver.finish(STREAM)


@pytest.mark.skipif(compiled is None, reason="without the compiled core, every answer waits for an event")
def test_an_answer_that_is_there_needs_no_driver(gpu: Any, driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "cuEventSynchronize", None, raising=False)
    made: list[Any] = []
    monkeypatch.setattr(
        driver, "cuEventCreate", lambda flags: made.append(flags) or FakeDriver.cuEventCreate(driver, 0)
    )
    for number in range(5):
        assert gpu.ask(STREAM, lambda word, number=number: write(word, number))() == number
    assert len(made) == 1


def test_answers_may_be_taken_in_any_order(gpu: Any, driver: FakeDriver) -> None:
    answers = [
        gpu.ask(STREAM, lambda word, number=number: driver.launch(STREAM, lambda: write(word, number)))
        for number in range(4)
    ]
    assert [answers[number]() for number in (2, 0, 3, 1)] == [2, 0, 3, 1]
