"""The interface of an adapter, and helpers for adapters."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from xpops.core.devices import CPU, Device
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.frameworks.differentiable import Differentiable, Facts
from xpops.ops.operator import Operator
from xpops.plan.signature import Operand

R = TypeVar("R")


class View(NamedTuple):
    """The memory of an array in the form that engines use.

    Attributes
    ----------
    layout : Layout
    data : Data
        The data for the engine of ``layout.device``.
    owner : object
        The object that keeps the memory alive.
    writable : bool
    """

    layout: Layout
    data: Data
    owner: Any
    writable: bool


class Known:
    """A layout of a framework's arrays, in keys of remembered calls. `known_layout` makes the one object of each.

    Arrays whose gradient the framework records have other objects than those without.

    Attributes
    ----------
    layout : Layout
    is_host : bool
        Whether the arrays are in the host's memory.
    """

    __slots__ = ("__weakref__", "is_host", "layout")

    def __init__(self, layout: Layout) -> None:
        self.layout, self.is_host = layout, layout.device is CPU


_interned: WeakValueDictionary[tuple[Adapter, Layout, bool], Known] = WeakValueDictionary()
_lock = threading.Lock()


def known_layout(adapter: Adapter, layout: Layout, is_recorded: bool = False) -> Known:
    """The one `Known` of a layout of an adapter: whoever learns the layout again, or in another form, gets the same."""
    with _lock:
        found = _interned.get((adapter, layout, is_recorded))
        if found is None:
            found = _interned[adapter, layout, is_recorded] = Known(layout)
        return found


class Adapter:
    """The exchange of arrays with one framework, without a copy.

    Subclasses define `is_array_type`, `view` and `export`. The other methods are optional.

    Attributes
    ----------
    name : str
        The name of the framework.
    """

    name: str

    def is_array_type(self, cls: type) -> bool:
        """Whether instances of `cls` are arrays of the framework, but no wrappers (see `xpops.frameworks.wrapper`)."""
        raise NotImplementedError

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        """The memory of `x`, ready for work on the stream that `stream` returns for its device.

        Errors name the public `function` and its `argument`.
        """
        raise NotImplementedError

    def lends(self, x: Any) -> bool:
        """Whether DLPack's methods would lend the memory that `view` shows, only in more time."""
        return False

    def is_own(self, x: Any, view: View) -> bool:
        """Whether `view` shows the memory of `x` itself, which `read` returns, not that of a copy."""
        return view.owner is x

    def export(self, array: Any) -> Any:
        """The framework's array on the memory of an xpops array. Needed where `allocator` returns None."""
        raise NotImplementedError

    def views(self, cls: type) -> Mapping[str, Callable[..., Any]]:
        """The framework's own views of arrays of `cls`, by the kind of `xpops.arrays.viewing.Step`.

        They take the array and the argument of the `Step`. "mT" exchanges the last two axes, and takes the array only.
        "diagonal" also takes two axes, which are 0 and 1 by default.
        """
        return {}

    def resolve(self, x: Any) -> Any:
        """A copy of `x` if its memory holds other values than `x`, such as a lazy conjugate; else `x` itself."""
        return x

    def written(self, x: Any) -> None:
        """Tell the framework that the memory of `x` was written, if it tracks writes."""

    def release_cache(self) -> None:
        """Make the framework free its cached GPU memory, if it can."""

    def current_stream(self, device: Device) -> int | None:
        """The handle of the framework's current stream (0: legacy default); None if there is none, or it is unknown."""
        return None

    def stream_of(self, device: Device) -> Callable[[], int] | None:
        """A function that returns what `current_stream` returns; None if that is None."""
        if self.current_stream(device) is None:
            return None
        return lambda: self.current_stream(device) or 0

    def recording(self, device: Device, stream: int) -> AbstractContextManager[object]:
        """A context for recording a graph on a stream of a GPU, in this thread.

        In it the stream is the framework's current stream. The framework takes its memory there from a pool, which is
        the value of the context. Nothing else uses this memory while the pool exists.
        """
        return nullcontext()

    # Gradients.

    def records(self, x: Any) -> bool:
        """Whether the framework records the gradient of a call on `x` that is made now."""
        return False

    def record(self, call: Differentiable, arguments: tuple[Any, ...]) -> Any:
        """The results of a call of which the framework records the gradient."""
        raise NotImplementedError

    def recorder(self, call: Differentiable, arguments: tuple[Any, ...], results: Any) -> Callable[..., Any] | None:
        """What `record` does, as a function of arguments like these; None if each such call needs `record`.

        It returns results like `results`. What depends on shapes, dtypes and needs of gradients is found now.
        """
        return None

    def facts(self, x: Any) -> Facts:
        """The shape and the dtype of an array, which may have no memory within a transform of the framework."""
        raise NotImplementedError

    def is_traced(self, x: Any) -> bool:
        """Whether an array has no memory of its own: `record` takes all of its calls, also without a derivative."""
        return False

    def overwrites(self, x: Any) -> bool:
        """Whether `x` is an array of a program which is traced, and `overwrite` may write such arrays."""
        return False

    def overwrite(self, x: Any, value: Any) -> None:
        """Write the elements of `value`, which broadcasts to the shape of `x`, to it, as a step of the program."""

    def constant(self, array: Any, like: Any) -> Any:
        """An xpops array as an array of the framework, on the device of `like`."""
        return self.export(array.to_device(str(like.device)))

    def without_gradient(self, x: Any) -> Any:
        """`x` as an array on the same memory for which `records` is False."""
        return x

    # The steady state. Without `learn` and `read`, every call of the framework's arrays is planned anew.

    def learn(self, x: Any, layout: Layout) -> Known | None:
        """Make `read` recognise arrays like `x`, which `view` took as it is; None if the framework cannot.

        Two arrays are alike if their calls differ in elements and in addresses only.
        """
        return None

    def read(self, x: Any) -> tuple[Known | None, Data]:
        """The layout and the data of an array like one that was learnt; None and anything if it is like none of them.

        The data are for the device's engine, or the array itself on the host, if `host_kernel` makes kernels that take
        such arrays. If the framework records a gradient, they are not used.
        """
        return None, None

    def lend(self, data: Data) -> Data:
        """What a kernel takes for data that `read` returned."""
        return data

    def repeated(
        self, launch: Callable[..., Any], call: Callable[[], Differentiable] | None, arguments: tuple[Any, ...]
    ) -> Callable[..., Any]:
        """The launch of later calls like one of these arguments.

        Parameters
        ----------
        launch : callable
            Takes scalars, and what `lend` returns.
        call : callable or None
            Returns the call. None if it has no derivative and cannot be traced.
        arguments : tuple
        """
        return launch

    def exchange(self, cls: type) -> tuple[object, Callable[[], bool]] | None:
        """The capsule of DLPack's C exchange API, if the compiled core may use it to read arrays of `cls`.

        The function returns whether gradients of arrays that require them are recorded now.
        """
        return None

    def data_of(self, view: View) -> Data:
        """The data that `read` returns for a viewed array."""
        return view.data

    def address(self, data: Data) -> int:
        """The address of data that `read` returns."""
        return engine_of(CPU).address(data)

    def is_writable(self, x: Any) -> bool:
        """Whether the elements of `x` may be written."""
        return True

    def allocator(self, layout: Layout) -> Callable[[int], tuple[Data, Any]] | None:
        """A function ``(stream)`` that returns the data of a new array, and the array; None if results are exported."""
        return None

    def host_kernel(
        self, specs: tuple[Operand, ...], way: Any, layouts: tuple[Layout, ...], kernel: Callable[..., R]
    ) -> Callable[..., R]:
        """The kernel of a call on the host that takes what `read` and `allocator` return.

        Parameters
        ----------
        specs : tuple of Layout or type
            The operands.
        way : Operator or tuple
            The operator, perhaps with the result's dtype; or the plan function with its parameters.
        layouts : tuple of Layout
            Those of the results.
        kernel : Kernel or Guessing
            That of the host's engine.
        """
        return kernel

    def host_launch(
        self, op: Operator, specs: tuple[Operand, ...], dtype: DType | None, out: Layout, launch: Callable[..., R]
    ) -> Callable[..., R]:
        """The launch of an elementwise call on the host, which takes what `read` returns, and returns the result.

        Parameters
        ----------
        launch : callable
            Launches what `host_kernel` returns, on memory of `allocator`.
        """
        return launch


def is_inherited(adapter: Adapter | None, method: str) -> bool:
    """Whether a method is that of `Adapter`, so that it need not be called."""
    return adapter is not None and getattr(type(adapter), method) is getattr(Adapter, method)


def foreign_view(layout: Layout, address: int, owner: Any, writable: bool, what: str) -> View:
    """A View of memory that `owner` keeps alive. Error messages begin with `what`.

    Raises
    ------
    BufferError
        If the memory is on a GPU and the elements are not aligned to their size: kernels would fault.
    """
    device, dtype = layout.device, layout.dtype
    if device != CPU and address % dtype.itemsize:
        raise BufferError(
            f"{what} is at address {address:#x}; accepted: a multiple of {dtype.itemsize} bytes for {dtype}"
        )
    return View(layout, engine_of(device).adopt(address, layout, owner, writable), owner, writable)


def order_before(device: Device, theirs: int, stream: Callable[[Device], int]) -> None:
    """Make the stream that `stream` returns wait for the work that a framework has launched on its stream `theirs`."""
    ours = stream(device)
    if ours != theirs:
        engine_of(device).order(theirs, ours)
