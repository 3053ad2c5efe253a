"""CuPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cupy

from xpops.core.devices import Device
from xpops.core.dtypes import INFO
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.engine.program import Data
from xpops.frameworks.adapter import Adapter, View, exported_strides, foreign_view, order_before


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

    def allocate(self, layout: Layout) -> tuple[Any, Data] | None:
        item = layout.dtype.itemsize
        with cupy.cuda.Device(layout.device.index):
            memory = cupy.cuda.alloc(layout.nbytes)
            strides = tuple(step * item for step in exported_strides(layout))
            array = cupy.ndarray(layout.shape, layout.dtype, memory, strides)
        return array, array.data.ptr

    def export(self, array: Any) -> Any:
        return cupy.from_dlpack(array)

    def release_cache(self) -> None:
        cupy.get_default_memory_pool().free_all_blocks()

    def current_stream(self, device: Device) -> int:
        handle: int = cupy.cuda.get_current_stream(device.index).ptr
        return handle


ADAPTER = CupyAdapter()
