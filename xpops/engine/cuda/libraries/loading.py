"""NVIDIA's libraries of linear algebra and Fourier transforms, through the bindings of nvmath-python."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cuda.bindings import driver

from xpops.core.errors import DeviceError
from xpops.engine.cuda.runtime import driver as cuda_driver
from xpops.engine.cuda.runtime.capture import uncaptured
from xpops.engine.cuda.runtime.driver import DeviceContext

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

# The module and the class of a library's errors in the bindings.
_ERRORS = {
    "cublas": ("cublas", "cuBLASError"),
    "cublasLt": ("cublasLt", "cuBLASLtError"),
    "cusolverDn": ("cusolver", "cuSOLVERError"),
    "cufft": ("cufft", "cuFFTError"),
}
_SUCCESS = driver.CUresult.CUDA_SUCCESS
_AS_IT_IS = nullcontext()


class Binding:
    """A library on one device.

    Parameters
    ----------
    name : str
        "cublas", "cublasLt", "cusolverDn" or "cufft".
    context : DeviceContext

    Raises
    ------
    DeviceError
        If its bindings are not installed.
    """

    def __init__(self, name: str, context: DeviceContext) -> None:
        module, error = _ERRORS[name]
        self._name, self._context, self._current = name, context, int(context.handle)
        try:
            self._module = import_module(f"nvmath.bindings.{name}")
            self._refused = getattr(import_module(f"nvmath.bindings.{module}"), error)
        except ImportError as missing:
            raise DeviceError(f"{name} needs nvmath-python; accepted: pip install nvmath-python") from missing

    def function(self, name: str) -> Callable[..., Any]:
        """A function of the library. The device's context must be current when it is called.

        It raises DeviceError with its name if the library is not installed or the call fails.
        """
        call, refused, library = getattr(self._module, name), self._refused, self._name

        def checked(*arguments: Any) -> Any:
            try:
                return call(*arguments)
            except refused as error:
                raise DeviceError(f"{library}: {name}: {error}") from error
            except RuntimeError as missing:
                hint = "it is in CUDA's toolkit and in pip install 'xpops[cuda]'"
                raise DeviceError(f"{library}: {name}: {missing}; {hint}") from missing

        return checked

    def current(self) -> AbstractContextManager[Any]:
        """A context manager that makes the device's context current; it does nothing if that is current already.

        A kernel's launch fails if another device's context is current, but a library's function would run on that
        device.
        """
        if not cuda_driver.forked:
            error, handle = driver.cuCtxGetCurrent()
            if (error is _SUCCESS and int(handle) == self._current) or self._context.adopt_thread():
                return _AS_IT_IS
        return self._context

    def uncaptured(self) -> AbstractContextManager[Any]:
        """A context manager for functions that allocate or load modules, which would invalidate a capture."""
        return uncaptured(self._context)


class Handle:
    """A library's handle, the first argument of its functions. One thread at a time uses it, for work on one stream.

    Parameters
    ----------
    binding : Binding
    handle : int

    Attributes
    ----------
    handle : int
    function, current : callable
        The methods of the binding.
    """

    def __init__(self, binding: Binding, handle: int) -> None:
        self.handle, self.function = handle, binding.function
        self.current, self._lock = binding.current, threading.Lock()
        self._stream: int | None = None

    def on(self, stream: int) -> Turn:
        """A context manager that locks the handle for this thread, and sets its stream to `stream`."""
        return Turn(self, stream)

    def begin(self, stream: int) -> AbstractContextManager[Any]:
        """Lock the handle, and set its stream. Returns what `end` takes."""
        self._lock.acquire()
        try:
            context = self.current()
            context.__enter__()
        except BaseException:
            self._lock.release()
            raise
        try:
            if stream != self._stream:
                self.function("set_stream")(self.handle, stream)
                self._stream = stream
        except BaseException:
            self.end(context)
            raise
        return context

    def end(self, context: AbstractContextManager[Any]) -> None:
        """Leave the device's context, and unlock the handle."""
        try:
            context.__exit__(None, None, None)
        finally:
            self._lock.release()


class Turn:
    """A thread's use of a handle. As a class it takes half the time of a generator."""

    __slots__ = ("_context", "_handle", "_stream")

    def __init__(self, handle: Handle, stream: int) -> None:
        self._handle, self._stream = handle, stream

    def __enter__(self) -> int:
        self._context = self._handle.begin(self._stream)
        return self._handle.handle

    def __exit__(self, *exception: object) -> None:
        self._handle.end(self._context)


class Library(Handle):
    """A library with one handle. `library` creates it at first use."""

    def __init__(self, name: str, context: DeviceContext) -> None:
        binding = Binding(name, context)
        with binding.uncaptured():
            super().__init__(binding, binding.function("create")())
        self._made: dict[str, int] = {}

    def made(self, function: str) -> int:
        """The parameter object that `function` creates at the first call; later calls return the same object."""
        with self._lock, self.current():
            if function not in self._made:
                self._made[function] = self.function(function)()
            return self._made[function]


_libraries: dict[tuple[str, int], Library] = {}
_lock = threading.Lock()


def library(runtime: Runtime, name: str) -> Library:
    """The one `Library` of this name on the device of `runtime`."""
    key = name, runtime.context.index
    with _lock:
        found = _libraries.get(key)
        if found is None:
            found = _libraries[key] = Library(name, runtime.context)
    return found
