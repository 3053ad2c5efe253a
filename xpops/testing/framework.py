"""What tests ask of a framework: arrays made of NumPy's, viewed, written and read back by the framework itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.testing.layouts import View

NDArray = np.ndarray[Any, Any]

EVERY = tuple(dt.INFO)
ARITHMETIC = tuple(dtype for dtype in EVERY if dtype not in dt.FLOAT8)


class Framework:
    """A framework, on one device.

    Attributes
    ----------
    name : str
        "own" is xpops; "capsule" are objects that have the two methods of DLPack and nothing else.
    device : str
        "cpu" or "cuda:0".
    dtypes, exchanged : tuple of numpy.dtype
        The dtypes of its arrays; those of them that it takes and gives by DLPack.
    is_mutable, mirrors : bool
        Whether its arrays may be written to; whether they have views with negative strides.
    """

    name = ""
    dtypes: tuple[DType, ...] = EVERY
    exchanged: tuple[DType, ...] = ARITHMETIC
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
