"""Fused functions with scalar arguments on every device, against the functions one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.fused_scalars import CASES, FLOATS, INTEGERS, assert_same_bits, elements, tuples
from xpops.core import dtypes as dt
from xpops.ops.elementwise import INTERNAL, OPERATORS


# On the CPU a fused function is the function itself; tests/unit/test_fused_scalars_emulated.py has the kernels there.
@pytest.mark.parametrize("name", CASES)
def test_scalars_change_no_bit(name: str, cuda: Any) -> None:
    function, dtypes, scalars = CASES[name]
    fused = xp.fuse(function)
    for dtype in dtypes:
        x = xp.asarray(elements(dtype), device=cuda)
        for scalar in scalars:
            for one, other in zip(*tuples(fused(x, scalar), function(x, scalar)), strict=True):
                assert_same_bits(one, other)


@pytest.mark.parametrize("device", DEVICES)
def test_ends_and_slopes_against_numpy(device: Any) -> None:
    host = np.random.default_rng(3).normal(size=(200, 33)).astype(np.float32)
    x = xp.asarray(host, device=device)
    fused = xp.fuse(lambda x, low, high, slope: xp.nn.leaky_relu(xp.clip(x, low, high), negative_slope=slope))
    for low, high, slope in ((-1.0, 1.0, 0.1), (-0.5, 2, 0), (-2, 0.25, 3.0)):
        wanted = np.clip(host, np.float32(low), np.float32(high))
        wanted = np.where(wanted > 0, wanted, wanted * np.float32(slope))
        np.testing.assert_array_equal(fused(x, low, high, slope).to_numpy(), wanted)
        np.testing.assert_array_equal(fused(x, slope=slope, high=high, low=low).to_numpy(), wanted)


@pytest.mark.parametrize("device", DEVICES)
def test_scalars_among_reductions_of_rows(device: Any) -> None:
    host = np.random.default_rng(3).normal(size=(300, 65))
    x = xp.asarray(host, device=device)
    fused = xp.fuse(lambda x, low, n: (x - xp.mean(xp.clip(x, low), axis=-1, keepdims=True)) * n)
    for low, n in ((-0.5, 2), (0.25, 5)):
        wanted = (host - np.maximum(host, low).mean(-1, keepdims=True)) * n
        np.testing.assert_allclose(fused(x, low, n).to_numpy(), wanted, rtol=1e-11, atol=1e-13)


def test_integers_beyond_what_kernels_take(cuda: Any) -> None:
    x = xp.asarray(np.arange(5, dtype=np.uint8), device=cuda)
    fused = xp.fuse(lambda x, factor, shift: x * factor + shift)
    with pytest.raises(OverflowError, match="shift is 300; accepted: 0 to 255"):
        fused(x, 2, shift=300)
    with pytest.raises(OverflowError, match=r"arguments\[1\] is -1; accepted: 0 to 255"):
        fused(x, -1, 3)
    with pytest.raises(OverflowError, match="a Python integer is beyond the range of float64"):
        fused(xp.astype(x, xp.float32), 2**2000, 3)
    assert xp.fuse(lambda x, s: xp.logical_and(x > 2, s))(x, 2**2000).tolist() == [False, False, False, True, True]


def test_torch_tensors_by_names(cuda_torch: Any) -> None:
    x = cuda_torch.randn(100, 33, device="cuda")
    fused = xp.fuse(lambda x, y, low=-1.0: xp.clip(x, low) + y)
    for low in (-0.5, 0.5):
        got = fused(x, y=x, low=low)
        assert isinstance(got, cuda_torch.Tensor)
        assert cuda_torch.equal(got, cuda_torch.clip(x, low) + x)


# The public function of every operator.
FUNCTIONS = sorted({op.public for op in OPERATORS.values() if op not in INTERNAL})


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_elementwise_function_fused(name: str, cuda: Any) -> None:
    function, (op, *_) = getattr(xp, name), [op for op in OPERATORS.values() if op.public == name]
    fused = xp.fuse(function)
    for dtype in (*FLOATS, *INTEGERS, xp.complex64, xp.bool):
        if dtype not in dt.CATEGORIES[op.accepts] and not (
            op.floating and dtype in dt.CATEGORIES["integer or boolean"]
        ):
            continue
        x = xp.asarray(elements(dtype) if dtype != xp.bool else elements(xp.int8) > 1, device=cuda)
        operands = (x, xp.flip(x), x)[: op.arity]
        if op.condition:
            operands = (x != 0, *operands[1:])
        assert_same_bits(fused(*operands), function(*operands))
