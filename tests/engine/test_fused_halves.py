"""Fused functions of float16 and bfloat16 on every device, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.halves import FUNCTIONS, HALVES, RANDOM, check_norm, check_norm_gradients, norm_operands
from tests.unit.test_fused_passes import gradient_of, layer_norm


@HALVES
@pytest.mark.parametrize("name", ["products and sums", "extremes", "squares", "a condition"])
@pytest.mark.parametrize("device", DEVICES)
def test_pairs_of_all_numbers(device: Any, name: str, dtype: Any) -> None:
    """Each number of 16 bits, beside others. NaN may have any bits."""
    function, _ = FUNCTIONS[name]
    numbers = np.arange(2**16, dtype=np.uint16)
    hosts = [np.concatenate([RANDOM.permutation(numbers) for _ in range(8)]).view(dtype) for _ in range(2)]
    x, y = (xp.asarray(each, device=device) for each in hosts)
    fused = xp.fuse(lambda x, y: function(xp, x, y))
    for part in (slice(None), slice(1, -2), slice(3, 3 + 257)):
        with np.errstate(all="ignore"):
            got, expected = fused(x[part], y[part]).to_numpy(), function(np, *(each[part] for each in hosts))
            nan, zero = np.isnan(expected), expected == 0
            np.testing.assert_array_equal(np.isnan(got), nan)
        finite = ~nan & ~(zero & (name == "extremes"))  # NumPy's extremes of 0 and -0 are either of them
        np.testing.assert_array_equal(got.view(np.uint16)[finite], expected.view(np.uint16)[finite])


# Parts of a warp, warps, and blocks of 128 to 1024 threads, in which a warp may have fewer elements than others.
SHAPES = [
    *((40_000, 24), (20_000, 96), (8000, 256), (5000, 520), (5000, 1024), (3000, 1032), (3000, 1536)),
    *((2500, 2048), (1500, 2056), (1300, 4096), (1000, 5000), (600, 8192), (1000, 333), (300, 2051)),
]


# On the CPU a fused function is the function itself, in which each operator rounds.
@HALVES
@pytest.mark.parametrize(("rows", "length"), SHAPES)
def test_norms_of_rows_far_from_zero(rows: int, length: int, dtype: Any, cuda: Any) -> None:
    hosts = norm_operands(rows, length, dtype)
    x, g, scale, shift = (xp.asarray(each, device=cuda) for each in hosts)
    forward, backward = (xp.fuse(each, round_each=False) for each in (layer_norm, gradient_of(layer_norm)))
    check_norm(forward(x, scale, shift).to_numpy(), hosts[0], *hosts[2:])
    got = tuple(each.to_numpy() for each in backward(g, x, scale, shift))
    check_norm_gradients(got, hosts[1], hosts[0], hosts[2])
    for one, other in zip(got, backward(g, x, scale, shift), strict=True):
        np.testing.assert_array_equal(one.view(np.uint16), other.to_numpy().view(np.uint16))
