"""Discrete Fourier transforms of complex numbers."""

from __future__ import annotations

from typing import Any

from xpops.api.signatures import array_function
from xpops.core.operands import Axes
from xpops.dispatch.fft import along_axes, along_axis
from xpops.dispatch.primitives import unary
from xpops.ops.fft import TRANSFORMS

__all__ = ["fft", "fftn", "ifft", "ifftn"]


@array_function
def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The discrete Fourier transform along an axis.

    Parameters
    ----------
    x : array
        complex64 or complex128; float32 and float64 become complex.
    n : int, optional
        The number of points: `x` is cropped or padded with zeros to this length. By default the length of the axis.
    axis : int
    norm : {"backward", "ortho", "forward"}
        The sums are divided by 1, by the square root of `n`, or by `n`; those of the inverse by `n`, the root, or 1.

    Returns
    -------
    array
        Complex, with `n` elements along `axis`.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    ValueError
        If `n` is not positive, or there is no such `norm`.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.fft.fft(xp.asarray([1.0, 2.0, 0.0, 2.0]))
    Array([ 5.+0.j,  1.+0.j, -3.+0.j,  1.+0.j], dtype=complex128, device='cpu')
    """
    return unary(along_axis, "fft", x, TRANSFORMS["fft"], n, axis, norm)


@array_function
def fftn(x: Any, /, *, s: Any = None, axes: Axes | None = None, norm: str = "backward") -> Any:
    """The discrete Fourier transform along several axes.

    Parameters
    ----------
    x : array
        complex64 or complex128; float32 and float64 become complex.
    s : tuple of int, optional
        The number of points along each of `axes`, which must be given, too: `x` is cropped or padded with zeros. -1 is
        the length of the axis, as is the default.
    axes : tuple of int, optional
        Distinct; by default all.
    norm : {"backward", "ortho", "forward"}
        The sums are divided by 1, by the square root of the number of all points, or by that number; those of the
        inverse by the number, the root, or 1.

    Returns
    -------
    array
        Complex.

    Raises
    ------
    TypeError
        If the dtype is not accepted.
    ValueError
        If a length is not positive, `s` is given without `axes` or of another length, an axis is named twice, or there
        is no such `norm`.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.fft.fftn(xp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    Array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex128, device='cpu')
    """
    return unary(along_axes, "fftn", x, TRANSFORMS["fftn"], s, axes, norm)


@array_function
def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `fft`, with the same arguments. The norm "backward" divides by `n`.

    Examples
    --------
    >>> xp.fft.ifft(xp.asarray([5 + 0j, 1 + 0j, -3 + 0j, 1 + 0j]))
    Array([1.+0.j, 2.+0.j, 0.+0.j, 2.+0.j], dtype=complex128, device='cpu')
    """
    return unary(along_axis, "ifft", x, TRANSFORMS["ifft"], n, axis, norm)


@array_function
def ifftn(x: Any, /, *, s: Any = None, axes: Axes | None = None, norm: str = "backward") -> Any:
    """The inverse of `fftn`, with the same arguments. The norm "backward" divides by the number of points.

    Examples
    --------
    >>> xp.fft.ifftn(xp.asarray([[10 + 0j, -2 + 0j], [-4 + 0j, 0j]]))
    Array([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]], dtype=complex128, device='cpu')
    """
    return unary(along_axes, "ifftn", x, TRANSFORMS["ifftn"], s, axes, norm)
