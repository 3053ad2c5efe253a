"""Where arrays come from: each framework makes them, takes views of them, writes to them and reads them back."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import xpops as xp
from conformance.fuzz.layouts import View
from conformance.fuzz.values import BFLOAT16, BOOL, COMPLEX, FLOATS, INTEGERS, DType, NDArray

EVERY = (BOOL, *INTEGERS, *FLOATS, *COMPLEX)


class Home:
    """A framework, on one device."""

    name = ""
    dtypes: tuple[DType, ...] = EVERY
    # Those that it takes and gives by DLPack.
    exchanged: tuple[DType, ...] = EVERY
    # Whether its arrays may be written to, and have views with negative strides.
    is_mutable, mirrors = True, True

    def __init__(self, device: str) -> None:
        self.device = device

    def make(self, host: NDArray) -> Any:
        """An array of its own memory with these values."""
        raise NotImplementedError

    def host(self, x: Any) -> NDArray:
        """The values, in memory of their own."""
        raise NotImplementedError

    def owns(self, x: Any) -> bool:
        """Whether `x` is one of its arrays."""
        raise NotImplementedError

    def permute(self, x: Any, order: tuple[int, ...]) -> Any:
        """The array with its axes in another order."""
        return x.transpose(order)

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        """The array, broadcast."""
        raise NotImplementedError

    def reshape(self, x: Any, shape: tuple[int, ...]) -> Any:
        """A contiguous array in another shape."""
        return x.reshape(shape)

    def view(self, x: Any, view: View) -> Any:
        """The view of a base."""
        if view.start:
            x = self.reshape(x[view.start :], view.inner)
        if any(key != slice(None) for key in view.key):
            x = x[view.key]
        if view.order != tuple(range(len(view.order))):
            x = self.permute(x, view.order)
        return x if tuple(x.shape) == view.shape else self.broadcast(x, view.shape)

    def write(self, x: Any, key: Any, value: Any) -> None:
        """Assign in place."""
        x[key] = value

    def copy(self, x: Any) -> Any:
        """A contiguous copy."""
        return x.copy()

    def adopt(self, x: Any) -> Any:
        """An array of this framework over the memory of another's."""
        raise NotImplementedError


class Own(Home):
    """xpops arrays."""

    name = "own"

    def make(self, host: NDArray) -> Any:
        return xp.asarray(host, device=self.device, copy=True)

    def host(self, x: Any) -> NDArray:
        return np.array(x.to_numpy())

    def owns(self, x: Any) -> bool:
        return isinstance(x, xp.Array)

    def permute(self, x: Any, order: tuple[int, ...]) -> Any:
        return xp.permute_dims(x, order)

    def broadcast(self, x: Any, shape: tuple[int, ...]) -> Any:
        return xp.broadcast_to(x, shape)

    def reshape(self, x: Any, shape: tuple[int, ...]) -> Any:
        return xp.reshape(x, shape)

    def adopt(self, x: Any) -> Any:
        return xp.from_dlpack(x)


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
        return Capsule(xp.from_dlpack(x))


class NumPy(Home):
    """NumPy arrays, which live on the host."""

    name = "numpy"
    exchanged = tuple(dtype for dtype in EVERY if dtype != BFLOAT16)

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


class Torch(Home):
    """torch tensors."""

    name, mirrors = "torch", False

    def make(self, host: NDArray) -> Any:
        import torch

        if host.dtype == BFLOAT16:
            return torch.from_numpy(np.array(host).view(np.int16)).to(self.device).view(torch.bfloat16)
        return torch.from_numpy(np.array(host)).to(self.device)

    def host(self, x: Any) -> NDArray:
        import torch

        plain = x.detach().resolve_conj().resolve_neg().cpu()
        if plain.dtype == torch.bfloat16:
            return np.array(plain.contiguous().view(torch.int16).numpy()).view(BFLOAT16)
        return np.array(plain.numpy())

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


class CuPy(Home):
    """cupy arrays."""

    name = "cupy"
    dtypes = exchanged = NumPy.exchanged

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


class JAX(Home):
    """jax arrays, which nobody may write to."""

    name, is_mutable = "jax", False

    def __init__(self, device: str) -> None:
        import jax

        super().__init__(device)
        jax.config.update("jax_enable_x64", True)
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


def homes(device: str) -> dict[str, Home]:
    """The frameworks that are installed and have arrays on a device ("cpu" or "cuda:0"), by name; xpops first."""
    makers: list[tuple[str, Callable[[str], Home]]] = [("numpy", Own), ("numpy", Capsules), ("torch", Torch)]
    makers += [("numpy", NumPy)] if device == "cpu" else [("cupy", CuPy)]
    makers += [("jax", JAX)]
    made = (maker(device) for package, maker in makers if find_spec(package) is not None)
    return {home.name: home for home in made}
