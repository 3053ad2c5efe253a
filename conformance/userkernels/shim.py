"""cupy's four classes of user-defined kernels, with cupy's signatures, on `xpops.kernel`. Arrays stay cupy's."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import xpops as xp

# What cupy's tests look for in the messages of errors, by a part of the message of xpops.
_WORDS = {
    "beside arrays that are not raw": "Specified 'size' can be used only if all of the ndarray are 'raw'",
    "no array says how many elements": "Loop size is undecided.",
    ": out has shape": "Out shape is mismatched",
    ": name is": "Invalid kernel name",
}


@contextmanager
def _cupys_words() -> Iterator[None]:
    """Put cupy's words before those of a ValueError."""
    try:
        yield
    except ValueError as error:
        for part, words in _WORDS.items():
            if part in str(error):
                raise ValueError(f"{words}: {error}") from None
        raise


class ElementwiseKernel:
    """``cupy.ElementwiseKernel``."""

    def __init__(self, *arguments: Any, doc: str = "", **options: Any) -> None:
        with _cupys_words():
            self._kernel = xp.kernel.ElementwiseKernel(*arguments, **options)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Compute; results without any array among the arguments become cupy's, too."""
        with _cupys_words():
            made = self._kernel(*arguments, **options)
        return tuple(map(_as_cupy, made)) if isinstance(made, tuple) else _as_cupy(made)


class ReductionKernel:
    """``cupy.ReductionKernel``."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        with _cupys_words():
            self._kernel = xp.kernel.ReductionKernel(*arguments, **options)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Reduce."""
        return self._kernel(*arguments, **options)


class RawKernel:
    """``cupy.RawKernel``. Every code is compiled by NVRTC, whatever `backend` says."""

    def __init__(
        self,
        code: str,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        *,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        _require_no_jitify(jitify)
        self._kernel = xp.kernel.RawKernel(code, name, options=(*options, *_headers()))
        self._cooperative = enable_cooperative_groups

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0) -> None:
        """Launch."""
        self._kernel(grid, block, args, shared=shared_mem, cooperative=self._cooperative)


class RawModule:
    """``cupy.RawModule`` of a code."""

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | None = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None,
        jitify: bool = False,
    ) -> None:
        if code is None or path is not None:
            raise TypeError("RawModule: xpops compiles code, and loads no files")
        _require_no_jitify(jitify)
        options = (*options, *_headers())
        self._module = xp.kernel.RawModule(code, options=options, name_expressions=name_expressions or ())
        self._cooperative = enable_cooperative_groups

    def get_function(self, name: str) -> RawKernel:
        """A kernel of the module."""
        made = RawKernel.__new__(RawKernel)
        made._kernel, made._cooperative = self._module.get_function(name), self._cooperative
        return made


KINDS = (ElementwiseKernel, ReductionKernel, RawKernel, RawModule)


def _as_cupy(x: Any) -> Any:
    if not isinstance(x, xp.Array):
        return x
    import cupy

    return cupy.from_dlpack(x)


def _require_no_jitify(jitify: bool) -> None:
    if jitify:
        raise ValueError("jitify is True; accepted: False, as xpops finds the standard's headers itself")


def _headers() -> tuple[str, ...]:
    """The option that names the folder of ``cupy/complex.cuh``, if cupy is installed."""
    found = importlib.util.find_spec("cupy")
    return () if found is None or found.origin is None else (f"-I{Path(found.origin).parent / '_core/include'}",)
