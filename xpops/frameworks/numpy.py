"""NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from xpops.core.devices import CPU, Device
from xpops.core.dtypes import INFO
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.frameworks.adapter import Adapter, Known, View, known_layout
from xpops.plan.cache import BoundedDict

# (dtype, shape, strides in bytes) -> what `read` returns. On the host the alignment does not matter.
_known: BoundedDict[tuple[Any, ...], Known] = BoundedDict(8192)


def ndarray_views(namespace: Any) -> dict[str, Callable[..., Any]]:
    """What `Adapter.views` returns for the arrays of NumPy, or of a library with the same functions."""
    return {
        "reshape": namespace.ndarray.reshape,
        "permute": namespace.ndarray.transpose,
        "broadcast_to": namespace.broadcast_to,
        "flip": namespace.flip,
        "unstack": lambda x, axis: tuple([x[(slice(None),) * axis + (i, ...)] for i in range(x.shape[axis])]),
        "diagonal": namespace.diagonal,
    }


_VIEWS = ndarray_views(np)


class NumpyAdapter(Adapter):
    """Host memory. Results are plain ndarrays, for operands of subclasses, too."""

    name = "numpy"

    def is_array_type(self, cls: type) -> bool:
        """Whether arrays of `cls` mean the same as an ndarray on their memory. False for unit arrays, for example."""
        return cls is np.ndarray or (  # the masked arrays of others take long to import
            issubclass(cls, np.ndarray)
            and not issubclass(cls, (np.ma.MaskedArray, np.matrix))
            and cls.__array_ufunc__ is np.ndarray.__array_ufunc__
            and cls.__array_function__ is np.ndarray.__array_function__
        )

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        dtype = x.dtype
        item, address = dtype.itemsize, x.ctypes.data
        if dtype not in INFO or any(step % item for step in x.strides):
            raise TypeError(f"{function}: {argument} {_unsupported_reason(x)}")
        strides = tuple(step // item for step in x.strides)
        layout = layout_of(dtype, x.shape, strides, CPU, alignment(address))
        return View(layout, x if type(x) is np.ndarray else x.view(np.ndarray), x, x.flags.writeable)

    def lends(self, x: Any) -> bool:
        return type(x) is np.ndarray and x.flags.writeable and x.dtype.isbuiltin == 1  # else DLPack may refuse it

    def views(self, cls: type) -> Mapping[str, Callable[..., Any]]:
        return _VIEWS if cls is np.ndarray else {}

    def learn(self, x: Any, layout: Layout) -> Known | None:
        if type(x) is not np.ndarray:
            return None
        key = (x.dtype, x.shape, x.strides)
        found = _known.get(key)
        if found is None:
            found = _known[key] = known_layout(self, layout)
        return found

    def read(self, x: Any) -> tuple[Known | None, Data]:
        return _known.get((x.dtype, x.shape, x.strides)), x

    def is_writable(self, x: Any) -> bool:
        return bool(x.flags.writeable)

    def allocator(self, layout: Layout) -> Callable[[int], tuple[Data, Any]]:
        allocate = engine_of(CPU).allocator(layout)

        def new(stream: int) -> tuple[Data, Any]:
            data, _ = allocate(stream)
            return data, data

        return new

    def export(self, array: Any) -> Any:
        return array._data


ADAPTER = NumpyAdapter()


def _unsupported_reason(x: Any) -> str:
    if not x.dtype.isnative:
        return f"has dtype {x.dtype.str}; accepted: native byte order, such as x.astype(x.dtype.newbyteorder('='))"
    if x.dtype in INFO:
        return f"has strides of {x.strides} bytes; accepted: multiples of {x.itemsize} for {x.dtype}, such as x.copy()"
    return f"has dtype {x.dtype}; accepted: {', '.join(dtype.name for dtype in INFO)}, by x.astype"
