"""Axis coalescing: the fewest axes that describe the same addresses."""

from __future__ import annotations

from math import prod

Strides = tuple[int, ...]

# Memory is read in sectors of so many bytes.
SECTOR_BYTES = 32


def coalesce(shape: tuple[int, ...], operands: list[Strides]) -> tuple[tuple[int, ...], list[Strides]]:
    """Order the axes by the first operand's strides, outermost first; drop axes of length 1; merge neighbouring axes
    that are one axis with one stride in every operand.

    Parameters
    ----------
    shape : tuple of int
        The result's shape; no length is 0.
    operands : list of tuple of int
        The strides of each operand in `shape`, in elements; the result comes first.

    Returns
    -------
    tuple
        The new shape and strides. An array of a single element has no axes left.

    Examples
    --------
    >>> coalesce((2, 3, 4), [(12, 4, 1), (12, 4, 1)])
    ((24,), [(1,), (1,)])
    >>> coalesce((2, 3, 4), [(12, 4, 1), (0, 4, 1)])
    ((2, 12), [(12, 1), (0, 1)])
    """
    axes = [axis for axis, length in enumerate(shape) if length > 1]
    axes.sort(key=lambda axis: -abs(operands[0][axis]))
    merged: list[list[int]] = []  # [length, *strides], the last one innermost so far
    for axis in axes:
        entry = [shape[axis], *(strides[axis] for strides in operands)]
        outer = merged[-1] if merged else None
        if outer and all(a == b * entry[0] for a, b in zip(outer[1:], entry[1:], strict=True)):
            entry[0] *= outer[0]
            merged[-1] = entry
        else:
            merged.append(entry)
    new_shape = tuple(entry[0] for entry in merged)
    return new_shape, [tuple(entry[i + 1] for entry in merged) for i in range(len(operands))]


def farthest_offset(shape: tuple[int, ...], strides: Strides) -> int:
    """The distance, in elements, of the two elements of a loop over `shape` that are farthest apart in memory.

    Examples
    --------
    >>> farthest_offset((3, 4, 5), (5, 0, -1))
    14
    """
    return sum(abs(stride) * (length - 1) for length, stride in zip(shape, strides, strict=True))


def distinct_elements(shape: tuple[int, ...], strides: Strides) -> int:
    """The elements of memory that a loop over `shape` reads at `strides`: along an axis of stride 0 it reads one.

    Windows that overlap count as if they did not.

    Examples
    --------
    >>> distinct_elements((3, 4, 5), (5, 0, 1))
    15
    """
    return prod(length for length, stride in zip(shape, strides, strict=True) if stride)


def touched_elements(shape: tuple[int, ...], strides: Strides) -> int:
    """`distinct_elements`, but at most the elements between the first and the last one.

    Examples
    --------
    >>> touched_elements((300, 400), (1, 1)), touched_elements((300, 400), (400, 1))
    (699, 120000)
    """
    return min(distinct_elements(shape, strides), farthest_offset(shape, strides) + 1)
