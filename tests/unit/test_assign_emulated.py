"""The kernel that assigns where a mask is True, without a GPU, and that NVRTC compiles it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.emulator import GPU, STREAM, EmulatedEngine, addressed, layout_on_gpu
from tests.helpers.layouts import CUTS, base_of
from tests.helpers.sass import accesses, stack_bytes
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels.glue import assign_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.ops.elementwise import OPERATORS
from xpops.plan.selection import plan_assign
from xpops.plan.signature import signature_of

ENGINE = EmulatedEngine()
RANDOM = np.random.default_rng(4)
WHERE = OPERATORS["where"]
SHARES = (0.0, 0.02, 0.5, 0.98, 1.0)
DTYPES = [dt.bool, dt.uint8, dt.float16, dt.bfloat16, dt.int32, dt.float64, dt.complex64, dt.complex128]
SIZES = (1, 15, 16, 17, 511, 512, 513, 4095, 4096, 4097, 8191, 8193, 16383, 16385, 33000)


def assign(x: Any, mask: Any, value: Any) -> None:
    """``x[mask] = value`` by the kernel, twice."""
    out, given = layout_on_gpu(x), layout_on_gpu(value) if isinstance(value, np.ndarray) else type(value)
    layout = layout_on_gpu(mask)
    kernel = ENGINE.assign(signature_of(WHERE, (layout, given, out)), layout, given, out)
    for _ in range(2):
        kernel(STREAM, *(addressed(each) for each in (x, mask, value)))


def random_mask(shape: tuple[int, ...], share: float) -> Any:
    """A mask in which runs of True and False of up to 40 elements alternate with single ones."""
    mask = RANDOM.random(shape) < share
    if mask.size > 80 and 0 < share < 1:
        flat = mask.reshape(-1)
        for begin in RANDOM.integers(0, mask.size - 40, 6):
            flat[begin : begin + 40] = begin % 2
    return mask


def numbers(shape: Any, dtype: Any) -> Any:
    """Random integers that every dtype holds."""
    return RANDOM.integers(0, 2 if dtype == dt.bool else 50, shape).astype(dtype)


@pytest.mark.parametrize("first", [0, 1, 3])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sizes_and_neighbours(dtype: Any, first: int) -> None:
    for size in SIZES:
        memory = numbers(size + 64, dtype)
        begin = 16 + first
        for share in (SHARES[size % 5], 0.5):
            mask, wanted = random_mask((size,), share), memory.copy()
            scalar: Any = True if dtype == dt.bool else 7
            for value in (scalar, numbers(size, dtype), numbers(1, dtype)):
                wanted[begin : begin + size][mask] = np.broadcast_to(np.asarray(value, dtype), (size,))[mask]
                assign(memory[begin : begin + size], mask, value)
                np.testing.assert_array_equal(memory, wanted)


@pytest.mark.parametrize("rest", [(2,), (5,), (16,), (4, 6)], ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float64, np.complex128], ids=str)
def test_masks_of_leading_axes(dtype: Any, rest: tuple[int, ...]) -> None:
    for share in SHARES:
        x = numbers((900, *rest), dtype)
        mask = random_mask((900,), share)
        for value in (9, numbers((1,) * (len(rest) + 1), dtype), numbers((1, *rest), dtype)):
            wanted = x.copy()
            wanted[mask] = value[0] if isinstance(value, np.ndarray) else value
            assign(x, mask.reshape(900, *(1 for _ in rest)), value)
            np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64], ids=str)
def test_values_of_narrower_dtypes(dtype: Any) -> None:
    x, mask = numbers(20000, dtype), random_mask((20000,), 0.4)
    for value in (numbers(20000, np.float16), numbers(20003, np.float32)[3:], 0.1, float("inf")):
        if isinstance(value, np.ndarray) and not np.can_cast(value.dtype, dtype):
            continue
        wanted = x.copy()
        wanted[mask] = value[mask] if isinstance(value, np.ndarray) else value
        assign(x, mask, value)
        np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("step", [1, 2, -1])
def test_an_array_that_is_its_own_mask(step: int) -> None:
    memory = numbers(40000, dt.bool)
    x, wanted = memory[::step], memory.copy()
    wanted[::step] = False
    assign(x, x, False)
    np.testing.assert_array_equal(memory, wanted)


def test_any_byte_but_0_is_true() -> None:
    x, bytes_ = numbers(10000, np.float32), (RANDOM.random(10000) < 0.5) * RANDOM.integers(1, 256, 10000)
    wanted = np.where(bytes_ != 0, np.float32(9), x)
    assign(x, bytes_.astype(np.uint8).view(bool), 9.0)
    np.testing.assert_array_equal(x, wanted)


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.complex128], ids=str)
def test_views(name: str, dtype: Any) -> None:
    for share in SHARES:
        base = base_of(name, dtype)
        x, wanted = CUTS[name].of(np, base), base.copy()
        mask = random_mask(x.shape, share)
        CUTS[name].of(np, wanted)[mask] = 5
        assign(x, mask, 5)
        np.testing.assert_array_equal(base, wanted)


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
@pytest.mark.parametrize("value", ["scalar", "array", "row"])
@pytest.mark.parametrize("dtype", [dt.bool, dt.bfloat16, dt.float16, dt.float64, dt.complex64, dt.complex128], ids=str)
def test_it_compiles(dtype: Any, value: str, capability: int) -> None:
    x, mask = (layout_of(each, (10**3, 999), None, GPU) for each in (dtype, dt.bool))
    scalar = bool if dtype == dt.bool else float
    given = {"scalar": scalar, "array": x, "row": layout_of(dtype, (999,), None, GPU)}[value]
    tuning = tuning_of(capability)
    plan = plan_assign(x, mask, given, tuning.elementwise)
    cubin = compile_cubin("assign", assign_glue(x, mask, given, plan).source, capability)
    assert stack_bytes(cubin) == 0


def test_a_scalar_is_written_without_reading_packs_again() -> None:
    x, mask = (layout_of(each, (10**6,), None, GPU) for each in (dt.float64, dt.bool))
    tuning = tuning_of(90)
    plan = plan_assign(x, mask, float, tuning.elementwise)
    found = accesses(compile_cubin("assign", assign_glue(x, mask, float, plan).source, 90))
    packs = plan.mask_pack // plan.elementwise.pack
    assert plan.mask_pack == 16
    assert found["load", 16] == packs + 1  # one of the mask
    assert found["store", 16] == packs
