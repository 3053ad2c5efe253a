"""Fixtures for tests that need no device."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xpops as xp
import xpops.engine
from tests.helpers.emulator import GPU, STREAM, EmulatedEngine
from tests.helpers.sass import stack_bytes
from tests.helpers.stacks import allowed_stack
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.dispatch import calls, primitives, steady
from xpops.engine.cuda.runtime.compiler import Answer, Compilers, Request


class PretendedEngine(EmulatedEngine):
    """An emulated engine that counts compilations and launches, and records the streams it orders."""

    def __init__(self) -> None:
        super().__init__(workers=2)  # because blocks of scans wait for each other
        self.sources, self.launches, self.orders = 0, 0, list[tuple[int, int]]()

    def launcher(self, *arguments: Any, **options: Any) -> Callable[..., None]:
        launch = super().launcher(*arguments, **options)
        self.sources += 1

        def counted(*values: Any) -> None:
            self.launches += 1
            launch(*values)

        return counted

    def order(self, first: int, then: int) -> None:
        self.orders.append((first, then))

    def array(self, host: Any) -> Any:
        """An xpops array on the pretended GPU."""
        host = np.array(host, order="C")
        layout = layout_of(host.dtype, host.shape, None, GPU)
        data, owner = self.allocate(layout, STREAM)
        self.from_host(host, data, layout, STREAM)
        return xp.Array(layout, data, owner)


@pytest.fixture(autouse=True)
def stacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Read the stack of every kernel that a test compiles: none may have more than is allowed."""
    beyond, compile_request = list[str](), Compilers.compile

    def compile_and_read(self: Compilers, request: Request) -> Answer:
        answer = compile_request(self, request)
        if answer.log is None and answer.binary.startswith(b"\x7fELF"):
            stack, allowed = stack_bytes(answer.binary), allowed_stack(request.name, request.source)
            if stack > allowed:
                beyond.append(
                    f"{request.name} {request.options[0]}: {stack} bytes, allowed {allowed}\n{request.source}"
                )
        return answer

    monkeypatch.setattr(Compilers, "compile", compile_and_read)
    yield
    assert not beyond, "\n".join(beyond)


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[PretendedEngine]:
    """Install the emulator in every module that looks up engines, so that public functions run on it."""
    emulated, real = PretendedEngine(), xpops.engine.engine_of
    caches = (steady.launches, steady.writes, calls._calls, primitives._programs)

    def engine_of(device: Device) -> Any:
        return emulated if device == GPU else real(device)

    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "xpops" and getattr(module, "engine_of", None) is real:
            monkeypatch.setattr(module, "engine_of", engine_of)
    for cache in caches:  # they may hold kernels of a real GPU
        cache.clear()
    yield emulated
    for cache in caches:
        cache.clear()
