"""PyTorch tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
import torch

from xpops.core import dtypes as dt
from xpops.core.compiled import compiled
from xpops.core.devices import CPU, Device
from xpops.core.dtypes import DType
from xpops.core.layouts import MAX_ALIGNMENT, Layout, alignment, exported_strides, layout_of
from xpops.core.promotion import SCALAR_TYPES
from xpops.engine import engine_of
from xpops.engine.cuda.runtime import streams
from xpops.engine.program import Data
from xpops.frameworks.adapter import Adapter, Known, R, View, known_layout, order_before
from xpops.frameworks.differentiable import Differentiable, Facts
from xpops.frameworks.torch_elementwise import elementwise_launch
from xpops.frameworks.torch_functions import TORCH_DTYPES
from xpops.frameworks.torch_gradients import OF_COMPILER, constant, facts_of, is_traced, record, recorder
from xpops.frameworks.torch_kernels import torch_kernel
from xpops.frameworks.torch_modes import outside_modes
from xpops.frameworks.torch_pools import LentPool
from xpops.frameworks.torch_refusals import reason_of, require_plain
from xpops.ops.operator import Operator
from xpops.plan.cache import BoundedDict
from xpops.plan.signature import Operand

# torch.Tensor.numpy does not know the dtypes of ml_dtypes. These torch dtypes have the same width.
_PLAIN = {dt.bfloat16: torch.int16, **dict.fromkeys(dt.FLOAT8, torch.uint8)}
_DTYPES = {theirs: ours for ours, theirs in TORCH_DTYPES.items()}
# (dtype, shape, strides, device, alignment), as torch's objects -> layout: saves the conversion in later calls.
_layouts: BoundedDict[tuple[Any, ...], Layout] = BoundedDict(8192)
# What `_key_of` returns -> what `read` returns.
_known: BoundedDict[tuple[Any, ...], Known] = BoundedDict(8192)
# Cached, since it takes a microsecond to make a torch.device.
_devices: dict[Device, torch.device] = {}
# Tensors have no negative strides, so torch has no view that flips.
_VIEWS: dict[str, Callable[..., Any]] = {
    "reshape": torch.reshape,  # the functions take a tuple in half the time of the methods
    "permute": torch.permute,
    "mT": attrgetter("mT"),
    "broadcast_to": torch.broadcast_to,
    "unstack": torch.unbind,
    "diagonal": torch.diagonal,
}
_VIEWED = (torch.Tensor, torch.nn.Parameter, *OF_COMPILER)
_MISALIGNED = MAX_ALIGNMENT - 1
# The types of data on the host that kernels take as they are; the `out` of another framework is an ndarray.
_READY = (*SCALAR_TYPES, np.ndarray)

# Torch's compiler makes tensors without the dispatcher, which takes half the time. If this torch has no compiler, -1 is
# the current device: no device has this index.
_guards: Any = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
_new_on_host: Any = getattr(_guards, "_empty_strided_cpu", None)
_new_on_current: Any = getattr(_guards, "_empty_strided_cuda", None)
_current_device: Any = getattr(torch._C, "_cuda_getDevice", None) if _new_on_current else lambda: -1

# Torch counts writes, so that autograd can refuse a backward pass that would read overwritten values. The public
# function only wraps the private one.
increment_version: Callable[[Any], None] = getattr(
    torch._C, "_increment_version", torch.autograd.graph.increment_version
)


class TorchAdapter(Adapter):
    """Memory from torch's allocator, on torch's current stream. Views use the attributes of tensors, not DLPack.

    On the host, launches take the tensors themselves.
    """

    name = "torch"

    def is_array_type(self, cls: type) -> bool:
        return issubclass(cls, torch.Tensor)

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        if x.requires_grad and torch.is_grad_enabled():
            raise TypeError(
                f"{function}: {argument} requires grad, and this call has no gradient; "
                "accepted: the call within torch.no_grad(), or x.detach()"
            )
        if type(x) is not torch.Tensor:
            require_plain(type(x), function, argument)
        # If the memory holds other values than the tensor (a lazy conjugate or negative), view a copy, read-only.
        given, x = x, self.resolve(x)
        writable = x is given
        try:
            address = x.data_ptr()
            key = (x.dtype, x.shape, x.stride(), x.device, alignment(address))
        except RuntimeError as error:
            raise TypeError(f"{function}: {argument} {reason_of(x)}") from error
        layout = _layouts.get(key)
        if layout is None:
            layout = _layouts[key] = _layout_of(*key, f"{function}: {argument}")
        device = layout.device
        if device is CPU:
            return View(layout, engine_of(CPU).adopt(address, layout, x, writable), x, writable)
        order_before(device, _current_raw_stream(device.index), stream)
        return View(layout, address, x, writable)

    def lends(self, x: Any) -> bool:
        return type(x) is torch.Tensor and not x.requires_grad

    def records(self, x: Any) -> bool:
        return (x.requires_grad and torch.is_grad_enabled()) or is_traced(x)

    def is_traced(self, x: Any) -> bool:
        return isinstance(x, torch.Tensor) and is_traced(x)

    def overwrites(self, x: Any) -> bool:
        return type(x) in OF_COMPILER and not (x.requires_grad and torch.is_grad_enabled())

    def overwrite(self, x: Any, value: Any) -> None:
        x.copy_(value)

    def record(self, call: Differentiable, arguments: tuple[Any, ...]) -> Any:
        for x in arguments:
            if type(x) in OF_COMPILER:
                from xpops.frameworks import torch_compiler

                return torch_compiler.call(call, arguments)
        return record(call, arguments)

    def recorder(self, call: Differentiable, arguments: tuple[Any, ...], results: Any) -> Callable[..., Any] | None:
        return recorder(call, arguments, results)

    def facts(self, x: Any) -> Facts:
        return facts_of(x)

    def constant(self, array: Any, like: Any) -> Any:
        return constant(super().constant(array, like), like)

    def without_gradient(self, x: Any) -> Any:
        return x.detach() if x.requires_grad else x  # within a transform, torch wraps what `detach` returns

    def views(self, cls: type) -> Mapping[str, Callable[..., Any]]:
        return _VIEWS if cls in _VIEWED else {}

    def learn(self, x: Any, layout: Layout) -> Known | None:
        key = _key_of(x)
        found = _known.get(key)
        if found is None:
            found = _known[key] = known_layout(self, layout)
        return found

    def read(self, x: Any) -> tuple[Known | None, Data]:
        try:
            found = _known.get(_key_of(x))
        except RuntimeError:  # nested and sparse tensors, and those of transforms, lack properties
            return None, None
        if found is not None and x.requires_grad and torch.is_grad_enabled():
            return known_layout(self, found.layout, True), x
        return found, x if found is None or found.is_host else x.data_ptr()

    def exchange(self, cls: type) -> tuple[object, Callable[[], bool]] | None:
        capsule = getattr(cls, "__dlpack_c_exchange_api__", None)
        return None if capsule is None else (capsule, torch.is_grad_enabled)

    def data_of(self, view: View) -> Data:
        return view.owner if view.layout.device is CPU else view.data

    def address(self, data: Data) -> int:
        return data if data.__class__ is int else data.data_ptr()

    def allocator(self, layout: Layout) -> Callable[[int], tuple[Data, Any]]:
        device, shape, strides = layout.device, layout.shape, exported_strides(layout)
        place = _devices.get(device)
        if place is None:
            place = _devices[device] = torch.device(device)
        dtype, index, current = TORCH_DTYPES[layout.dtype], device.index, _current_device
        elsewhere = partial(torch.empty_strided, shape, strides, dtype=dtype, device=place)
        new = _new_on_host if device is CPU else _new_on_current
        if compiled is not None and new is not None:
            fast: Callable[[int], tuple[Data, Any]] = compiled.Maker(
                new, (shape, strides, dtype), None if device is CPU else current, index, elsewhere
            )
            return fast

        def new_on_host(stream: int) -> tuple[Data, Any]:
            tensor = elsewhere() if new is None else new(shape, strides, dtype)
            return tensor, tensor

        def new_on_gpu(stream: int) -> tuple[Data, Any]:
            tensor = new(shape, strides, dtype) if current() == index else elsewhere()
            return tensor.data_ptr(), tensor

        return new_on_host if device is CPU else new_on_gpu

    def host_kernel(
        self, specs: tuple[Operand, ...], way: Any, layouts: tuple[Layout, ...], kernel: Callable[..., R]
    ) -> Callable[..., R]:
        def on_ndarrays(stream: int, *data: Any) -> R:
            return kernel(stream, *[x if x.__class__ in _READY else _to_ndarray(x) for x in data])

        return outside_modes(torch_kernel(specs, way, layouts, on_ndarrays) or on_ndarrays)

    def host_launch(
        self, op: Operator, specs: tuple[Operand, ...], dtype: DType | None, out: Layout, launch: Callable[..., R]
    ) -> Callable[..., R]:
        chosen = elementwise_launch(op, specs, dtype, out, launch)

        def make_plain(*data: Any) -> Any:
            result = chosen(*data)
            return result if result.__class__ is torch.Tensor else result.as_subclass(torch.Tensor)

        return launch if chosen is launch else outside_modes(make_plain)

    def export(self, array: Any) -> Any:
        return torch.from_dlpack(array)

    def resolve(self, x: Any) -> Any:
        return x.resolve_conj().resolve_neg() if x.is_conj() or x.is_neg() else x

    def written(self, x: Any) -> None:
        increment_version((x,))

    def release_cache(self) -> None:
        if torch.cuda.is_initialized() and not torch.cuda.is_current_stream_capturing():
            torch.cuda.empty_cache()

    @contextmanager
    def recording(self, device: Device, stream: int) -> Iterator[object]:
        if not torch.cuda.is_initialized():  # then there are no tensors on a GPU
            yield None
            return
        place, lent = torch.device(device), LentPool(device)
        with (
            torch.cuda.stream(torch.cuda.ExternalStream(stream, place)),
            torch.cuda.use_mem_pool(lent.pool, place),
        ):
            yield lent

    def current_stream(self, device: Device) -> int | None:
        return None if device is CPU else _current_raw_stream(device.index)

    def stream_of(self, device: Device) -> Callable[[], int] | None:
        return None if device is CPU else partial(_current_raw_stream, device.index)


def _key_of(x: torch.Tensor) -> tuple[Any, ...]:
    """All properties on which a call depends, but for the memory of `x`."""
    lazy = x.is_neg() or x.is_conj()
    return x.dtype, x.shape, x.stride(), x.device, x.data_ptr() & _MISALIGNED, lazy


def _to_ndarray(x: torch.Tensor) -> np.ndarray[Any, Any]:
    """The memory of a tensor on the host as an ndarray."""
    dtype = _DTYPES[x.dtype]
    plain = _PLAIN.get(dtype)
    x = x.detach()
    array: np.ndarray[Any, Any] = x.numpy() if plain is None else x.view(plain).numpy().view(dtype)
    return array


def _stream_from_object(index: int) -> int:
    handle: int = torch.cuda.current_stream(index).cuda_stream
    return handle


# The private function makes no stream object, which saves a microsecond; builds without CUDA lack it.
_current_raw_stream: Callable[[int], int] = getattr(torch._C, "_cuda_getCurrentRawStream", _stream_from_object)

ADAPTER = TorchAdapter()


def follow_captures() -> None:
    """From now on, calls on xpops arrays join a capture of torch. Without a GPU, torch is not asked again."""
    if torch.cuda.is_available():
        streams.framework_stream = _current_raw_stream
        # torch captures on the current stream of its current device.
        streams.framework_captures = torch.cuda.is_current_stream_capturing
    else:
        streams.framework_stream = streams.no_framework


def _layout_of(
    dtype: torch.dtype, shape: torch.Size, strides: tuple[int, ...], place: torch.device, align: int, what: str
) -> Layout:
    if dtype not in _DTYPES:
        raise TypeError(f"{what} has dtype {dtype}; accepted: {', '.join(map(str, _DTYPES))}, by x.to")
    if place.type not in ("cpu", "cuda"):
        raise TypeError(f"{what} is on torch device {place}; accepted: cpu and cuda")
    device = CPU if place.type == "cpu" else Device(f"cuda:{place.index}")
    if device is not CPU and align < min(dtype.itemsize, MAX_ALIGNMENT):
        raise BufferError(f"{what} is not aligned to its elements of {dtype.itemsize} bytes; accepted: x.clone()")
    return layout_of(_DTYPES[dtype], tuple(shape), strides, device, align)
