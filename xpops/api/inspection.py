"""Inspection functions of the standard."""

from __future__ import annotations

from typing import Any

from xpops.api import devices as _devices
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.engine import devices

# The standard allows no other dtypes here: not float16, bfloat16 and float8.
_STANDARD = (
    dt.bool,
    *dt.SIGNED_INTEGERS,
    *dt.UNSIGNED_INTEGERS,
    dt.float32,
    dt.float64,
    *dt.COMPLEX_FLOATS,
)


class ArrayNamespaceInfo:
    """The inspection functions of the standard. Every device supports every dtype.

    Examples
    --------
    >>> info = xp.__array_namespace_info__()
    >>> info.default_dtypes()["real floating"], info.default_device()
    (dtype('float64'), Device('cpu'))
    """

    def capabilities(self) -> dict[str, bool | int | None]:
        """Which optional features of the standard are supported."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """The device of new arrays."""
        return _devices.default_device()

    def default_dtypes(self, *, device: str | None = None) -> dict[str, DType]:
        """The dtypes that Python scalars become, and the dtype of indices."""
        _devices.device_or_default(device, "default_dtypes")
        return {
            "real floating": dt.DEFAULT_FLOAT,
            "complex floating": dt.DEFAULT_COMPLEX,
            "integral": dt.DEFAULT_INTEGER,
            "indexing": dt.DEFAULT_INTEGER,
        }

    def dtypes(self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """The dtypes of the standard, by name. With `kind`, only those of one or several kinds (see `xpops.isdtype`).

        Raises
        ------
        ValueError
            If a kind is unknown.
        """
        _devices.device_or_default(device, "dtypes")
        kinds: tuple[Any, ...] = tuple(dt.KINDS) if kind is None else (kind,) if isinstance(kind, str) else kind
        for word in kinds:
            if word not in dt.KINDS:
                raise ValueError(
                    f"dtypes: kind is {word!r}; accepted: {', '.join(map(repr, dt.KINDS))}, or a tuple of them"
                )
        return {dtype.name: dtype for dtype in _STANDARD if any(dtype in dt.KINDS[word] for word in kinds)}

    def devices(self) -> tuple[Device, ...]:
        """The available devices."""
        return devices()


_INFO = ArrayNamespaceInfo()


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """The inspection functions of the standard, as an object.

    Examples
    --------
    >>> "cpu" in xp.__array_namespace_info__().devices()
    True
    """
    return _INFO


def get_include() -> str:
    """The directory of the headers ``xpops/...``, for nvcc and for PyTorch's extensions.

    Returns
    -------
    str
        For the option ``-I``, or the argument `extra_include_paths` of ``torch.utils.cpp_extension.load``. Kernels that
        xpops compiles find the headers without it.

    Examples
    --------
    >>> from pathlib import Path
    >>> Path(xp.get_include(), "xpops", "kps.cuh").is_file()
    True
    """
    from xpops.engine.cuda.runtime.headers import include_directory

    return str(include_directory())
