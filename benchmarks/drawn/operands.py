"""Operands drawn at random: dtype, shape, layout and values."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from random import Random
from typing import Literal, NamedTuple, get_args

import torch

Layout = Literal["contiguous", "permuted", "cropped", "shifted", "stepped", "reversed", "broadcast", "windows"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
Values = Literal["random", "sorted", "constant", "few", "nans"]
VALUES: dict[Values, int] = {"random": 12, "sorted": 2, "constant": 1, "few": 2, "nans": 1}
DTYPES = {
    "float32": 8,
    "float16": 4,
    "bfloat16": 4,
    "float64": 3,
    "int8": 1,
    "uint8": 2,
    "int16": 1,
    "int32": 2,
    "int64": 3,
    "bool": 1,
    "complex64": 1,
}
# No operand is larger, in bytes.
LARGEST = 2**30
Shape = tuple[int, ...]


class Operand(NamedTuple):
    """One array of a call.

    Attributes
    ----------
    dtype : str
    shape : tuple of int
    layout : str
        One of `LAYOUTS`.
    strides : tuple of int
        In elements. Those of reversed axes are positive: `reversed_axes` names them.
    offset : int
        Of the first element, in elements from the start of the memory, which is aligned to 256 bytes.
    extent : int
        The elements of the memory.
    reversed_axes : tuple of int
    values : str
        One of `VALUES`.
    domain : str
        A word of the operator's row: "any", "finite", "positive", "unit", "nonzero" or "shift"; or "mask 0.1", a share
        of True; or "index 100", integers less than 100.
    """

    dtype: str
    shape: Shape
    layout: Layout
    strides: Shape
    offset: int
    extent: int
    reversed_axes: tuple[int, ...] = ()
    values: Values = "random"
    domain: str = "any"

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(getattr(torch, self.dtype).itemsize)


def draw_dtype(random: Random, names: Sequence[str]) -> str:
    """One of the dtypes, by its weight in `DTYPES`."""
    return random.choices(names, [DTYPES[name] for name in names])[0]


def draw_shape(random: Random, size: int, axes: int | None = None) -> Shape:
    """A shape of about `size` elements and of 1 to 6 axes; half of the axes have lengths that are powers of two."""
    count = axes or random.choices(range(1, 7), (4, 8, 6, 4, 2, 1))[0]
    cuts = sorted(random.uniform(0, 1) for _ in range(count - 1))
    shares = [b - a for a, b in zip((0.0, *cuts), (*cuts, 1.0), strict=True)]
    lengths = [max(1, round(size**share)) for share in shares]
    lengths = [1 << (n.bit_length() - 1) if n > 1 and random.random() < 0.5 else n for n in lengths]
    longest = max(range(count), key=lengths.__getitem__)
    lengths[longest] = max(1, round(size / prod(n for axis, n in enumerate(lengths) if axis != longest)))
    if random.random() < 0.5:
        lengths[longest] -= lengths[longest] % 16 if lengths[longest] >= 16 else 0
    return tuple(lengths)


def draw_size(random: Random) -> int:
    """A number of elements: 2^24 to 2^26 in seven of ten calls, otherwise 2^12 to 2^28."""
    low, high = (24.0, 26.0) if random.random() < 0.7 else (12.0, 28.0)
    return int(2 ** random.uniform(low, high))


def draw_values(random: Random) -> Values:
    """The kind of an operand's values."""
    return random.choices(tuple(VALUES), tuple(VALUES.values()))[0]


def draw_operand(random: Random, dtype: str, shape: Shape, layout: Layout, domain: str = "any") -> Operand:
    """An operand of the given layout. Where `shape` does not allow the layout, it is contiguous."""
    values = draw_values(random)
    strides, offset, extent, mirrored = _PLACES[layout](random, shape) if shape else ((), 0, 1, ())
    return Operand(dtype, shape, layout, strides, offset, extent, mirrored, values, domain)


_Place = tuple[Shape, int, int, tuple[int, ...]]


def dense_strides(shape: Shape) -> Shape:
    """The strides, in elements, of an array in row-major order."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _contiguous(random: Random, shape: Shape) -> _Place:
    return dense_strides(shape), 0, prod(shape), ()


def _permuted(random: Random, shape: Shape) -> _Place:
    order = list(range(len(shape)))
    random.shuffle(order)
    inner = dense_strides(tuple(shape[axis] for axis in order))
    return tuple(inner[order.index(axis)] for axis in range(len(shape))), 0, prod(shape), ()


def _cropped(random: Random, shape: Shape) -> _Place:
    axes = [axis for axis in range(len(shape)) if random.random() < 0.3] or [len(shape) - 1]
    before = [random.randint(0, 3) * (axis in axes) for axis in range(len(shape))]
    after = [random.randint(1, 3) * (axis in axes) for axis in range(len(shape))]
    base = tuple(a + n + b for a, n, b in zip(before, shape, after, strict=True))
    strides = dense_strides(base)
    return strides, sum(a * stride for a, stride in zip(before, strides, strict=True)), prod(base), ()


def _shifted(random: Random, shape: Shape) -> _Place:
    offset = random.randint(1, 15)
    return dense_strides(shape), offset, prod(shape) + offset, ()


def _stepped(random: Random, shape: Shape) -> _Place:
    axis, step = random.randrange(len(shape)), random.randint(2, 4)
    if random.random() < 0.5:
        axis = len(shape) - 1
    base = tuple(n * step if each == axis else n for each, n in enumerate(shape))
    strides = dense_strides(base)
    return tuple(s * step if each == axis else s for each, s in enumerate(strides)), 0, prod(base), ()


def _reversed(random: Random, shape: Shape) -> _Place:
    axes = tuple(axis for axis in range(len(shape)) if random.random() < 0.5) or (len(shape) - 1,)
    return dense_strides(shape), 0, prod(shape), axes


def _broadcast(random: Random, shape: Shape) -> _Place:
    axes = [axis for axis in range(len(shape)) if random.random() < 0.4] or [random.randrange(len(shape))]
    base = tuple(1 if axis in axes else n for axis, n in enumerate(shape))
    return tuple(0 if axis in axes else s for axis, s in enumerate(dense_strides(base))), 0, prod(base), ()


def _windows(random: Random, shape: Shape) -> _Place:
    """Rows that overlap: the next row starts some elements after this one."""
    if len(shape) < 2:
        return _contiguous(random, shape)
    step = random.randint(1, max(1, min(8, shape[-1])))
    extent = (shape[-2] - 1) * step + shape[-1]
    return (*(extent * s for s in dense_strides(shape[:-2])), step, 1), 0, extent * prod(shape[:-2]), ()


_PLACES = {
    "contiguous": _contiguous,
    "permuted": _permuted,
    "cropped": _cropped,
    "shifted": _shifted,
    "stepped": _stepped,
    "reversed": _reversed,
    "broadcast": _broadcast,
    "windows": _windows,
}
