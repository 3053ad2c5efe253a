"""`numpy.fft`, for arrays of any framework. Integers become float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.api.fft import complex_transforms, frequencies, real_transforms
from xpops.numpy.arguments import as_axes, floating, given, store

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def _line(function: Callable[..., Any]) -> Callable[..., Any]:
    """A transform along one axis."""
    name = function.__name__

    def call(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
        return store(function(floating(a), n=n, axis=axis, norm=norm or "backward"), out, name)

    return _named(call, name)


def _axes(function: Callable[..., Any], name: str, default: Any = None) -> Callable[..., Any]:
    """A transform along several axes; by default along `default`."""

    def call(a: Any, s: Any = None, axes: Any = default, norm: str | None = None, out: Any = None) -> Any:
        a = floating(a)
        if s is not None and axes is None:
            axes = tuple(range(-len(s), 0))
        return store(function(a, s=as_axes(s), axes=as_axes(axes), norm=norm or "backward"), out, name)

    return _named(call, name)


def _named(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"As `numpy.fft.{name}`."
    return call


def fftshift(x: Any, axes: Any = None) -> Any:
    """As `numpy.fft.fftshift`."""
    return frequencies.fftshift(given(x), axes=as_axes(axes))


def ifftshift(x: Any, axes: Any = None) -> Any:
    """As `numpy.fft.ifftshift`."""
    return frequencies.ifftshift(given(x), axes=as_axes(axes))


def fftfreq(n: int, d: float = 1.0, device: Any = None) -> Any:
    """As `numpy.fft.fftfreq`."""
    return frequencies.fftfreq(n, d=d, device=device)


def rfftfreq(n: int, d: float = 1.0, device: Any = None) -> Any:
    """As `numpy.fft.rfftfreq`."""
    return frequencies.rfftfreq(n, d=d, device=device)


fft, ifft = _line(complex_transforms.fft), _line(complex_transforms.ifft)
rfft, irfft = _line(real_transforms.rfft), _line(real_transforms.irfft)
hfft, ihfft = _line(real_transforms.hfft), _line(real_transforms.ihfft)
fftn, ifftn = _axes(complex_transforms.fftn, "fftn"), _axes(complex_transforms.ifftn, "ifftn")
rfftn, irfftn = _axes(real_transforms.rfftn, "rfftn"), _axes(real_transforms.irfftn, "irfftn")
fft2, ifft2 = (
    _axes(complex_transforms.fftn, "fft2", (-2, -1)),
    _axes(complex_transforms.ifftn, "ifft2", (-2, -1)),
)
rfft2, irfft2 = (
    _axes(real_transforms.rfftn, "rfft2", (-2, -1)),
    _axes(real_transforms.irfftn, "irfft2", (-2, -1)),
)
