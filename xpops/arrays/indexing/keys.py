"""Keys of indexing: find their arrays, and turn those into integer tensors."""

from __future__ import annotations

import operator
from types import EllipsisType, NoneType
from typing import Any

import numpy as np

from xpops.arrays.tensors import copy_to_device, view_as, view_foreign
from xpops.core import dtypes as dt
from xpops.core.errors import describe
from xpops.core.layouts import Layout
from xpops.dispatch import Tensor
from xpops.dispatch.dense import plan_on_dense, reshape_dense
from xpops.dispatch.primitives import call
from xpops.engine import engine_of
from xpops.engine.program import Guessing, Program
from xpops.engine.protocol import Engine
from xpops.frameworks.registry import adapter_of, is_wrapper
from xpops.frameworks.wrapper import wrapper_error
from xpops.plan.gather import require_in_range
from xpops.plan.keys import ARRAY, NEW_ARRAY, Indexed, Part

NDArray = np.ndarray[Any, Any]

_BASIC = frozenset((int, slice, NoneType, EllipsisType))


def is_basic(key: Any) -> bool:
    """Whether a key consists of integers, slices, ``...`` and None. False for subclasses of these types, too."""
    if key.__class__ is tuple:
        return all(part.__class__ in _BASIC for part in key)
    return key.__class__ in _BASIC


def parse(x: Tensor, key: Any) -> tuple[tuple[Part, ...], list[Tensor | NDArray]]:
    """The parts of a key (see `xpops.plan.keys`), and its arrays of integers and masks.

    The arrays are tensors. If `x` is on a GPU, lists and ndarrays become ndarrays, which have yet to be moved.

    Raises
    ------
    IndexError
        If a part cannot be an index.
    """
    is_host = engine_of(x._layout.device).is_host
    parts: list[Part] = []
    arrays: list[Tensor | NDArray] = []
    for part in key if isinstance(key, tuple) else (key,):
        array = _part_array(part, is_host)
        if array is None:
            parts.append(_resolve_part(part))
        else:
            parts += _markers(array)
            arrays.append(array)
    return tuple(parts), arrays


def sole_mask(parts: tuple[Part, ...], arrays: list[Tensor | NDArray]) -> Tensor | None:
    """The mask if the key is a mask only, or a mask and a final ``...``; else None."""
    (array, *others), rest = arrays, parts[:-1] if parts[-1] is Ellipsis else parts
    if others or not isinstance(array, Tensor) or array._layout.dtype != dt.bool or len(rest) != len(_markers(array)):
        return None
    return array


def resolve(x: Layout, indexed: Indexed, arrays: list[Tensor | NDArray]) -> tuple[Tensor, ...]:
    """The arrays of a key as integer tensors, one for each axis of the view `x` that they index.

    ndarrays are moved to the device of `x`; tensors stay on their device. A mask on a GPU waits for the GPU.

    Raises
    ------
    IndexError
        If a mask has other lengths than the axes that it indexes, or an index in an ndarray is out of range.
    """
    if all(isinstance(array, Tensor) and array._layout.dtype != dt.bool for array in arrays):
        return tuple(array for array in arrays if isinstance(array, Tensor))
    found = list[Tensor]()
    for array in arrays:
        count, first = len(_markers(array)), len(found)
        indices: list[Any]
        lengths = tuple(x.shape[axis] for axis in indexed.axes[first : first + count])
        if _dtype(array) == dt.bool:
            require_mask(_shape(array), lengths)
            array = np.reshape(array, lengths) if isinstance(array, np.ndarray) and not array.ndim else array
            indices = list(np.nonzero(array) if isinstance(array, np.ndarray) else _nonzero(array))
        else:
            if isinstance(array, np.ndarray):
                require_in_range(array, lengths[0], indexed.names[first])
            indices = [array]
        found += [copy_to_device(each, x.device) if isinstance(each, np.ndarray) else each for each in indices]
    return tuple(found)


def _nonzero(mask: Tensor) -> tuple[Tensor, ...]:
    layout = mask._layout
    if not layout.ndim:
        mask = view_as(mask, reshape_dense(layout, (1,)))
    found = call(_plan_nonzero, "index", ("mask",), (mask,))
    return found if isinstance(found, tuple) else (found,)


def _plan_nonzero(engine: Engine, specs: tuple[Layout]) -> Program | Guessing:
    return plan_on_dense(engine, specs, engine.nonzero)


def require_mask(shape: tuple[int, ...], lengths: tuple[int, ...]) -> None:
    """Refuse a mask of `shape` for axes of `lengths`, if there are too few, or they differ from those of the mask.

    Raises
    ------
    IndexError
    """
    if len(shape) > len(lengths) or any(n not in (m, 0) for n, m in zip(shape, lengths, strict=False)):
        raise IndexError(f"index: a mask of shape {shape} for axes of lengths {lengths}; accepted: the same")


def _markers(array: Tensor | NDArray) -> list[Part]:
    """The parts of a key that represent an array: one for each axis that it indexes."""
    if _dtype(array) != dt.bool:
        return [ARRAY]
    return [ARRAY] * len(_shape(array)) or [NEW_ARRAY]


def _part_array(part: Any, on_cpu: bool) -> Tensor | NDArray | None:
    """The array if a part is an array of integers or booleans; None for other parts."""
    found: Tensor | NDArray
    if isinstance(part, Tensor):
        found = part
    elif isinstance(part, (list, tuple, range, bool, np.bool_, np.ndarray)):
        host = _host_array(part)
        if not host.ndim and host.dtype != dt.bool:
            return None
        found = Tensor(*view_foreign(host, "index", "key")) if on_cpu else host
    elif isinstance(part, np.generic) or adapter_of(type(part)) is None:
        return None
    else:
        found = Tensor(*view_foreign(part, "index", "key"))
    dtype = _dtype(found)
    if dtype != dt.bool and dtype not in dt.CATEGORIES["integer"]:
        raise IndexError(f"index: an array of dtype {dtype}; accepted: integer and boolean arrays")
    return found


def _host_array(values: Any) -> NDArray:
    """A nested sequence of integers or booleans, or an ndarray, as an ndarray."""
    if isinstance(values, np.ndarray):
        if is_wrapper(type(values)):
            raise wrapper_error(values, "index", "key")
        return values
    try:
        host = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise IndexError(f"index: {values!r} is no array; accepted: lists of integers or booleans") from error
    if host.size and host.dtype.kind not in "biu":
        raise IndexError(f"index: {values!r} is no index; accepted: lists of integers or booleans")
    return host if host.size else host.astype(dt.int64)


def _dtype(array: Tensor | NDArray) -> Any:
    return array._layout.dtype if isinstance(array, Tensor) else array.dtype


def _shape(array: Tensor | NDArray) -> tuple[int, ...]:
    return array._layout.shape if isinstance(array, Tensor) else array.shape


def _resolve_part(part: Any) -> Part:
    """A part that is no array, with its integers as Python integers."""
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        try:
            return slice(*(None if n is None else operator.index(n) for n in (part.start, part.stop, part.step)))
        except TypeError:
            raise IndexError(f"index: {part} is no slice of integers with a step other than 0") from None
    try:
        return operator.index(part)
    except TypeError:
        raise IndexError(
            f"index: {describe(part)} in the key; accepted: integers, slices, '...', None, and arrays or lists "
            "of integers or booleans"
        ) from None
