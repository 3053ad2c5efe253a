"""NVIDIA's libraries of linear algebra and Fourier transforms, through the bindings of nvmath-python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xpops.core.errors import DeviceError
from xpops.engine.cuda.driver import DeviceContext

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

# Where the bindings keep the class of a library's errors.
_ERRORS = {
    "cublas": ("cublas", "cuBLASError"),
    "cublasLt": ("cublasLt", "cuBLASLtError"),
    "cusolverDn": ("cusolver", "cuSOLVERError"),
    "cufft": ("cufft", "cuFFTError"),
}


class Binding:
    """A library on one device. Its calls are made with the device's context current, by one thread at a time.

    Parameters
    ----------
    name : str
        "cublas", "cublasLt", "cusolverDn" or "cufft".
    context : DeviceContext

    Attributes
    ----------
    lock : RLock
        Held by who calls several functions that belong together.
    """

    def __init__(self, name: str, context: DeviceContext) -> None:
        module, error = _ERRORS[name]
        self._name, self._context, self.lock = name, context, threading.RLock()
        try:
            self._module = import_module(f"nvmath.bindings.{name}")
            self._error = getattr(import_module(f"nvmath.bindings.{module}"), error)
        except ImportError as missing:
            raise DeviceError(f"{name} needs nvmath-python; accepted: pip install 'xpops[cuda]'") from missing

    def __call__(self, function: str, *arguments: Any) -> Any:
        """What a function of the library returns.

        Raises
        ------
        DeviceError
            If the library is not installed or refuses the call; it says which.
        """
        try:
            with self.lock, self._context:
                return getattr(self._module, function)(*arguments)
        except (self._error, RuntimeError) as error:
            raise DeviceError(f"{self._name}: {function}: {error}") from error


class Library(Binding):
    """A library whose functions take a handle first: one, made on first use.

    Attributes
    ----------
    handle : int
    """

    def __init__(self, name: str, context: DeviceContext) -> None:
        super().__init__(name, context)
        self.handle = super().__call__("create")
        self._made: dict[str, int] = {}

    def made(self, function: str) -> int:
        """A parameter object that `function` creates, the same one every time."""
        with self.lock:
            if function not in self._made:
                self._made[function] = super().__call__(function)
            return self._made[function]

    @contextmanager
    def on(self, stream: int) -> Iterator[Callable[..., Any]]:
        """Within, a function ``(name, *arguments)`` calls the library with its handle, for work on `stream`."""
        with self.lock, self._context:
            self("set_stream", self.handle, stream)
            yield lambda name, *arguments: self(name, self.handle, *arguments)


_libraries: dict[tuple[str, int], Library] = {}
_lock = threading.Lock()


def library(engine: CudaEngine, name: str) -> Library:
    """The one `Library` of this name on the device of `engine`."""
    key = name, engine.context.index
    with _lock:
        found = _libraries.get(key)
        if found is None:
            found = _libraries[key] = Library(name, engine.context)
    return found
