"""The elements of an array in C order, as one axis: reads and writes by their places."""

from __future__ import annotations

import operator
from typing import Any

from xpops.api.creation.conversion import asarray
from xpops.api.creation.ranges import arange
from xpops.api.data_types import astype
from xpops.api.elementwise.arithmetic import remainder
from xpops.api.elementwise.limits import clip
from xpops.api.indexing import take
from xpops.api.manipulation.shapes import reshape
from xpops.arrays import Array
from xpops.arrays.indexing.keys import is_basic
from xpops.arrays.tensors import array_layout
from xpops.core import dtypes as dt
from xpops.plan.strides.views import position


def resolve_mode(indices: Any, length: int, mode: str, function: str) -> Any:
    """An array of indices along an axis by NumPy's modes: "wrap" and "clip" change those out of range."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"{function}: mode is {mode!r}; accepted: 'raise', 'wrap', 'clip'")
    is_boolean = array_layout(indices, function, "indices").dtype == dt.bool
    found = astype(indices, dt.int64) if is_boolean else indices
    if mode == "wrap":
        return remainder(found, length)
    return clip(found, 0, length - 1) if mode == "clip" else found


def put(self: Array, indices: Any, values: Any, mode: str = "raise") -> None:
    """Write values to places, which count the elements in C order; as `numpy.ndarray.put`.

    Parameters
    ----------
    indices : array or sequence of int
    values : array, sequence or scalar
        Converted to the dtype of the array, and repeated if there are fewer values than indices.
    mode : str, optional
        Indices out of range are an error ("raise"), count modulo the size ("wrap"), or become the nearest ones
        ("clip"), where negative ones become 0.

    Raises
    ------
    IndexError
        If an index is out of range, or the array is empty.
    ValueError
        If the array is read-only, or `mode` is another one.

    Examples
    --------
    >>> x = xp.zeros(4)
    >>> x.put([0, -1], [1, 2])
    >>> x
    Array([1., 0., 0., 2.], dtype=float64, device='cpu')
    """
    places, given = asarray(indices, device=self.device), _converted(self, values)
    if self.size == 0 and places.size:
        raise IndexError("put: the array is empty; accepted: no indices")
    if places.size == 0 or given.size == 0:
        return
    places = reshape(resolve_mode(places, self.size, mode, "put"), (-1,))
    line = reshape(self, (-1,))
    if 1 < given.size < places.size:
        given = take(given, arange(places.size, device=self.device) % given.size)
    line[places] = given if given.size == 1 else given[: places.size]
    self[...] = reshape(line, self.shape)  # the line may be a copy; otherwise this does nothing


def _converted(x: Array, values: Any) -> Array:
    """Values in one axis, on the device and in the dtype of an array."""
    line: Array = reshape(astype(asarray(values, device=x.device), x.dtype, copy=False), (-1,))
    return line


class Flat:
    """The elements of an array in C order: `Array.flat`. Reads copy elements, writes change the array.

    An iterator over the elements, as NumPy's. Writes convert values to the dtype of the array, and repeat them.

    Attributes
    ----------
    base : Array
    index : int
        The place of the next element of the iteration.

    Examples
    --------
    >>> x = xp.zeros((2, 2))
    >>> x.flat[1:] = [5, 6]
    >>> x
    Array([[0., 5.],
           [6., 5.]], dtype=float64, device='cpu')
    """

    __slots__ = ("base", "index")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, base: Array) -> None:
        self.base, self.index = base, 0

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Flat:
        return self

    def __next__(self) -> Array:
        if self.index >= self.base.size:
            raise StopIteration
        self.index += 1
        return self[self.index - 1]

    def __getitem__(self, key: Any) -> Array:
        key = _sole(key)
        if _is_integer(key):
            return self.base[self._place(key)].copy()
        line: Array = reshape(self.base, (-1,))
        return line[key].copy() if is_basic(key) else line[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        key = _sole(key)
        if _is_integer(key):
            self.base[self._place(key)] = astype(asarray(value, device=self.base.device), self.base.dtype)
        else:
            put(self.base, arange(self.base.size, device=self.base.device)[key], value)

    def __eq__(self, other: object) -> Any:
        return self.copy() == other

    def __ne__(self, other: object) -> Any:
        return self.copy() != other

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.copy().__array__(dtype, copy)

    def copy(self) -> Array:
        """The elements in one axis."""
        return self.base.flatten()

    def _place(self, key: Any) -> tuple[int, ...]:
        """The index of an element along each axis."""
        rest, found = position(key, self.base.size, 0) % self.base.size, []
        for length in reversed(self.base.shape):
            rest, index = divmod(rest, length)
            found.append(index)
        return tuple(reversed(found))


def _sole(key: Any) -> Any:
    return key[0] if isinstance(key, tuple) and len(key) == 1 else key


def _is_integer(key: Any) -> bool:
    try:
        operator.index(key)
    except TypeError:
        return False
    return not isinstance(key, bool)
