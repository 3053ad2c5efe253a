"""Fixed views, in addition to random ones: cropped, mirrored, interleaved, repeated; the same in NumPy and xpops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

NDArray = np.ndarray[Any, Any]


class Cut(NamedTuple):
    """A view of a C-contiguous array.

    Attributes
    ----------
    base : tuple of int
        The array's shape.
    key : tuple of slice
        The slices of the array.
    order : tuple of int
        The permutation of the axes of the slice; empty for none.
    """

    base: tuple[int, ...]
    key: Any = ...
    order: tuple[int, ...] = ()

    def of(self, namespace: Any, array: Any) -> Any:
        """The view of an array that has the shape `base`."""
        part = array[self.key]
        return namespace.permute_dims(part, self.order) if self.order else part


# Axes are long enough for packs of 16 bytes. But steps are not multiples of 16 bytes, or the start is not.
CUTS: dict[str, Cut] = {
    "whole": Cut((40, 64)),
    "cropped": Cut((40, 67), np.s_[:, :64]),
    "cropped on the left": Cut((40, 67), np.s_[:, 3:]),
    "cropped to packs": Cut((40, 80), np.s_[:, :64]),
    "cropped to packs elsewhere": Cut((40, 80), np.s_[:, 3:67]),
    "cropped below": Cut((40, 64), np.s_[:37]),
    "every third row": Cut((40, 64), np.s_[::3]),
    "every other column": Cut((40, 64), np.s_[:, ::2]),
    "mirrored": Cut((40, 64), np.s_[:, ::-1]),
    "upside down": Cut((40, 64), np.s_[::-1]),
    "turned": Cut((40, 64), np.s_[::-1, ::-1]),
    "mirrored and cropped": Cut((40, 67), np.s_[:, 63::-1]),
    "mirrored steps": Cut((40, 64), np.s_[:, ::-3]),
    "transposed": Cut((40, 64), order=(1, 0)),
    "cropped and transposed": Cut((40, 67), np.s_[:, :64], (1, 0)),
    "mirrored and transposed": Cut((40, 64), np.s_[:, ::-1], (1, 0)),
    "one row": Cut((40, 64), np.s_[7:8]),
    "one column": Cut((40, 64), np.s_[:, 7:8]),
    "interleaved outside": Cut((4, 6, 16), order=(1, 0, 2)),
    "interleaved inside": Cut((4, 6, 16), order=(0, 2, 1)),
    "rotated": Cut((4, 6, 16), order=(2, 0, 1)),
    "mirrored planes": Cut((4, 6, 16), np.s_[:, :, ::-1]),
    "mirrored between": Cut((4, 6, 16), np.s_[:, ::-1]),
    "cropped planes": Cut((4, 7, 19), np.s_[:, 1:, :16]),
    "cropped between": Cut((4, 7, 16), np.s_[:, :6]),
    "cropped and interleaved": Cut((4, 6, 19), np.s_[:, :, :16], (1, 0, 2)),
}


def base_of(name: str, dtype: Any) -> NDArray:
    """The array of a view: small integers, different from their neighbours."""
    shape = CUTS[name].base
    numbers = np.arange(int(np.prod(shape))) % (2 if np.dtype(dtype) == bool else 61)
    return numbers.astype(dtype).reshape(shape)


def cut_of(name: str, dtype: Any) -> NDArray:
    """The view of `base_of`."""
    view: NDArray = CUTS[name].of(np, base_of(name, dtype))
    return view
