"""Upsampling against torch's interpolate, forward and backward: all bits are equal."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES

torch = pytest.importorskip("torch")

SCALES = st.sampled_from([0.3, 0.5, 0.7, 1.0, 1.1, 1.5, 2.0, 2.3, 3.0, 4.0, 10.0, 41.0])


def images(shape: tuple[int, ...], device: Any, dtype: Any) -> Any:
    if device.type == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(-8, 9, shape, generator=generator).to(device=str(device), dtype=dtype)


def interpolated(x: Any, **options: Any) -> Any:
    return torch.nn.functional.interpolate(x, mode="nearest", **options)


@given(
    st.tuples(*[st.integers(1, 9)] * 4),
    st.tuples(SCALES, SCALES),
    st.booleans(),
    st.sampled_from(DEVICES),
    st.sampled_from(["float32", "float64", "float16", "bfloat16", "uint8"]),
)
def test_scales(shape: Any, scale: Any, last: bool, device: Any, name: str) -> None:
    after = [int(length * factor) for length, factor in zip(shape[2:], scale, strict=True)]
    assume(min(after) > 0)
    # On the CPU torch computes positions of float64 in float64. If a length stays or doubles although the scale
    # differs, its result depends on the shape.
    odd = [(a == b and f != 1) or (a == 2 * b and f != 2) for a, b, f in zip(after, shape[2:], scale, strict=True)]
    assume(device.type == "cuda" or not (any(odd) or name == "float64"))
    x = images(shape, device, getattr(torch, name))
    check(x, interpolated(x, scale_factor=scale), {"scale": scale}, last)


@given(
    st.tuples(*[st.integers(1, 9)] * 4), st.tuples(*[st.integers(1, 40)] * 2), st.booleans(), st.sampled_from(DEVICES)
)
def test_sizes(shape: Any, size: Any, last: bool, device: Any) -> None:
    x = images(shape, device, torch.float32)
    check(x, interpolated(x, size=size), {"size": size}, last)


def check(x: Any, wanted: Any, options: Any, last: bool) -> None:
    place = {"layout": "NHWC"} if last else {}
    given = x.permute(0, 2, 3, 1).contiguous() if last else x
    found = xp.nn.upsample_nearest2d(given, **options, **place)
    assert torch.equal(found.permute(0, 3, 1, 2) if last else found, wanted)
    if x.dtype == torch.uint8:
        return
    scale, size = options.get("scale"), options.get("size")
    places = torch.arange(x[0, 0].numel(), device=x.device, dtype=torch.float32).reshape(1, 1, *x.shape[2:])
    source = interpolated(places, scale_factor=scale) if scale else interpolated(places, size=size)
    grad = torch.arange(wanted.numel(), device=x.device).reshape(wanted.shape).remainder(7).to(x.dtype)
    turned = grad.permute(0, 2, 3, 1).contiguous() if last else grad
    back = xp.nn.upsample_nearest2d_backward(turned, tuple(x.shape[2:]), **({"scale": scale} if scale else {}), **place)
    # torch's gradient uses positions that may differ from its forward positions. Ours uses the forward positions.
    added = torch.zeros(*x.shape[:2], x[0, 0].numel(), device=x.device, dtype=torch.float64)
    added.scatter_add_(2, source.long().expand(grad.shape).flatten(2), grad.double().flatten(2))
    assert torch.equal(back.permute(0, 3, 1, 2) if last else back, added.reshape(x.shape).to(x.dtype))
