"""Calls of NVIDIA's libraries: with the right context, by one thread at a time, on one stream."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from xpops.core.errors import DeviceError

pytest.importorskip("nvmath")
from cuda.bindings import driver
from nvmath.bindings import cusolver

from xpops.engine.cuda.libraries import loading
from xpops.engine.cuda.libraries.loading import Binding, Handle

OURS, ANOTHER, NONE = 5, 6, 0


class Context:
    """A device's context that counts how often it was made current."""

    def __init__(self) -> None:
        self.handle, self.entered, self.adopted = driver.CUcontext(OURS), 0, 0

    def adopt_thread(self) -> bool:
        adopts = self.current == NONE
        self.adopted += adopts
        return adopts

    def __enter__(self) -> None:
        self.entered += 1

    def __exit__(self, *exception: object) -> None:
        pass


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> Any:
    made: Any = Context()
    made.current = OURS
    answer = lambda: (driver.CUresult.CUDA_SUCCESS, driver.CUcontext(made.current))  # noqa: E731
    monkeypatch.setattr(loading.driver, "cuCtxGetCurrent", answer)
    return made


@pytest.mark.parametrize(("current", "entered", "adopted"), [(OURS, 0, 0), (ANOTHER, 1, 0), (NONE, 0, 1)])
def test_the_context_is_current(context: Any, current: int, entered: int, adopted: int) -> None:
    context.current = current
    with Binding("cufft", context).current():
        assert (context.entered, context.adopted) == (entered, adopted)


def test_a_forked_process_is_told(context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a forked process even a query of the driver may fail."""
    monkeypatch.setattr(loading.cuda_driver, "forked", True)
    monkeypatch.setattr(loading.driver, "cuCtxGetCurrent", None)
    with Binding("cufft", context).current():
        assert context.entered == 1


@pytest.mark.parametrize("error", [cusolver.cuSOLVERError(2), RuntimeError("no library")], ids=repr)
def test_errors_name_the_function(context: Any, error: Exception) -> None:
    def refuse(*arguments: int) -> None:
        raise error

    binding = Binding("cusolverDn", context)
    binding._module = SimpleNamespace(xpotrf=refuse)  # type: ignore[assignment]
    with pytest.raises(DeviceError, match="cusolverDn: xpotrf: ") as raised:
        binding.function("xpotrf")(1, 2)
    assert raised.value.__cause__ is error
    assert ("pip install 'xpops[cuda]'" in str(raised.value)) == (type(error) is RuntimeError)


def test_the_stream_is_set_where_it_changes(context: Any) -> None:
    binding, streams = Binding("cublas", context), []
    binding._module = SimpleNamespace(set_stream=lambda *given: streams.append(given))  # type: ignore[assignment]
    handle = Handle(binding, 3)
    for stream in (0, 0, 7, 7, 0):
        with handle.on(stream) as value:
            assert value == 3
    assert streams == [(3, 0), (3, 7), (3, 0)]


def test_one_thread_at_a_time(context: Any) -> None:
    binding = Binding("cublas", context)
    binding._module = SimpleNamespace(set_stream=lambda *given: None)  # type: ignore[assignment]
    handle, second = Handle(binding, 3), threading.Event()

    def wait() -> None:
        with handle.on(0):
            second.set()

    thread = threading.Thread(target=wait)
    with handle.on(0):
        thread.start()
        assert not second.wait(0.05)
    assert second.wait(5)
    thread.join()


def test_an_error_gives_the_handle_back(context: Any) -> None:
    binding = Binding("cublas", context)
    binding._module = SimpleNamespace(set_stream=lambda *given: None)  # type: ignore[assignment]
    handle = Handle(binding, 3)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), handle.on(0) as value:
            value / 0
