"""Elementwise kernels without a GPU: edges of tiles, layouts, 64-bit indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.layouts import CUTS, cut_of
from xpops.core import dtypes as dt
from xpops.ops.elementwise import OPERATORS
from xpops.plan.result import result_layout
from xpops.plan.signature import signature_of

NDArray = np.ndarray[Any, Any]

BY_SIZE = [dt.int8, dt.float16, dt.float32, dt.float64, dt.complex128]
names = pytest.mark.parametrize("name", CUTS)


def computed(name: str, *operands: Any) -> NDArray:
    """Run an operator's kernel on ndarrays and scalars, in memory with guards. Returns the result."""
    specs = tuple(layout_on_gpu(x) if isinstance(x, np.ndarray) else type(x) for x in operands)
    engine, op = EmulatedEngine(), OPERATORS[name]
    signature = signature_of(op, specs)
    device = next(spec.device for spec in specs if not isinstance(spec, type))
    out = result_layout(signature, specs, device)
    (result,) = run(engine, (out,), engine.elementwise(op, signature, specs, out), *operands)
    return result


@pytest.mark.parametrize("dtype", BY_SIZE, ids=str)
def test_the_edges_of_tiles(dtype: Any) -> None:
    """A block has 128 threads with one or two packs of 16 bytes. A tile too many would write outside the memory."""
    tile = 128 * 16 // dtype.itemsize
    for size in (1, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 2 * tile + 1, 4 * tile - 1, 4 * tile + 1):
        x = (np.arange(size) % 60).astype(dtype)
        np.testing.assert_array_equal(computed("add", x, x), x + x)
        np.testing.assert_array_equal(computed("add", np.broadcast_to(x[-1:], (size,)), 1), np.full(size, x[-1] + 1))


@names
def test_every_layout(name: str) -> None:
    """A pack has 16 elements of int8. Operands that are not aligned to packs must not be read in packs."""
    x = cut_of(name, dt.int8)
    np.testing.assert_array_equal(computed("add", x, np.ascontiguousarray(x)), x + x)


@names
def test_every_layout_by_wide_indices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xpops.plan.elementwise.INDEX_LIMIT", 1)
    x = cut_of(name, dt.float32)
    y = np.arange(x.shape[-1], dtype=np.float32)
    np.testing.assert_array_equal(computed("subtract", x, y), x - y)
