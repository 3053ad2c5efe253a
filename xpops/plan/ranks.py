"""The two elements of a sorted line that enclose a quantile, by Hyndman and Fan's nine methods and NumPy's others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]


def _interpolation_method(alpha: float, beta: float) -> Callable[[int, NDArray], NDArray]:
    """The methods with parameters alpha and beta, which set the quantiles of the first and the last element."""
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _averaged_inverted_cdf(n: int, q: NDArray) -> NDArray:
    place = n * q - 1
    return np.where(place % 1 == 0, place + 0.5, np.ceil(place))


def _closest_observation(n: int, q: NDArray) -> NDArray:
    """The nearest element; of two equally near ones, that with the even number, counted from 1."""
    place = n * q - 1.5
    below = np.floor(place)
    return np.where((place == below) & (below % 2 == 1), below, below + 1)


# (length, quantiles) -> places in the sorted line, counted from 0; fractional between two elements.
METHODS: dict[str, Callable[[int, NDArray], NDArray]] = {
    "linear": lambda n, q: (n - 1) * q,
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "midpoint": lambda n, q: (np.floor((n - 1) * q) + np.ceil((n - 1) * q)) / 2,
    "nearest": lambda n, q: np.rint((n - 1) * q),
    "inverted_cdf": lambda n, q: np.ceil(n * q - 1),
    "averaged_inverted_cdf": _averaged_inverted_cdf,
    "closest_observation": _closest_observation,
    "interpolated_inverted_cdf": _interpolation_method(0, 1),
    "hazen": _interpolation_method(0.5, 0.5),
    "weibull": _interpolation_method(0, 0),
    "median_unbiased": _interpolation_method(1 / 3, 1 / 3),
    "normal_unbiased": _interpolation_method(3 / 8, 3 / 8),
}


def ranks(length: int, q: NDArray, method: str) -> tuple[NDArray, NDArray, NDArray]:
    """The places of the elements below and above each quantile, int64, and its fraction of the way between them.

    Examples
    --------
    >>> [part.tolist() for part in ranks(4, np.asarray([0.0, 0.5, 1.0]), "linear")]
    [[0, 1, 3], [0, 2, 3], [0.0, 0.5, 0.0]]
    """
    place = np.clip(METHODS[method](length, q), 0, length - 1)
    low = np.floor(place)
    high = np.ceil(place)  # the same element for a whole place: beside an infinite one, a fraction of 0 would give NaN
    return low.astype(np.int64), high.astype(np.int64), place - low
