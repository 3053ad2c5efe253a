"""The rows of the Fourier transforms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xpops.core import dtypes as dt
from xpops.ops.torch import COMPLEX
from xpops.ops.torch import TorchFunction as Torch


@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """A Fourier transform, as data. Rows hash by identity: they are keys of the plan cache.

    Attributes
    ----------
    name : str
        The public name.
    kind : {"fft", "ifft", "rfft", "irfft"}
        What the engine computes, without scaling. "fft" and "ifft": complex. "rfft": from real numbers to half of a
        Hermitian spectrum. "irfft": its inverse.
    torch : TorchFunction or None
        What computes it on torch's tensors in the host's memory. It takes the public function's parameters, too.
    """

    name: str
    kind: Literal["fft", "ifft", "rfft", "irfft"]
    torch: Torch | None = None

    def __repr__(self) -> str:
        return f"<transform {self.name}>"


_REAL = frozenset((dt.float32, dt.float64))

# Torch's inverse transforms to real numbers take longer than NumPy's.
_ROWS = (
    Transform("fft", "fft", Torch("fft.fft", COMPLEX)),
    Transform("fftn", "fft", Torch("fft.fftn", COMPLEX)),
    Transform("hfft", "irfft"),
    Transform("ifft", "ifft", Torch("fft.ifft", COMPLEX)),
    Transform("ifftn", "ifft", Torch("fft.ifftn", COMPLEX)),
    Transform("ihfft", "rfft", Torch("fft.rfft", _REAL)),
    Transform("irfft", "irfft"),
    Transform("irfftn", "irfft"),
    Transform("rfft", "rfft", Torch("fft.rfft", _REAL)),
    Transform("rfftn", "rfft", Torch("fft.rfftn", _REAL)),
)

TRANSFORMS: dict[str, Transform] = {row.name: row for row in _ROWS}
