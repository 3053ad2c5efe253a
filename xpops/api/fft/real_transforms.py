"""Discrete Fourier transforms from and to real numbers."""

from __future__ import annotations

from typing import Any

from xpops.api.elementwise.complex_numbers import conj
from xpops.api.signatures import array_function
from xpops.core.operands import Axes
from xpops.dispatch.fft import NORMS, along_axes, along_axis
from xpops.dispatch.primitives import unary
from xpops.ops.fft import TRANSFORMS

__all__ = ["hfft", "ihfft", "irfft", "irfftn", "rfft", "rfftn"]

# `hfft` and `ihfft` call the transform of the other direction, with this norm.
_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


@array_function
def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The real spectrum of a Hermitian signal. `x` is the first half of the signal.

    Parameters
    ----------
    x : array
        As for `irfft`.
    n : int, optional
        The number of points of the spectrum; by default 2 (M - 1) for M elements along the axis.
    axis : int
    norm : {"backward", "ortho", "forward"}
        As for `fft`.

    Returns
    -------
    array
        Real, with `n` elements along `axis`.

    Raises
    ------
    TypeError, ValueError, IndexError
        As `irfft`.

    Examples
    --------
    >>> xp.fft.hfft(xp.asarray([1 + 0j, 1j, 2 + 0j]))
    Array([ 3.,  1.,  3., -3.], dtype=float64, device='cpu')
    """
    return unary(along_axis, "hfft", conj(x), TRANSFORMS["hfft"], n, axis, _opposite_norm(norm))


@array_function
def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `hfft`: the first half of the Hermitian signal with the real spectrum `x`.

    Parameters
    ----------
    x : array
        float32 or float64.
    n : int, optional
        The number of points of the spectrum: `x` is cropped or padded with zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}
        As for `ifft`.

    Returns
    -------
    array
        Complex, with ``n // 2 + 1`` elements along `axis`.

    Raises
    ------
    TypeError, ValueError, IndexError
        As `rfft`.

    Examples
    --------
    >>> xp.fft.ihfft(xp.asarray([3.0, -3.0, 3.0, 1.0]))
    Array([1.-0.j, 0.-1.j, 2.-0.j], dtype=complex128, device='cpu')
    """
    return conj(unary(along_axis, "ihfft", x, TRANSFORMS["ihfft"], n, axis, _opposite_norm(norm)))


@array_function
def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `rfft`: a real signal from the first half of its spectrum.

    Parameters
    ----------
    x : array
        complex64 or complex128; float32 and float64 become complex. The other half of the spectrum is the
        mirrored conjugate. So imaginary parts are ignored at frequency 0, and at the highest frequency if `n` is even.
    n : int, optional
        The number of points of the signal: `x` is cropped or padded with zeros to ``n // 2 + 1`` elements. By default
        2 (M - 1) for M elements along the axis, which is even.
    axis : int
    norm : {"backward", "ortho", "forward"}
        As for `ifft`.

    Returns
    -------
    array
        Real, with `n` elements along `axis`.

    Raises
    ------
    TypeError, ValueError, IndexError
        As `fft`.

    Examples
    --------
    >>> xp.fft.irfft(xp.asarray([5 + 0j, 1 + 0j, -3 + 0j]))
    Array([1., 2., 0., 2.], dtype=float64, device='cpu')
    """
    return unary(along_axis, "irfft", x, TRANSFORMS["irfft"], n, axis, norm)


@array_function
def irfftn(x: Any, /, *, s: Any = None, axes: Axes | None = None, norm: str = "backward") -> Any:
    """The inverse of `rfftn`: a real signal from half of its spectrum.

    Parameters
    ----------
    x : array
        As for `irfft`.
    s : tuple of int, optional
        The number of points of the signal along each of `axes`, as for `fftn`; along the last axis as for `irfft`.
    axes : tuple of int, optional
        Distinct; by default all.
    norm : {"backward", "ortho", "forward"}
        As for `ifftn`.

    Returns
    -------
    array
        Real.

    Raises
    ------
    TypeError, ValueError, IndexError
        As `fftn`.

    Examples
    --------
    >>> xp.fft.irfftn(xp.asarray([[10 + 0j, -2 + 0j], [-4 + 0j, 0j]]))
    Array([[1., 2.],
           [3., 4.]], dtype=float64, device='cpu')
    """
    return unary(along_axes, "irfftn", x, TRANSFORMS["irfftn"], s, axes, norm)


@array_function
def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The discrete Fourier transform of a real signal along an axis: the first half of the spectrum.

    Parameters
    ----------
    x : array
        float32 or float64.
    n : int, optional
        The number of points: `x` is cropped or padded with zeros to this length. By default the length of the axis.
    axis : int
    norm : {"backward", "ortho", "forward"}
        As for `fft`.

    Returns
    -------
    array
        Complex, with ``n // 2 + 1`` elements along `axis`.

    Raises
    ------
    TypeError, ValueError, IndexError
        As `fft`.

    Examples
    --------
    >>> xp.fft.rfft(xp.asarray([1.0, 2.0, 0.0, 2.0]))
    Array([ 5.+0.j,  1.+0.j, -3.+0.j], dtype=complex128, device='cpu')
    """
    return unary(along_axis, "rfft", x, TRANSFORMS["rfft"], n, axis, norm)


@array_function
def rfftn(x: Any, /, *, s: Any = None, axes: Axes | None = None, norm: str = "backward") -> Any:
    """The discrete Fourier transform of a real signal along several axes: half of the spectrum along the last axis.

    Parameters
    ----------
    x : array
        float32 or float64.
    s, axes : tuple of int, optional
    norm : {"backward", "ortho", "forward"}
        As for `fftn`.

    Returns
    -------
    array
        Complex, with ``s[-1] // 2 + 1`` elements along the last of `axes`.

    Raises
    ------
    TypeError, ValueError, IndexError
        As `fftn`.

    Examples
    --------
    >>> xp.fft.rfftn(xp.ones((4, 6))).shape
    (4, 4)
    """
    return unary(along_axes, "rfftn", x, TRANSFORMS["rfftn"], s, axes, norm)


def _opposite_norm(norm: Any) -> Any:
    return _OPPOSITE[norm] if norm in NORMS else norm
