"""The functions of random words against exact arithmetic. No device."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from xpops.engine.cpu.random_functions import fused, minus_log, sincos_half_turn

RANDOM = np.random.default_rng(11)
EDGES = [0, 1, 2, 3, 127, 128, 2**7 + 1]


def words(bits: int) -> Any:
    dtype = np.dtype(f"uint{bits}")
    root = int(2**bits * 0.5**0.5)
    near = [*EDGES, *(2**bits - 1 - each for each in EDGES), *(root + each for each in range(-300, 300, 7))]
    near += [2**power + each for power in range(2, bits) for each in (-1, 0, 1)]
    some = RANDOM.integers(0, 2**bits, 400, dtype) >> RANDOM.integers(0, bits, 400, dtype)
    return np.concatenate([np.array(near, dtype), some, ~some])


def errors(found: Any, exact: list[Any]) -> Any:
    """Errors in units in the last place of the exact values."""
    steps = np.spacing(np.abs(np.array([float(each) for each in exact], found.dtype)))
    pairs = zip(found, exact, steps, strict=True)
    return np.array([abs(float((mpmath.mpf(float(x)) - y) / float(step))) for x, y, step in pairs])


@pytest.mark.parametrize("bits", [32, 64])
def test_minus_log(bits: int) -> None:
    drawn = words(bits)
    with mpmath.workdps(50):
        exact = [-mpmath.log((mpmath.mpf(int(w)) + mpmath.mpf(1) / 2) / mpmath.mpf(2) ** bits) for w in drawn]
        found = minus_log(drawn)
        assert (found > 0).all()
        assert errors(found, exact).max() < 3


@pytest.mark.parametrize("bits", [32, 64])
def test_half_turn(bits: int) -> None:
    drawn = words(bits)
    sine, cosine = sincos_half_turn(drawn)
    with mpmath.workdps(50):
        angles = []
        for w in drawn:
            s = int(w) * 2 % 2**bits
            angles.append(mpmath.pi * (s - 2**bits * (s >= 2 ** (bits - 1))) / 2**bits)
        assert errors(sine, [mpmath.sin(each) for each in angles]).max() < 3
        assert errors(cosine, [mpmath.cos(each) for each in angles])[cosine != 0].max() < 3


def test_a_sum_is_rounded_once() -> None:
    x, y, z = (RANDOM.normal(size=20000).astype(np.float32) for _ in range(3))
    # Sums so near the middle of two floats that double cannot represent the difference.
    middle = np.float32(1) + np.float32(2.0**-12)
    x[:4], y[:4], z[:4] = middle, [middle, middle, -middle, -middle], [2.0**-60, -(2.0**-60), 2.0**-60, -(2.0**-60)]
    x[4:6], y[4:6], z[4:6] = 1 + 2.0**-12, 2.0**-12, [2.0**30, 1]
    for one, two, three, found in zip(x, y, z, fused(x, y, z), strict=True):
        exact = Fraction(float(one)) * Fraction(float(two)) + Fraction(float(three))
        distance = abs(Fraction(float(found)) - exact)
        for other in (np.nextafter(found, np.float32(np.inf)), np.nextafter(found, np.float32(-np.inf))):
            further = abs(Fraction(float(other)) - exact)
            even = not int(found.view(np.uint32)) & 1
            assert distance < further or (distance == further and even)


def test_doubles_are_rounded_twice() -> None:
    x, y, z = RANDOM.normal(size=(3, 100))
    assert (fused(x, y, z) == x * y + z).all()
