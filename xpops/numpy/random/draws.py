"""The draws from which distributions are composed."""

from __future__ import annotations

import math
from typing import Any

from xpops.api.creation.conversion import asarray
from xpops.api.manipulation.shapes import broadcast_shapes
from xpops.api.random.generator import Generator as _Generator
from xpops.arrays import Array
from xpops.core import dtypes as dt
from xpops.numpy.arguments import is_scalar
from xpops.ops.random import LAWS


class Draws(_Generator):
    """Draws of standard distributions, in the shape that NumPy gives results of parameters."""

    def _shaped(self, size: Any, *parameters: Any) -> tuple[tuple[int, ...], list[Any]]:
        """The shape of a result, and the parameters: scalars, or float64 arrays of ours."""
        found = [float(each) if is_scalar(each) else asarray(each, dtype=dt.float64) for each in parameters]
        if size is None:
            return broadcast_shapes(*(each.shape for each in found if isinstance(each, Array)), ()), found
        return ((size,) if isinstance(size, int) else tuple(size)), found

    def _unit(self, shape: tuple[int, ...]) -> Array:
        return self._draw("uniform", LAWS["uniform"], shape, dt.float64, None, 0.0, 1.0)

    def _gaussian(self, shape: tuple[int, ...]) -> Array:
        return self._draw("normal", LAWS["normal"], shape, dt.float64, None, 0.0, 1.0)

    def _waiting(self, shape: tuple[int, ...]) -> Array:
        """Numbers of the exponential distribution, above 0."""
        return self._draw("exponential", LAWS["exponential"], shape, dt.float64, None, 1.0)


def known(value: Any) -> list[Any]:
    """The numbers of a parameter that the host has: a scalar's, a list's. None of an array."""
    if isinstance(value, (list, tuple)):
        return [number for each in value for number in known(each)]
    return [value] if is_scalar(value) else []


def require(
    function: str, argument: str, value: Any, lowest: float, *, beyond: bool = False, highest: float = math.inf
) -> None:
    """Refuse a number that is not from `lowest` to `highest`; with `beyond`, `lowest` is refused, too.

    Arrays are not checked, so that nothing waits for the device: there, such parameters give NaN or any number.

    Raises
    ------
    ValueError
    """
    for number in known(value):
        if not (lowest < number <= highest if beyond else lowest <= number <= highest):
            accepted = f"above {lowest}" if beyond else f"{lowest} and more"
            raise ValueError(f"{function}: {argument} is {number!r}; accepted: {accepted}, up to {highest}")
