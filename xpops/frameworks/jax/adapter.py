"""JAX arrays. They are immutable, so their views are read-only, even if a capsule allows writes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary, ref

import jax
import jax.numpy as jnp
import numpy as np

from xpops.core.devices import CPU, Device
from xpops.core.errors import DeviceError
from xpops.core.guards import copies
from xpops.core.layouts import Layout
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.frameworks import capsule as dl
from xpops.frameworks.adapter import Known, View, known_layout
from xpops.frameworks.differentiable import Differentiable, Facts, Record
from xpops.frameworks.dlpack import DLPackAdapter, dlpack_view

ALIGNMENT = 16
# What an array is but for its memory: (aval, sharding) -> that of `read`.
_known: dict[tuple[Any, Any], Known] = {}
_MOST_KNOWN = 8192
_lock = threading.Lock()
# What a capsule says of arrays on a GPU whose elements are in C order.
_kinds: WeakKeyDictionary[Known, Any] = WeakKeyDictionary()
_VIEWS: dict[str, Callable[..., Any]] = {
    "reshape": jnp.reshape,
    "permute": jnp.transpose,
    "broadcast_to": jnp.broadcast_to,
    "flip": jnp.flip,
    "diagonal": jnp.diagonal,
    "unstack": lambda x, axis: tuple(jnp.unstack(x, axis=axis)),
}


class _Loan:
    """The memory of arrays on a GPU that a call uses. When it is dropped, the engine keeps them until the work is done.

    While a capsule exists, JAX keeps the memory, even if the array is deleted or donated. A loan that is being dropped
    has no list any more: weak references still find it.
    """

    __slots__ = ("__weakref__", "capsules", "device", "stream")

    def __init__(self, device: Device, stream: int) -> None:
        self.device, self.stream = device, stream
        self.capsules: list[Any] | None = []

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        capsules, self.capsules = self.capsules, None
        if not finalizing():
            with suppress(DeviceError):
                engine_of(self.device).retain(capsules, self.stream)


class _Latest(threading.local):
    """The latest loan of a thread, if it exists.

    The next array of the same call joins it, since one event for all takes the least time. An array of another call may
    join it, too, and is then kept as long; so a loan has few arrays. Threads share none: one of CUDA's handles means
    another stream in each thread.
    """

    loan: ref[_Loan] | None = None


class BorrowedAddress(int):
    """The address of an array in a GPU's memory, with the loan that keeps it. A call drops it after its launch."""

    loan: _Loan


_latest = _Latest()
_MAX_ARRAYS = 8


def _loan_of(capsule: Any, device: Device, stream: int) -> _Loan:
    """The loan that keeps a capsule."""
    loan = None if _latest.loan is None else _latest.loan()
    is_open = loan is not None and loan.device is device and loan.stream == stream
    if loan is None or not is_open or loan.capsules is None or len(loan.capsules) >= _MAX_ARRAYS:
        loan = _Loan(device, stream)
        _latest.loan = ref(loan)
    assert loan.capsules is not None
    loan.capsules.append(capsule)
    return loan


def _borrow(x: Any, device: Device) -> tuple[Any, BorrowedAddress]:
    """What a capsule says of an array on a GPU, and its memory, ready for work on our current stream."""
    stream = engine_of(device).current_stream()
    capsule = x.__dlpack__(stream=stream or 1, max_version=dl.VERSION)  # 1 is the legacy default stream
    kind, address = dl.contents(capsule)
    data = BorrowedAddress(address)
    data.loan = _loan_of(capsule, device, stream)
    return kind, data


def _usual_sharding(x: Any) -> Any:
    """That of arrays in the memory of one GPU, or of the first of JAX's devices on the host.

    Its results are on that device, as all that xpops computes on the host.
    """
    (device, *_) = x.devices()
    if device.platform == "cpu":
        device = jax.local_devices(backend="cpu")[0]
    return jax.sharding.SingleDeviceSharding(device)


