"""Elementwise kernels that write to memory which begins within a pack, without a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import STREAM, EmulatedEngine, addressed, layout_on_gpu
from xpops.core import dtypes as dt
from xpops.engine.cuda.kernels.elementwise import planned
from xpops.ops.elementwise import OPERATORS
from xpops.plan.elementwise import Mode
from xpops.plan.signature import signature_of

ENGINE = EmulatedEngine()
RANDOM = np.random.default_rng(5)
SIZES = (1, 3, 15, 16, 17, 500, 2047, 2048, 2049, 5000)


def shifted(size: int, dtype: Any, first: int) -> Any:
    """Random integers that begin `first` elements after an aligned address, in memory with as many before and after."""
    item = np.dtype(dtype).itemsize
    memory = np.zeros((size + 64) * item + 16, np.uint8)
    begin = -memory.ctypes.data % 16 + (32 + first) * item
    x = memory[begin : begin + size * item].view(dtype)
    x[:] = RANDOM.integers(0, 50, size)
    assert memory.nbytes >= begin + size * item
    return x


def operate(name: str, out: Any, *operands: Any) -> Any:
    """Write the operator of operands to `out` by the kernel. Returns how it accesses the result."""
    op, layout = OPERATORS[name], layout_on_gpu(out)
    given = tuple(layout_on_gpu(each) if isinstance(each, np.ndarray) else type(each) for each in operands)
    signature = signature_of(op, given, layout.dtype)
    plan, _ = planned(op, signature, given, layout, 90)
    ENGINE.elementwise(op, signature, given, layout)(STREAM, *(addressed(each) for each in (out, *operands)))
    return plan.modes[0]


@pytest.mark.parametrize("first", [1, 2, 3, 7, 15])
@pytest.mark.parametrize("dtype", [dt.uint8, dt.float16, dt.float32, dt.float64, dt.complex128], ids=str)
def test_any_offset_and_size(dtype: Any, first: int) -> None:
    for size in SIZES:
        x, y, out = shifted(size, dtype, first), shifted(size, dtype, first + 1), shifted(size, dtype, first)
        memory = out.base if out.base is not None else out
        while memory.base is not None:
            memory = memory.base
        before = memory.copy()
        mode = operate("add", out, x, y)
        np.testing.assert_array_equal(out, x + y)
        begin = out.ctypes.data - memory.ctypes.data
        before[begin : begin + out.nbytes] = memory[begin : begin + out.nbytes]
        np.testing.assert_array_equal(memory, before)  # nothing else was written
        assert (mode is Mode.SKEWED) == (first * dtype.itemsize % 16 != 0 and size > 1)


def test_in_place_with_scalars_and_other_dtypes() -> None:
    for size in SIZES:
        x, y = shifted(size, dt.float32, 1), shifted(size, dt.int8, 3)
        wanted = (x + y) * np.float32(2)
        operate("add", x, x, y)
        operate("multiply", x, x, 2.0)
        np.testing.assert_array_equal(x, wanted)


def test_one_element_for_all() -> None:
    x, one = shifted(3000, dt.float16, 5), shifted(1, dt.float16, 3)
    out = shifted(3000, dt.float32, 3)
    assert operate("subtract", out, x, one) is Mode.SKEWED
    np.testing.assert_array_equal(out, x.astype(np.float32) - one.astype(np.float32))


@pytest.mark.parametrize("dtype", [dt.bool, dt.float16, dt.float32, dt.complex64], ids=str)
def test_assigned_where_a_mask_is_true(dtype: Any) -> None:
    where = OPERATORS["where"]
    for size in SIZES:
        x, mask = shifted(size, dtype, 1), shifted(size, dt.uint8, 5)
        mask = (mask % 2).astype(bool)
        wanted = np.where(mask, dtype.type(1), x)
        out = layout_on_gpu(x)
        layout, kind = layout_on_gpu(mask), float if dtype != dt.bool else bool
        one: Any = True if dtype == dt.bool else 1.0
        kernel = ENGINE.assign(signature_of(where, (layout, kind, out)), layout, kind, out)
        kernel(STREAM, *(addressed(each) for each in (x, mask, one)))
        np.testing.assert_array_equal(x, wanted)
