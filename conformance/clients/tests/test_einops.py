"""`einops.array_api` on xpops gives what `einops` gives on NumPy."""

from __future__ import annotations

from typing import Any

import einops
import numpy as np
import pytest
from einops import array_api

import xpops as xp

HOST = np.arange(2 * 3 * 4 * 5, dtype=np.float64).reshape(2, 3, 4, 5)
REARRANGED = {
    "b c h w -> b h w c": {},
    "b c h w -> (b c) (h w)": {},
    "b c (h1 h2) w -> b (c h2) h1 w": {"h2": 2},
    "b c h w -> w h c b": {},
    "b ... -> ... b": {},
    "b c h w -> b 1 c (h w)": {},
}
REDUCED = ("b c h w -> b c", "b c h w -> ", "b c (h h2) w -> b h w", "... w -> ...", "b c h w -> c 1 1")


@pytest.mark.parametrize("pattern", REARRANGED)
def test_rearrange(pattern: str) -> None:
    lengths: dict[str, Any] = REARRANGED[pattern]
    got = array_api.rearrange(xp.asarray(HOST), pattern, **lengths)
    assert isinstance(got, xp.Array)
    assert np.array_equal(got.to_numpy(), einops.rearrange(HOST, pattern, **lengths))


@pytest.mark.parametrize("pattern", REDUCED)
@pytest.mark.parametrize("reduction", ["min", "max", "sum", "mean", "prod"])
def test_reduce(pattern: str, reduction: Any) -> None:
    lengths: dict[str, Any] = {"h2": 2} if "h2" in pattern else {}
    host = 1 + HOST / 100
    got = array_api.reduce(xp.asarray(host), pattern, reduction, **lengths)
    np.testing.assert_allclose(got.to_numpy(), einops.reduce(host, pattern, reduction, **lengths), rtol=1e-13)


@pytest.mark.parametrize(
    ("pattern", "lengths"),
    [("b c h w -> b c (h 2) (w 3)", {}), ("b c h w -> b n c h w", {"n": 4}), ("b c h w -> (r b) c h w", {"r": 2})],
)
def test_repeat(pattern: str, lengths: dict[str, int]) -> None:
    got = array_api.repeat(xp.asarray(HOST), pattern, **lengths)
    assert np.array_equal(got.to_numpy(), einops.repeat(HOST, pattern, **lengths))


def test_lists_are_stacked() -> None:
    got = array_api.rearrange([xp.asarray(each) for each in HOST], "b c h w -> c b h w")
    assert np.array_equal(got.to_numpy(), HOST.transpose(1, 0, 2, 3))


def test_pack_and_unpack() -> None:
    parts = [xp.asarray(HOST[:, :, 0, 0]), xp.asarray(HOST[:, :, 0]), xp.asarray(HOST)]
    packed, shapes = array_api.pack(parts, "b c *")
    wanted, _ = einops.pack([HOST[:, :, 0, 0], HOST[:, :, 0], HOST], "b c *")
    assert np.array_equal(packed.to_numpy(), wanted)
    for part, back in zip(parts, array_api.unpack(packed, shapes, "b c *"), strict=True):
        assert np.array_equal(back.to_numpy(), part.to_numpy())


def test_asnumpy() -> None:
    x = xp.asarray(HOST)
    if x.device == "cpu":
        assert np.array_equal(array_api.asnumpy(x), HOST)
