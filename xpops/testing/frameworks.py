"""Arrays of every framework: made of NumPy's, viewed, written and read back by the framework itself, not by xpops."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from xpops.api.creation.conversion import asarray, from_dlpack
from xpops.api.manipulation.axes import permute_dims
from xpops.api.manipulation.shapes import broadcast_to, reshape
from xpops.arrays import Array
from xpops.core import dtypes as dt
from xpops.core.errors import describe
from xpops.testing.framework import ARITHMETIC, EVERY, Framework
from xpops.testing.layouts import View

NDArray = np.ndarray[Any, Any]

# NumPy's DLPack, and cupy, do not know the dtypes of ml_dtypes.
NUMPYS = tuple(dtype for dtype in ARITHMETIC if dtype != dt.bfloat16)
# JAX makes them narrower unless ``jax_enable_x64`` is set.
_WIDE = (dt.int64, dt.uint64, dt.float64, dt.complex128)
# torch's conversions from and to NumPy do not know these dtypes.
_SAME_WIDTH = {dt.bfloat16: dt.int16, **dict.fromkeys(dt.FLOAT8, dt.uint8)}


class Own(Framework):
    """xpops arrays."""

    name = "own"

    def make(self, host: NDArray) -> Any:
        return asarray(host, device=self.device, copy=True)

    def host(self, x: Any) -> NDArray:
        return np.array(x.to_numpy())

    def owns(self, x: Any) -> bool:
        return isinstance(x, Array)

    def permute(self, x: Any, order: tuple[int, ...]) -> Any:
        return permute_dims(x, order)

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        return broadcast_to(x, shape)

    def reshape(self, x: Any, shape: tuple[int, ...]) -> Any:
        return reshape(x, shape)

    def adopt(self, x: Any) -> Any:
        return from_dlpack(x)


class Capsule:
    """An object that has the two methods of DLPack and nothing else."""

    def __init__(self, x: Any) -> None:
        self._x, self.shape = x, x.shape

    def __dlpack__(self, **named: Any) -> Any:
        return self._x.__dlpack__(**named)

    def __dlpack_device__(self) -> Any:
        return self._x.__dlpack_device__()


class Capsules(Own):
    """Objects that only have ``__dlpack__``."""

    name, is_mutable = "capsule", False

    def make(self, host: NDArray) -> Any:
        return Capsule(super().make(host))

    def view(self, x: Any, view: View) -> Any:
        return Capsule(super().view(x._x, view))

    def host(self, x: Any) -> NDArray:
        return super().host(x._x)

    def copy(self, x: Any) -> Any:
        return x._x.copy()

    def adopt(self, x: Any) -> Any:
        return Capsule(from_dlpack(x))


class NumPy(Framework):
    """NumPy arrays, which live on the host."""

    name = "numpy"
    exchanged = NUMPYS

    def make(self, host: NDArray) -> Any:
        return np.array(host)

    def host(self, x: Any) -> NDArray:
        return np.array(x)

    def owns(self, x: Any) -> bool:
        return isinstance(x, (np.ndarray, np.generic))

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(x, shape)

    def adopt(self, x: Any) -> Any:
        return np.from_dlpack(x)


class Torch(Framework):
    """torch tensors."""

    name, mirrors = "torch", False

    def make(self, host: NDArray) -> Any:
        import torch

        plain = _SAME_WIDTH.get(host.dtype)
        if plain is None:
            return torch.from_numpy(np.array(host)).to(self.device)
        return torch.from_numpy(np.array(host).view(plain)).to(self.device).view(getattr(torch, host.dtype.name))

    def host(self, x: Any) -> NDArray:
        import torch

        dtype = np.dtype(getattr(dt, str(x.dtype).removeprefix("torch.")))
        plain = _SAME_WIDTH.get(dtype)
        values = x.detach().resolve_conj().resolve_neg().cpu()
        dense = values.clone(memory_format=torch.contiguous_format)
        return np.array(dense.numpy() if plain is None else dense.view(getattr(torch, plain.name)).numpy().view(dtype))

    def owns(self, x: Any) -> bool:
        import torch

        return isinstance(x, torch.Tensor)

    def copy(self, x: Any) -> Any:
        return x.contiguous().clone()

    def permute(self, x: Any, order: tuple[int, ...]) -> Any:
        return x.permute(order)

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        return x.expand(shape)

    def adopt(self, x: Any) -> Any:
        import torch

        return torch.from_dlpack(x)


class CuPy(Framework):
    """cupy arrays."""

    name = "cupy"
    dtypes = exchanged = NUMPYS

    def make(self, host: NDArray) -> Any:
        import cupy

        return cupy.array(host)

    def host(self, x: Any) -> NDArray:
        return np.array(x.get())

    def owns(self, x: Any) -> bool:
        import cupy

        return isinstance(x, cupy.ndarray)

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        import cupy

        return cupy.broadcast_to(x, shape)

    def adopt(self, x: Any) -> Any:
        import cupy

        return cupy.from_dlpack(x)


class JAX(Framework):
    """jax arrays, which nobody may write to. Only with ``jax_enable_x64`` they have 64-bit dtypes."""

    name, is_mutable = "jax", False

    def __init__(self, device: str) -> None:
        import jax

        super().__init__(device)
        if not jax.config.jax_enable_x64:
            self.dtypes = tuple(dtype for dtype in EVERY if dtype not in _WIDE)
        self._device = jax.devices("cpu" if device == "cpu" else "cuda")[0]

    def make(self, host: NDArray) -> Any:
        import jax

        return jax.device_put(np.array(host), self._device)

    def host(self, x: Any) -> NDArray:
        return np.array(x)

    def owns(self, x: Any) -> bool:
        import jax

        return isinstance(x, jax.Array)

    def view(self, x: Any, view: View) -> Any:
        """By NumPy: JAX's views are copies, in which XLA on the CPU makes subnormals 0."""
        return self.make(NumPy(self.device).view(self.host(x), view))

    def adopt(self, x: Any) -> Any:
        import jax

        return jax.dlpack.from_dlpack(x)


