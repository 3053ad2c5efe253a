"""Discrete Fourier transforms, for arrays of any framework."""

from xpops.api.fft.complex_transforms import fft, fftn, ifft, ifftn
from xpops.api.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from xpops.api.fft.real_transforms import hfft, ihfft, irfft, irfftn, rfft, rfftn

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]
