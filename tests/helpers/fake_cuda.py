"""A pretended GPU with host memory, to test the CUDA side of DLPack without a GPU."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest

import xpops.engine
from xpops.core.devices import Device
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.dispatch import Tensor
from xpops.engine.cpu.engine import CpuEngine
from xpops.frameworks import cuda_array_interface, memory

FAKE = Device("cuda:7")


class FakeCuda:
    """The primitives that DLPack needs, as in the CUDA engine: data are addresses, and streams are handles.

    Attributes
    ----------
    stream : int
        The current stream.
    orders : list of (int, int)
        The arguments of every `order` call.
    is_current : bool
        Whether the caller is inside ``with engine.current()``.
    unknown : container of int
        Addresses that do not belong to the pretended GPU.
    retained : list of (object, int)
        The arguments of every `retain` call.
    """

    is_host, dlpack_kind = False, 2

    def __init__(self) -> None:
        self.stream = 0
        self.orders: list[tuple[int, int]] = []
        self.is_current = False
        self.unknown: Container[int] = ()
        self.retained: list[tuple[Any, int]] = []

    def allocate(self, layout: Layout, stream: int) -> tuple[int, Any]:
        block = np.empty(layout.nbytes + 64, np.uint8)
        return block.ctypes.data + -block.ctypes.data % 64, block

    def allocator(self, layout: Layout) -> Any:
        return partial(self.allocate, layout)

    def sequence(self, kernel: Any, specs: tuple[Any, ...]) -> Any:
        return kernel

    def address(self, data: int) -> int:
        return data

    def view(self, data: int, offset: int, layout: Layout) -> int:
        return data + offset * layout.dtype.itemsize

    def adopt(self, address: int, layout: Layout, owner: Any, writable: bool) -> int:
        return address

    def to_host(self, data: int, layout: Layout, stream: int) -> np.ndarray:
        assert layout.contiguous
        host = np.empty(layout.shape, layout.dtype)
        ctypes.memmove(host.ctypes.data, data, layout.nbytes)
        return host

    def from_host(self, array: np.ndarray, data: int, layout: Layout, stream: int) -> None:
        assert array.flags.c_contiguous
        ctypes.memmove(data, array.ctypes.data, layout.nbytes)

    def device_at(self, address: int) -> Device | None:
        """Replaces a query of the driver: every address is on the pretended GPU, except those in `unknown`."""
        return None if address in self.unknown else FAKE

    def current_stream(self) -> int:
        return self.stream

    @contextmanager
    def current(self) -> Iterator[None]:
        self.is_current = True
        yield
        self.is_current = False

    def retain(self, owner: Any, stream: int) -> None:
        self.retained.append((owner, stream))

    def order(self, first: int, then: int) -> None:
        self.orders.append((first, then))

    def elementwise(self, op: Any, signature: Any, operands: tuple[Any, ...], out: Layout) -> Any:
        assert op.name == "identity"

        def kernel(stream: int, target: int, source: int) -> None:
            cpu = CpuEngine()
            cpu.adopt(target, out, None, True)[...] = cpu.adopt(source, operands[0], None, False)

        return kernel


def pretend(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    """Install the pretended GPU in every module that looks up engines."""
    fake, real = FakeCuda(), xpops.engine.engine_of

    def engine_of(device: Device) -> Any:
        return fake if device == FAKE else real(device)

    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "xpops" and getattr(module, "engine_of", None) is real:
            monkeypatch.setattr(module, "engine_of", engine_of)
    for module in (memory, cuda_array_interface):
        monkeypatch.setattr(module, "device_at", fake.device_at)
    return fake


def on_gpu(array: np.ndarray, writable: bool = True) -> Tensor:
    """The memory of an ndarray as a tensor of the pretended GPU."""
    strides = tuple(step // array.itemsize for step in array.strides)
    layout = layout_of(array.dtype, array.shape, strides, FAKE, alignment(array.ctypes.data))
    return Tensor(layout, array.ctypes.data, array, writable)
