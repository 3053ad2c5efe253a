"""The derivatives of Fourier transforms: the transforms back, without their scale."""

from __future__ import annotations

from typing import Any

from xpops.ops.derivatives.axes import Shape, sliced

_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def along_axis(xp: Any, g: Any, x_shape: Shape, op: Any, n: int | None, axis: int, norm: str) -> Any:
    return _transform(xp, g, x_shape, op.kind, (n,), (axis % len(x_shape),), norm)


def along_axes(xp: Any, g: Any, x_shape: Shape, op: Any, s: Any, axes: Any, norm: str) -> Any:
    found = range(len(x_shape)) if axes is None else axes if isinstance(axes, tuple) else (axes,)
    places = tuple(axis % len(x_shape) for axis in found)
    lengths = (None,) * len(places) if s is None else s if isinstance(s, tuple) else (s,)
    return _transform(xp, g, x_shape, op.kind, tuple(None if n == -1 else n for n in lengths), places, norm)


def _transform(
    xp: Any, g: Any, x_shape: Shape, kind: str, lengths: tuple[int | None, ...], axes: tuple[int, ...], norm: str
) -> Any:
    if not axes:
        return g
    back, last = _OPPOSITE[norm], axes[-1]
    shape = xp.facts(g).shape
    if kind == "irfft":
        found = _doubled(xp, xp.fft.rfftn(g, axes=axes, norm=back), shape[last], last)
    elif kind == "ifft":
        found = xp.fft.fftn(g, axes=axes, norm=back)
    else:
        if kind == "rfft":
            count = x_shape[last] if lengths[-1] is None else lengths[-1]
            g = xp.pad(g, {last: (0, count - shape[last])})
        found = xp.fft.ifftn(g, axes=axes, norm=back)
    for axis in axes:
        found = _resized(xp, found, axis, x_shape[axis])
    return found


def _doubled(xp: Any, x: Any, points: int, axis: int) -> Any:
    """Twice the elements of a half spectrum that stand for two of the whole one."""
    ndim, single = len(xp.facts(x).shape), [slice(0, 1)]
    inner = slice(1, (points + 1) // 2)
    parts = [x[sliced(ndim, axis, single[0])], xp.multiply(x[sliced(ndim, axis, inner)], 2)]
    if points % 2 == 0:
        parts.append(x[sliced(ndim, axis, slice(points // 2, points // 2 + 1))])
    return xp.concat(parts, axis=axis)


def _resized(xp: Any, x: Any, axis: int, length: int) -> Any:
    """`x` with zeros at the end of an axis, or without its end."""
    shape = xp.facts(x).shape
    if shape[axis] >= length:
        return x if shape[axis] == length else x[sliced(len(shape), axis, slice(0, length))]
    return xp.pad(x, {axis: (0, length - shape[axis])})
