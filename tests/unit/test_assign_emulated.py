"""The kernel that assigns where a mask is True, without a GPU, and that NVRTC compiles it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.emulator import GPU, STREAM, EmulatedEngine, addressed, layout_on_gpu
from tests.helpers.layouts import CUTS, cut_of
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.elementwise import planned
from xpops.engine.cuda.kernels.glue import elementwise_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.ops.elementwise import OPERATORS
from xpops.plan.signature import signature_of

ENGINE = EmulatedEngine()
RANDOM = np.random.default_rng(4)
WHERE = OPERATORS["where"]
SHARES = (0.0, 0.02, 0.5, 0.98, 1.0)


def assign(x: Any, mask: Any, value: Any) -> None:
    """``x[mask] = value`` by the kernel."""
    out, given = layout_on_gpu(x), layout_on_gpu(value) if isinstance(value, np.ndarray) else type(value)
    operands = layout_on_gpu(mask), given, out
    kernel = ENGINE.assign(signature_of(WHERE, operands), operands, out)
    kernel(STREAM, *(addressed(each) for each in (x, mask, value, x)))


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.complex128], ids=str)
def test_views(name: str, dtype: Any) -> None:
    for share in SHARES:
        x, same = cut_of(name, dtype), cut_of(name, dtype)
        mask = RANDOM.random(x.shape) < share
        assign(x, mask, 5)
        same[mask] = 5
        np.testing.assert_array_equal(x, same)


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_values_and_masks_of_any_layout(data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 300))
    dtype = data.draw(st.sampled_from([np.uint8, np.float32, np.float64]))
    x = RANDOM.normal(size=(rows, columns)).astype(dtype)
    mask = RANDOM.random((rows, columns)) < data.draw(st.sampled_from(SHARES))
    if data.draw(st.booleans()):
        mask = np.asfortranarray(mask)
    shape = data.draw(st.sampled_from([(1, 1), (1, columns), (rows, 1), (rows, columns)]))
    value = np.broadcast_to(RANDOM.integers(0, 200, shape).astype(dtype), x.shape)
    wanted = np.where(mask, value, x)
    assign(x, mask, value)
    np.testing.assert_array_equal(x, wanted)


def test_other_elements_keep_their_bits() -> None:
    x = np.array([0x7FC01234, 0x80000000, 0xFF812345, 0x3F800000] * 500, np.uint32).view(np.float32)
    wanted, mask = x.view(np.uint32).copy(), RANDOM.random(x.size) < 0.3
    assign(x, mask, float("nan"))
    assert np.isnan(x[mask]).all()
    np.testing.assert_array_equal(x.view(np.uint32)[~mask], wanted[~mask])


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize("dtype", [dt.bool, dt.bfloat16, dt.float64, dt.complex64], ids=str)
def test_it_compiles(dtype: Any, capability: int) -> None:
    x, mask = layout_of(dtype, (10**6,), None, GPU), layout_of(dt.bool, (10**6,), None, GPU)
    signature = signature_of(WHERE, (mask, x, x))
    plan, _ = planned(WHERE, signature, (mask, x, x), x, capability)
    assert compile_cubin(
        "assign", elementwise_glue(WHERE, signature, x, (mask, x, x), plan, "assign").source, capability
    )
