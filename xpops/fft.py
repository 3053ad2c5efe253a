"""Discrete Fourier transforms, for arrays of any framework."""

from xpops.api import fft as _fft
from xpops.api.fft import *  # noqa: F403

__all__ = _fft.__all__
