"""The rows of the laws of random numbers: the probability distributions."""

from __future__ import annotations

from dataclasses import dataclass

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """One probability law, as data: how random words become elements. Rows hash by identity, as keys of the plan cache.

    Attributes
    ----------
    name : str
        The functor in ``native/xpops/math/random.cuh`` has this name in CamelCase.
    makes : str
        The category of dtypes of its elements.
    words : int
        The 32-bit words that an element takes; a float64 element takes twice as many.
    parameters : int
        The number of its parameters: floats for a law of real numbers, else 64-bit integers.
    """

    name: str
    makes: str
    words: int
    parameters: int

    @property
    def functor(self) -> str:
        """The functor's name in C++."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def real(self) -> bool:
        """Whether it makes real numbers."""
        return self.makes == "real floating-point"

    def count(self, dtype: DType) -> int:
        """The elements that Philox makes of one counter, which gives four words.

        Examples
        --------
        >>> LAWS["uniform"].count(dt.float32), LAWS["uniform"].count(dt.float64)
        (4, 2)
        """
        return 4 // (2 * self.words if dtype == dt.float64 else self.words)

    def __repr__(self) -> str:
        return f"<law {self.name}>"


_ROWS = (
    Law("uniform", "real floating-point", 1, 2),
    Law("normal", "real floating-point", 1, 2),
    Law("exponential", "real floating-point", 1, 1),
    Law("bernoulli", "boolean", 1, 1),
    Law("integers", "integer", 2, 2),
    Law("wide_integers", "integer", 4, 2),
)

LAWS: dict[str, Law] = {row.name: row for row in _ROWS}
