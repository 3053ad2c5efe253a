"""Arrays of zarr, read to the default device: ``zarr.config.set({"ndbuffer": "xpops.zarr.NDBuffer"})``.

>>> import zarr
>>> with zarr.config.set({"ndbuffer": "xpops.zarr.NDBuffer"}):
...     z = zarr.create_array({}, shape=(4, 6), chunks=(2, 6), dtype="float64")
...     z[:] = xp.ones((4, 6))
...     z[1:3, 0]
Array([1., 1.], dtype=float64, device='cpu')
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from zarr.buffer import cpu
from zarr.registry import register_ndbuffer

import xpops
from xpops.core import dtypes as dt

__all__ = ["NDBuffer"]


class NDBuffer(cpu.NDBuffer):  # type: ignore[misc]
    """The elements of a selection, as an xpops array on the default device; those of a chunk on the host.

    zarr's codecs decode chunks on the host. Each decoded chunk is copied to its place in the selection, on the device.
    An array that is written is copied to the host as a whole. A selection of a dtype that xpops lacks, such as
    datetime64, is a NumPy array.
    """

    @classmethod
    def empty(cls, shape: Iterable[int], dtype: Any, order: str = "C") -> NDBuffer:
        """A buffer for a selection. zarr makes the buffers of chunks by `create`."""
        known = np.dtype(dtype).newbyteorder("=")
        if known not in dt.INFO:
            return cls(np.empty(tuple(shape), dtype))
        return cls(xpops.empty(tuple(shape), dtype=known))

    @classmethod
    def from_ndarray_like(cls, ndarray_like: Any) -> NDBuffer:
        """A buffer on the host, of an array that is written, or of a decoded chunk."""
        return cls(ndarray_like.to_numpy() if isinstance(ndarray_like, xpops.Array) else ndarray_like)

    def as_numpy_array(self) -> Any:
        """The elements on the host."""
        return self._data.to_numpy() if isinstance(self._data, xpops.Array) else np.asanyarray(self._data)

    def __getitem__(self, key: Any) -> NDBuffer:
        part = self._data[key]
        return type(self)(part if isinstance(part, xpops.Array) else np.asanyarray(part))

    def __setitem__(self, key: Any, value: Any) -> None:
        x = value._data if isinstance(value, cpu.NDBuffer) else value
        if isinstance(self._data, xpops.Array):
            x = xpops.asarray(x, dtype=self._data.dtype, device=self._data.device)
        elif isinstance(x, xpops.Array):
            x = x.to_numpy()
        self._data[key] = x


register_ndbuffer(NDBuffer, qualname="xpops.zarr.NDBuffer")