class JaxAdapter(DLPackAdapter):
    """Exchange through DLPack. XLA does not expose its streams, so DLPack's handshake orders the work."""

    name = "jax"

    def is_array_type(self, cls: type) -> bool:
        return issubclass(cls, (jax.Array, jax.core.Tracer))

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        if isinstance(x, jax.core.Tracer):
            raise TypeError(
                f"{function}: {argument} is a JAX tracer, whose values are not known; accepted in a traced function: "
                "JAX arrays and Python scalars alone, in calls whose results are JAX arrays"
            )
        if x.is_deleted():
            raise ValueError(f"{function}: {argument} is a JAX array that was deleted; accepted: an array with memory")
        view = dlpack_view(x, function, argument, stream, writable=False)
        # The host's ndarray holds what DLPack lent, so `x` itself may be the owner: calls like this are remembered.
        return view._replace(owner=x) if view.layout.device == CPU else view

    def is_own(self, x: Any, view: View) -> bool:
        """Always: JAX has no lazy values. On a GPU a capsule is the owner, and `read` gets another one."""
        return True

    def views(self, cls: type) -> Mapping[str, Callable[..., Any]]:
        """JAX's own functions, which copy: its arrays have no strides, so a view would be copied, too."""
        return _VIEWS

    def learn(self, x: Any, layout: Layout) -> Known | None:
        if x.sharding != _usual_sharding(x) or not layout.contiguous:
            return None
        found = known_layout(self, layout)
        if layout.device != CPU:
            try:
                _kinds[found], _ = _borrow(x, layout.device)
            except ValueError:  # a capsule of a newer form
                return None
        with _lock:
            if len(_known) >= _MOST_KNOWN:
                del _known[next(iter(_known))]  # the oldest: a call in another thread may be using the latest
            _known[x.aval, x.sharding] = found
        return found

    def read(self, x: Any) -> tuple[Known | None, Data]:
        return (None, None) if x.is_deleted() else (_known.get((x.aval, x.sharding)), x)

    def lend(self, data: Data) -> Data:
        if not hasattr(data, "sharding"):  # a scalar
            return data
        known = _known[data.aval, data.sharding]
        if known.is_host:
            host = np.asarray(data)  # JAX gives its memory in a quarter of DLPack's time
            return host if host.flags.c_contiguous else host.copy()
        kind, address = _borrow(data, known.layout.device)
        if kind != _kinds[known] or address % ALIGNMENT:  # a user has chosen another order of elements
            _, address = _borrow(jnp.copy(data), known.layout.device)
        return address

    def repeated(
        self, launch: Callable[..., Any], call: Callable[[], Differentiable] | None, arguments: tuple[Any, ...]
    ) -> Callable[..., Any]:
        if call is not None:
            with suppress(ImportError):  # an older JAX, without callbacks that get the memory of arrays
                from xpops.frameworks.jax.repeated import Repeated

                return Record(Repeated(launch, self.lend, call, arguments))
        return lambda *values: launch(*map(self.lend, values))

    def is_writable(self, x: Any) -> bool:
        return False

    def is_traced(self, x: Any) -> bool:
        return isinstance(x, jax.core.Tracer)

    records = is_traced

    def record(self, call: Differentiable, arguments: tuple[Any, ...]) -> Any:
        from xpops.frameworks.jax.calls import record  # needs newer parts of JAX than calls outside of a trace

        return record(call, arguments)

    def facts(self, x: Any) -> Facts:
        return Facts(tuple(x.shape), np.dtype(x.dtype))

    def constant(self, array: Any, like: Any) -> Any:
        places = set() if self.is_traced(like) else like.devices()
        return jnp.asarray(array.to_numpy(), device=places.pop() if len(places) == 1 else None)

    def export(self, array: Any) -> Any:
        layout, data = array._layout, array._data
        if layout.device == CPU and layout.contiguous and layout.dtype.isbuiltin == 1 and data.flags.writeable:
            return jax.dlpack.from_dlpack(data)  # NumPy makes the capsule in less time
        # On a GPU XLA takes only this alignment; on the CPU it copies misaligned memory itself.
        if not (layout.contiguous or _is_compact(layout)) or (layout.device != CPU and data % ALIGNMENT):
            if copies.is_open:
                copies.report(f"an array of shape {layout.shape} is copied for JAX")
            array = array.copy()
        # Export as writable: JAX cannot read the read-only flag, and never writes.
        return jax.dlpack.from_dlpack(type(array)(array._layout, array._data, array._owner, True))


ADAPTER = JaxAdapter()


def _is_compact(layout: Layout) -> bool:
    """Whether the elements have no gaps and no repeats, in any order of the axes: JAX takes only such arrays."""
    step = 1
    for stride, length in sorted(zip(layout.strides, layout.shape, strict=True)):
        if length > 1 and stride != step:
            return False
        step *= length
    return True
