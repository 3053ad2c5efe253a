"""`numpy.random`: generators. The same seed gives the same numbers on every device, up to rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from xpops.core import elsewhere
from xpops.numpy.random.generator import Generator

__all__ = ["Generator", "default_rng"]


def default_rng(seed: Any = None) -> Generator:
    """As `numpy.random.default_rng`: a generator of a seed, by default a random one.

    Parameters
    ----------
    seed : int or Generator, optional
        A generator of this class is returned as it is.

    Examples
    --------
    >>> import xpops.numpy as np
    >>> np.random.default_rng(7).integers(10, size=5)
    Array([7, 8, 3, 0, 9], dtype=int64, device='cpu')
    """
    return seed if isinstance(seed, Generator) else Generator(seed)


if not TYPE_CHECKING:  # a type checker would take any name for an attribute

    def __getattr__(name: str) -> NoReturn:
        elsewhere.refuse(__name__, name, elsewhere.RANDOM)