_MAKERS: list[tuple[str, Callable[[str], Framework]]] = [
    ("numpy", Own),
    ("numpy", Capsules),
    ("torch", Torch),
    ("numpy", NumPy),
    ("cupy", CuPy),
    ("jax", JAX),
]


def frameworks_on(device: str) -> dict[str, Framework]:
    """The frameworks that are installed and have arrays on a device, by name; xpops first.

    Parameters
    ----------
    device : str
        "cpu" or "cuda:0".

    Returns
    -------
    dict of str to Framework

    Examples
    --------
    >>> from xpops.testing import frameworks_on
    >>> frameworks_on("cpu")["numpy"].make(np.arange(3))
    array([0, 1, 2])
    """
    elsewhere = CuPy if device == "cpu" else NumPy
    made = (make(device) for package, make in _MAKERS if make is not elsewhere and find_spec(package) is not None)
    return {framework.name: framework for framework in made}


def to_numpy(x: Any) -> NDArray:
    """A copy of an array of any framework and device as a NumPy array, made by the framework itself.

    Parameters
    ----------
    x : array
        torch's lazy conjugates, negatives and gradients are resolved. An array of a framework that xpops does not know
        is read through DLPack.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> from xpops.testing import to_numpy
    >>> to_numpy(xp.asarray([1, 2]))
    array([1, 2])
    """
    for package, make in _MAKERS:
        if package in sys.modules and make("cpu").owns(x):
            return make("cpu").host(x)
    if not (hasattr(x, "__dlpack__") or hasattr(x, "__cuda_array_interface__")):
        raise TypeError(f"to_numpy: x is {describe(x)}; accepted: an array of any framework")
    return np.array(from_dlpack(x).to_numpy())
