"""The plan of Fourier transforms along any axes: the order and the lengths of the axes, and how to group them."""

from __future__ import annotations

from math import prod, sqrt
from typing import NamedTuple

# The most axes that cuFFT transforms in one call.
MAX_RANK = 3


class FftPlan(NamedTuple):
    """One Fourier transform.

    Attributes
    ----------
    order : tuple of int
        The operand's axes in the order in which the transform needs them in memory.
    taken, made : tuple of int
        The shapes in that order: of the operand after cropping and padding, and of the result.
    groups : tuple of tuple of int
        The axes of each call, as ascending and adjacent positions in `order`. The axis that a real transform halves is
        the last axis of the first group.
    points : int
        The number of points of a transform.
    """

    order: tuple[int, ...]
    taken: tuple[int, ...]
    made: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    points: int

    def scale(self, norm: str, inverse: bool) -> float:
        """The factor of the result: 1 / points in the direction that `norm` names and 1 in the other, or for "ortho"
        1 / sqrt(points) in both.
        """
        if norm == "ortho":
            return 1 / sqrt(self.points)
        return 1 / self.points if (norm == "backward") == inverse else 1.0


def plan_fft(
    shape: tuple[int, ...], kind: str, axes: tuple[int, ...], lengths: tuple[int, ...], strided: int | None
) -> FftPlan:
    """The plan of a transform of an array.

    Parameters
    ----------
    kind : str
        "fft" and "ifft": complex. "rfft": from real numbers to half of a Hermitian spectrum. "irfft": its inverse.
    axes : tuple of int
        Distinct, counted from the front. Real transforms halve the last one.
    lengths : tuple of int
        The points along each axis; along a halved axis those of the full spectrum.
    strided : int or None
        See `xpops.engine.protocol.Engine`.

    Examples
    --------
    >>> plan_fft((4, 5, 6), "rfft", (2, 1), (6, 8), None)
    FftPlan(order=(0, 2, 1), taken=(4, 6, 8), made=(4, 6, 5), groups=((1, 2),), points=48)
    """
    points = dict(zip(axes, lengths, strict=True))
    # The result does not depend on the order of the axes that are not halved.
    transformed = sorted(axes) if kind in ("fft", "ifft") else [*sorted(axes[:-1]), *axes[-1:]]
    fast = strided is None or (len(axes) == 1 and _is_fast_strided(lengths[0], strided))
    order, start = _axis_order(len(shape), transformed, fast)
    full = [points.get(axis, shape[axis]) for axis in order]
    half, place = list(full), start + len(axes) - 1
    if axes:
        half[place] = full[place] // 2 + 1
    taken, made = {"rfft": (full, half), "irfft": (half, full)}.get(kind, (full, full))
    # cuFFT transforms matrices of real numbers with an odd last length at half the speed in one call.
    is_matrix = sum(length > 1 for length in lengths) == 2
    odd = strided is not None and is_matrix and lengths[-1] % 2 == 1 < lengths[-1]
    apart = odd and kind in ("rfft", "irfft") and prod(lengths) == prod(full)
    groups: list[tuple[int, ...]] = [(place,)] if apart else []
    for stop in range(start + len(axes) - apart, start, -MAX_RANK):
        groups.append(tuple(range(max(start, stop - MAX_RANK), stop)))
    return FftPlan(order, tuple(taken), tuple(made), tuple(groups), prod(lengths))


def _is_fast_strided(length: int, strided: int) -> bool:
    """Whether a strided transform is faster than a copy and a contiguous one: for longer powers of two, too."""
    return length <= (4 * strided if length & (length - 1) == 0 else strided)


def _axis_order(ndim: int, transformed: list[int], fast: bool) -> tuple[tuple[int, ...], int]:
    """The order of all axes that makes the `transformed` ones adjacent, and the position of the first of these.

    They go last, unless they are first already, and one call transforms them there, `fast`.
    """
    count = len(transformed)
    if fast and transformed == list(range(count)) and count <= MAX_RANK:
        return tuple(range(ndim)), 0
    return (*(axis for axis in range(ndim) if axis not in transformed), *transformed), ndim - count
