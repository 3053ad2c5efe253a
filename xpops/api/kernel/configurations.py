"""Configurations that the host computes for kernels: fast division, and the offsets of broadcast operands."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from operator import index

from xpops.core.layouts import contiguous_strides
from xpops.plan.strides.divmod import magic

# As in native/xpops/kps/config.cuh.
MOST_AXES = 9


class FastDivMod(ctypes.Structure):
    """A divisor, as ``xpops::FastDivMod<uint32>`` and ``xpops::kps::FastDivMod`` have it. See `fast_divmod`."""

    _fields_ = (("divisor", ctypes.c_uint32), ("multiplier", ctypes.c_uint32), ("shift", ctypes.c_uint32))


class BroadcastConfig(ctypes.Structure):
    """Lengths and strides, as ``xpops::kps::BroadcastConfig`` has them. See `broadcast_config`."""

    _fields_ = (
        ("divmoders", FastDivMod * MOST_AXES),
        ("strides", ctypes.c_int64 * MOST_AXES),
        ("rank", ctypes.c_int),
    )


def fast_divmod(divisor: int) -> FastDivMod:
    """A divisor for kernels, which divide by it with a multiplication and a shift.

    Parameters
    ----------
    divisor : int
        From 1 to 2^32 - 1.

    Returns
    -------
    ctypes.Structure
        An argument for a parameter of type ``xpops::kps::FastDivMod``. Exact for all 32-bit numbers.

    Raises
    ------
    ValueError
        If the divisor is out of range.

    Examples
    --------
    >>> seven = xp.kernel.fast_divmod(7)
    >>> ((100 * seven.multiplier >> 32) + 100) >> seven.shift
    14
    """
    given = index(divisor)
    if not 1 <= given < 2**32:
        raise ValueError(f"fast_divmod: divisor is {divisor}; accepted: 1 to 2**32 - 1")
    return FastDivMod(given, *magic(given, 32))


def broadcast_config(
    shape: Sequence[int], strides: Sequence[int] | None = None, out_shape: Sequence[int] | None = None
) -> BroadcastConfig:
    """The map from the place of a result's element, in C order, to the offset of a broadcast operand's element.

    Parameters
    ----------
    shape : sequence of int
        The operand's shape.
    strides : sequence of int, optional
        The operand's strides in elements; by default those of C order.
    out_shape : sequence of int, optional
        The result's shape, to which `shape` broadcasts; by default `shape`. At most 9 axes, and fewer than 2^31
        elements.

    Returns
    -------
    ctypes.Structure
        An argument for a parameter of type ``xpops::kps::BroadcastConfig``: for ``kps::ReadDataBc``, or to be called
        with an element's place.

    Raises
    ------
    ValueError
        If the lengths of `shape` and `strides` differ, `shape` does not broadcast to `out_shape`, or `out_shape` is too
        long or too large.

    Examples
    --------
    >>> config = xp.kernel.broadcast_config((3, 1), out_shape=(2, 3, 4))
    >>> config.rank, config.strides[:3]
    (3, [0, 1, 0])
    """
    lengths, given = _layout(shape, strides, "broadcast_config")
    out = lengths if out_shape is None else tuple(index(each) for each in out_shape)
    _require_room(out, f"broadcast_config: out_shape is {out}")
    missing = len(out) - len(lengths)
    if missing < 0 or any(length not in (1, made) for length, made in zip(lengths, out[missing:], strict=True)):
        raise ValueError(f"broadcast_config: shape is {lengths}; accepted: what broadcasts to {out}")
    steps = (0,) * missing + tuple(0 if length == 1 else step for length, step in zip(lengths, given, strict=True))
    return _config(out, steps)


def index_calculator(shape: Sequence[int], strides: Sequence[int] | None, axes: Sequence[int]) -> BroadcastConfig:
    """The map from the place of an element along some axes of an array, in C order, to the element's offset.

    A kernel that reduces these axes passes it to ``kps::ReadDataReduce``.

    Parameters
    ----------
    shape : sequence of int
    strides : sequence of int or None
        In elements; None: those of C order.
    axes : sequence of int
        The axes, in the order of the places. At most 9, which have fewer than 2^31 elements.

    Returns
    -------
    ctypes.Structure
        An argument for a parameter of type ``xpops::kps::IndexCalculator``.

    Raises
    ------
    ValueError
        If the lengths of `shape` and `strides` differ, or `axes` has an axis that does not exist or one twice, or too
        many.

    Examples
    --------
    >>> config = xp.kernel.index_calculator((2, 3, 4), None, axes=(0, 2))
    >>> config.rank, config.strides[:2], [each.divisor for each in config.divmoders[:2]]
    (2, [1, 12], [4, 2])
    """
    lengths, given = _layout(shape, strides, "index_calculator")
    ndim = len(lengths)
    chosen = tuple(index(each) for each in axes)
    places = [each % ndim if -ndim <= each < ndim else -1 for each in chosen]
    if -1 in places or len(set(places)) < len(places):
        raise ValueError(f"index_calculator: axes is {chosen}; accepted: different axes of an array with {ndim}")
    out = tuple(lengths[each] for each in places)
    _require_room(out, f"index_calculator: axes is {chosen}, of lengths {out}")
    return _config(out, tuple(given[each] for each in places))


def _layout(
    shape: Sequence[int], strides: Sequence[int] | None, function: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lengths and the strides, after a check."""
    lengths = tuple(index(each) for each in shape)
    given = contiguous_strides(lengths) if strides is None else tuple(index(each) for each in strides)
    if len(given) != len(lengths):
        raise ValueError(f"{function}: strides is {given}; accepted: {len(lengths)} integers, as shape has")
    return lengths, given


def _require_room(lengths: tuple[int, ...], what: str) -> None:
    if len(lengths) > MOST_AXES or prod(lengths) >= 2**31:
        raise ValueError(f"{what}; accepted: at most {MOST_AXES} axes, fewer than 2**31 elements")


def _config(lengths: tuple[int, ...], steps: tuple[int, ...]) -> BroadcastConfig:
    """The configuration of axes, which the kernel goes through from the innermost on."""
    config = BroadcastConfig(rank=len(lengths))
    for place, (length, step) in enumerate(zip(reversed(lengths), reversed(steps), strict=True)):
        config.divmoders[place] = fast_divmod(max(length, 1))
        config.strides[place] = step
    return config
