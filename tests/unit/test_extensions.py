"""The names of the standard's extensions, each with an example."""

from __future__ import annotations

from typing import Any

import pytest

import xpops as xp

FFT = "fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft fftfreq rfftfreq fftshift ifftshift"
LINALG = (
    "cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank "
    "matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm"
)


@pytest.mark.parametrize(("extension", "names", "more"), [(xp.fft, FFT, ()), (xp.linalg, LINALG, ("LinAlgError",))])
def test_names(extension: Any, names: str, more: tuple[str, ...]) -> None:
    assert sorted(extension.__all__) == sorted((*names.split(), *more))
    for name in names.split():
        assert ">>> " in getattr(extension, name).__doc__, name
