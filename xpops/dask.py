"""Dask arrays of xpops blocks. Dask imports this module for ``dask.config.set({"array.backend": "xpops"})``.

The backend makes new Dask arrays of xpops blocks. ``import xpops.dask`` suffices for Dask arrays that are made of xpops
arrays.

>>> import dask
>>> import dask.array as da
>>> with dask.config.set({"array.backend": "xpops"}):
...     x = da.ones((4, 6), chunks=3)
>>> (x + 1).sum(axis=1).compute()
Array([12., 12., 12., 12.], dtype=float64, device='cpu')
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.array import backends, dispatch
from dask.array.backends import ArrayBackendEntrypoint
from dask.sizeof import sizeof

import xpops
from xpops.core.devices import Device
from xpops.numpy.random import Generator, default_rng

__all__ = ["Backend", "BitGenerator", "RandomState"]


class BitGenerator:
    """A seed in the form of NumPy's bit generators: Dask spawns one for each block from it.

    Parameters
    ----------
    seed : int or numpy.random.SeedSequence, optional
    """

    def __init__(self, seed: Any = None) -> None:
        self._seed_seq = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)


class RandomState(Generator):
    """The generator of a block, with the names of `numpy.random.RandomState`.

    Parameters
    ----------
    seed : array of uint32 or int, optional
        Dask's seeds of blocks are arrays.
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(_integer(np.random.SeedSequence(seed)))

    random_sample = Generator.random
    randint = Generator.integers


def _generator(seed: Any = None) -> Generator:
    return default_rng(_integer(seed._seed_seq) if isinstance(seed, BitGenerator) else seed)


def _integer(sequence: np.random.SeedSequence) -> int:
    return int.from_bytes(sequence.generate_state(4).tobytes(), "little")


def _creation(name: str) -> Callable[..., Any]:
    """Dask's own function, which makes blocks as NumPy's function does for an array of ours: ``numpy.ones_like``."""

    def create(*arguments: Any, meta: Any = None, **options: Any) -> Any:
        with dask.config.set({"array.backend": "numpy"}):
            return getattr(da, name)(*arguments, meta=xpops.empty(()) if meta is None else meta, **options)

    create.__name__ = name
    return create


class Backend(ArrayBackendEntrypoint):  # type: ignore[misc]
    """What Dask asks of the backend "xpops": functions that make arrays, and generators of random numbers."""

    RandomState = RandomState
    default_bit_generator = BitGenerator

    empty, full, ones, zeros = (staticmethod(_creation(name)) for name in ("empty", "full", "ones", "zeros"))

    @staticmethod
    def arange(*arguments: Any, like: Any = None, **options: Any) -> Any:
        """As `dask.array.arange`."""
        with dask.config.set({"array.backend": "numpy"}):
            return da.arange(*arguments, like=xpops.empty(()) if like is None else like, **options)

    @staticmethod
    def to_backend(data: Any, **options: Any) -> Any:
        """The Dask array with its blocks as xpops arrays on the default device."""
        return data if isinstance(data._meta, xpops.Array) else data.map_blocks(xpops.asarray, **options)


def _from_host(host: Any, device: Device) -> xpops.Array:
    return xpops.asarray(host, device=device, copy=True)


def _take(x: xpops.Array, indices: Any, axis: int | None = None) -> Any:
    return xpops.numpy.take(x, xpops.asarray(indices, device=x.device), axis)  # Dask's indices are on the host


def _register() -> None:
    backends.array_creation_dispatch.register_backend("xpops", Backend())
    da.register_chunk_type(xpops.Array)
    dispatch.empty_lookup.register(xpops.Array, xpops.numpy.empty)
    dispatch.take_lookup.register(xpops.Array, _take)
    dispatch.percentile_lookup.register(xpops.Array, backends.percentile)
    # By default Dask counts on the host.
    dispatch.numel_lookup.register(xpops.Array, backends._numel_arraylike)
    dispatch.to_numpy_dispatch.register(xpops.Array, lambda data, **options: data.to_numpy())
    sizeof.register(xpops.Array, lambda x: x.nbytes)
    # Dask calls these functions of the package in which the bit generator is.
    vars(xpops.random).update(default_rng=_generator, RandomState=RandomState)
    # A worker that gets an array imports this module, and so registers the class.
    copyreg.pickle(xpops.Array, lambda x: (_from_host, (x.to_numpy(), x.device)))


_register()
