"""CuPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import cupy

from xpops.core.devices import Device
from xpops.core.dtypes import INFO
from xpops.core.layouts import MAX_ALIGNMENT, Layout, alignment, exported_strides, layout_of
from xpops.engine import engine_of
from xpops.engine.cuda.runtime.capture import uncaptured
from xpops.engine.program import Data
from xpops.frameworks.adapter import (
    Adapter,
    Known,
    View,
    foreign_view,
    known_layout,
    order_before,
)
from xpops.frameworks.numpy import ndarray_views
from xpops.plan.cache import BoundedDict

# What `_key_of` returns -> what `read` returns.
_known: BoundedDict[tuple[Any, ...], Known] = BoundedDict(8192)
_VIEWS = ndarray_views(cupy)


class CupyAdapter(Adapter):
    """GPU memory from CuPy's pool, on CuPy's current stream."""

    name = "cupy"

    def is_array_type(self, cls: type) -> bool:
        return issubclass(cls, cupy.ndarray)

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        dtype = x.dtype
        item = dtype.itemsize
        if dtype not in INFO:
            raise TypeError(
                f"{function}: {argument} has dtype {dtype}; "
                f"accepted: {', '.join(known.name for known in INFO)}, by x.astype"
            )
        if any(step % item for step in x.strides):
            raise TypeError(
                f"{function}: {argument} has strides of {x.strides} bytes; "
                f"accepted: multiples of {item} for {dtype}, such as x.copy()"
            )
        device = Device(f"cuda:{x.device.id}")
        order_before(device, self.current_stream(device), stream)
        strides, address = tuple(step // item for step in x.strides), x.data.ptr
        layout = layout_of(dtype, x.shape, strides, device, alignment(address))
        return foreign_view(layout, address, x, True, f"{function}: {argument}")

    def lends(self, x: Any) -> bool:
        return type(x) is cupy.ndarray

    def views(self, cls: type) -> Mapping[str, Callable[..., Any]]:
        return _VIEWS if cls is cupy.ndarray else {}

    def learn(self, x: Any, layout: Layout) -> Known | None:
        if type(x) is not cupy.ndarray:
            return None
        key = _key_of(x, x.data)
        found = _known.get(key)
        if found is None:
            found = _known[key] = known_layout(self, layout)
        return found

    def read(self, x: Any) -> tuple[Known | None, Data]:
        pointer = x.data
        return _known.get(_key_of(x, pointer)), pointer.ptr

    def address(self, data: Data) -> int:
        return int(data)

    def allocator(self, layout: Layout) -> Callable[[int], tuple[Data, Any]]:
        item, nbytes, place = layout.dtype.itemsize, layout.nbytes, cupy.cuda.Device(layout.device.index)
        strides = tuple(step * item for step in exported_strides(layout))

        def new(stream: int) -> tuple[Data, Any]:
            with place:
                array = cupy.ndarray(layout.shape, layout.dtype, cupy.cuda.alloc(nbytes), strides)
            return array.data.ptr, array

        return new

    def export(self, array: Any) -> Any:
        return cupy.from_dlpack(array)

    def release_cache(self) -> None:
        cupy.get_default_memory_pool().free_all_blocks()

    @contextmanager
    def recording(self, device: Device, stream: int) -> Iterator[object]:
        pool, engine = cupy.cuda.MemoryPool(), engine_of(device)

        def allocate(nbytes: int) -> Any:
            with uncaptured(engine.current()):  # the pool may call cudaMalloc
                return pool.malloc(nbytes)

        with (
            cupy.cuda.Device(device.index),
            _stream_of(stream, device.index),
            cupy.cuda.using_allocator(allocate),
        ):
            yield pool

    def current_stream(self, device: Device) -> int:
        handle: int = cupy.cuda.get_current_stream(device.index).ptr
        return handle


def _key_of(x: Any, pointer: Any) -> tuple[Any, ...]:
    """All properties on which a call depends, but for the memory of `x`, to which `pointer` points.

    The pointer knows the device's number; `x` would make an object of it.
    """
    return x.dtype, x.shape, x.strides, pointer.device_id, pointer.ptr & (MAX_ALIGNMENT - 1)


class _Handle:
    """A stream's handle, with the protocol of CUDA's streams."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle


def _stream_of(handle: int, index: int) -> Any:
    """CuPy's stream with a handle. Before CuPy 14 its streams could not be made by the protocol."""
    if hasattr(cupy.cuda.Stream, "from_external"):
        return cupy.cuda.Stream.from_external(_Handle(handle))
    return cupy.cuda.ExternalStream(handle, index)


ADAPTER = CupyAdapter()
