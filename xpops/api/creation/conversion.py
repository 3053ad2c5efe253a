"""Arrays from existing data: other arrays, host data, Python numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from xpops.api.devices import device_or_default
from xpops.arrays import Array, adopt_foreign, from_host
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType, as_dtype
from xpops.core.errors import describe
from xpops.core.guards import copies
from xpops.core.layouts import alignment, layout_of
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch import elementwise
from xpops.dispatch.steady import known_array, launches
from xpops.dlpack import importing
from xpops.engine import engine_of
from xpops.frameworks.registry import adapter_of, is_wrapper
from xpops.frameworks.wrapper import wrapper_error
from xpops.ops.elementwise import IDENTITY

__all__ = ["asarray", "from_dlpack"]

NDArray = np.ndarray[Any, Any]


def asarray(
    obj: Any, /, *, dtype: DTypeLike | None = None, device: str | None = None, copy: bool | None = None
) -> Array:
    """An array from an array of any framework, a buffer, a scalar or a nested sequence.

    Parameters
    ----------
    obj : array, buffer, scalar or nested sequence
        An xpops array is returned as it is. The result shares the memory of torch, cupy, jax and other DLPack arrays.
        Other data (NumPy arrays, buffers, Python and NumPy scalars, nested sequences of them) is copied to the default
        device; if this is the CPU, the result shares the memory of NumPy arrays and buffers.
    dtype : numpy.dtype, optional
        By default that of `obj`; for Python numbers bool, int64, float64 or complex128.
    device : Device or str, optional
        The device of the result. Arrays on other devices are copied to it.
    copy : bool, optional
        True: always copy. False: never, raise ValueError if a copy is needed. None: copy if needed.

    Returns
    -------
    Array

    Raises
    ------
    TypeError
        If `obj` is none of these; if it is complex and `dtype` is real; if it wraps data with a mask, a unit or labels,
        which would be lost.
    ValueError
        If a nested sequence is ragged, or `copy` is False and a copy is needed.
    OverflowError
        If `dtype` cannot hold a Python integer.

    Examples
    --------
    >>> xp.asarray([[1, 2], [3, 4.5]])
    Array([[1. , 2. ],
           [3. , 4.5]], dtype=float64, device='cpu')
    """
    if dtype is None and device is None and not copy and obj.__class__ is not np.ndarray:  # which may have to be copied
        known: Array | None = known_array(obj)
        if known is not None:
            return known
    wanted = None if dtype is None else as_dtype(dtype, "asarray")
    adapter = adapter_of(type(obj))
    if isinstance(obj, Array):
        return _as_array(obj, wanted, device, copy)
    if adapter is not None and adapter.name != "numpy":
        plain = importing.resolve(obj, copy, "asarray", "obj")
        return _as_array(adopt_foreign(plain, "asarray", "obj"), wanted, device, copy if plain is obj else None)
    target = device_or_default(device, "asarray")
    host = _host_data(obj, wanted)
    borrowed = is_buffer = isinstance(obj, (np.ndarray, memoryview, bytearray, bytes)) or hasattr(obj, "__buffer__")
    if wanted is not None and wanted != host.dtype:
        check_parts(host.dtype, wanted, "asarray")
        host, borrowed = host.astype(wanted), False
    native = _to_native(host)
    if engine_of(target).is_host and borrowed and native is host and not copy:
        return _alias_host(host, target)
    if copy is False:
        raise ValueError(f"asarray: copy is False, but {describe(obj)} has to be copied to {target}")
    if copies.is_open and is_buffer:
        copies.report(f"asarray: {describe(obj)} is copied to {target}")
    return from_host(native, target)


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Array:
    """An array on the memory of any object with ``__dlpack__``.

    Parameters
    ----------
    x : object
        Has ``__dlpack__`` and ``__dlpack_device__``, and is on the CPU or a CUDA device. Only this function accepts a
        wrapper (a masked array, a unit array), and uses its bare data. A lazy conjugate or negative of torch is copied,
        because its memory holds other values.
    device : Device or str, optional
        The device of the result; by default that of `x`.
    copy : bool, optional
        True: always copy. False: never. None: copy if `x` is not on `device`.

    Returns
    -------
    Array
        Read-only if `x` is.

    Raises
    ------
    AttributeError
        If `x` has no ``__dlpack__``.
    BufferError
        If `x` cannot be exported, or `copy` is False and a copy is needed.

    Examples
    --------
    >>> import numpy as np
    >>> xp.from_dlpack(np.arange(3))
    Array([0, 1, 2], dtype=int64, device='cpu')
    """
    adapter = adapter_of(type(x))
    if device is None and not copy and adapter is not None and adapter.lends(x):
        known: Array | None = known_array(x)
        if known is not None:
            return known
    target = None if device is None else device_or_default(device, "from_dlpack")
    return Array(*importing.from_dlpack(x, device=target, copy=copy))


def _as_array(x: Array, dtype: DType | None, device: str | None, copy: bool | None) -> Array:
    if dtype is None and device is None and not copy:
        return x
    found = convert(x, dtype, device, copy, "asarray")
    if copies.is_open and found is not x:
        copies.report(f"asarray: {x.dtype} on {x.device} is copied to {found.dtype} on {found.device}")
    return found


def cast(x: Array, dtype: DType, function: str) -> Array:
    """The elements of `x` converted to `dtype`; `x` itself if it has this dtype.

    Raises
    ------
    TypeError
        If `x` is complex and `dtype` is real: one of the parts would be lost.
    """
    if x.dtype == dtype:
        return x
    launch = launches.get(((IDENTITY, dtype), x._layout))
    if launch is None:
        check_parts(x.dtype, dtype, function)
    result: Array = elementwise(IDENTITY, (x,), None, dtype) if launch is None else launch(x._data)
    return result


def convert(x: Array, dtype: DType | None, device: str | None, copy: bool | None, function: str) -> Array:
    """`x` with another dtype, on another device. `copy` has the meaning that it has for `asarray`."""
    dtype = x.dtype if dtype is None else dtype
    target = x.device if device is None else device_or_default(device, function)
    if copy is False and (dtype != x.dtype or target != x.device):
        raise ValueError(
            f"{function}: copy is False, but {x.dtype} on {x.device} has to be copied to {dtype} on {target}"
        )
    result = cast(x, dtype, function).to_device(target)
    return result.copy() if copy and result is x else result


def _alias_host(host: NDArray, device: Device) -> Array:
    """An array in the memory of an ndarray, whose strides are multiples of its item size. The engine is a host's."""
    item = host.dtype.itemsize
    strides = tuple(stride // item for stride in host.strides)
    layout = layout_of(host.dtype, host.shape, strides, device, alignment(host.ctypes.data))
    return Array(layout, host, host, host.flags.writeable)


def _host_data(obj: Any, dtype: DType | None) -> NDArray:
    """`obj` as an ndarray of a supported dtype."""
    if isinstance(obj, np.ndarray):
        return _require_supported(np.asarray(obj))
    if isinstance(obj, (bytes, bytearray)):
        obj = memoryview(obj)
    plain = _replace_arrays(obj)
    try:
        # Convert Python numbers directly to `dtype`: int64 cannot hold every number that uint64 can.
        host = np.asarray(plain, dtype=dtype if _has_python_numbers(plain) else None)
    except ValueError as error:
        raise ValueError(f"asarray: obj is no rectangular array: {error}") from error
    except TypeError as error:
        raise TypeError(f"asarray: obj does not fit dtype {dtype}: {error}") from error
    except OverflowError as error:
        raise OverflowError(f"asarray: {error}") from error
    if dtype is None and host.dtype in (dt.uint64, object) and any(_exceeds_int64(leaf) for leaf in _leaves(plain)):
        raise OverflowError("asarray: a Python integer does not fit int64; for uint64 say dtype=uint64")
    return _require_supported(host)


def _replace_arrays(obj: Any) -> Any:
    """`obj`, with the xpops arrays in its nested sequences replaced by ndarrays."""
    if isinstance(obj, (list, tuple)):
        return [_replace_arrays(element) for element in obj]
    if isinstance(obj, SCALAR_TYPES):
        return obj
    if is_wrapper(type(obj)):
        raise wrapper_error(obj, "asarray", "obj")
    return obj.to_numpy() if isinstance(obj, Array) else obj


def _leaves(obj: Any) -> Iterator[Any]:
    if isinstance(obj, list):
        for element in obj:
            yield from _leaves(element)
    else:
        yield obj


def _has_python_numbers(obj: Any) -> bool:
    return isinstance(obj, (int, float, complex, list))


def _exceeds_int64(leaf: Any) -> bool:
    return isinstance(leaf, int) and not -(2**63) <= leaf < 2**63


def _require_supported(host: NDArray) -> NDArray:
    if host.dtype.newbyteorder("=") not in dt.INFO:
        raise TypeError(
            f"asarray: obj becomes a NumPy array of dtype {host.dtype}; accepted: {', '.join(d.name for d in dt.INFO)}"
        )
    return host


def check_parts(source: DType, target: DType, function: str) -> None:
    if source in dt.COMPLEX_FLOATS and target not in (*dt.COMPLEX_FLOATS, dt.bool):
        raise TypeError(f"{function}: {source} to {target} would drop a part; choose one with real, imag or abs first")


def _to_native(host: NDArray) -> NDArray:
    """`host`, or a copy if a layout cannot describe its byte order, strides or alignment."""
    odd = any(stride % host.itemsize for stride in host.strides) or host.ctypes.data % host.itemsize
    return host.astype(host.dtype.newbyteorder("=")) if odd or not host.dtype.isnative else host
