"""Kernels with 64-bit indices, without a GPU: small arrays for which they are forced, and rows of sparse memory that
are more than 2^31 elements apart.
"""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import xpops as xp
from tests.helpers.emulator import STREAM, EmulatedEngine, layout_on_gpu
from tests.unit.conftest import PretendedEngine
from xpops.core import dtypes as dt
from xpops.ops.elementwise import OPERATORS
from xpops.plan.signature import signature_of

NDArray = np.ndarray[Any, Any]

ROWS, COLUMNS = 3, 40
FAR = 2**31 + 48
PLACES = [2, 0, 1, 1]
_NO_RESERVE = 0x4000

# (namespace, array of ROWS x COLUMNS, array of places) -> array or tuple of arrays; the same in NumPy and xpops.
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "unary": lambda ns, x, at: ns.negative(x),
    "a row": lambda ns, x, at: ns.add(x, x[1, :]),
    "a column": lambda ns, x, at: ns.add(x, x[:, 1:2]),
    "mirrored": lambda ns, x, at: ns.add(x[::-1, ::-1], x),
    "transposed": lambda ns, x, at: ns.add(ns.permute_dims(x, (1, 0)), 1),
    "cast": lambda ns, x, at: ns.astype(x, ns.float64),
    "whole": lambda ns, x, at: ns.sum(x),
    "rows": lambda ns, x, at: ns.sum(x, axis=1),
    "columns": lambda ns, x, at: ns.max(x, axis=0),
    "argmax of rows": lambda ns, x, at: ns.argmax(x, axis=1),
    "scan of rows": lambda ns, x, at: ns.cumulative_sum(x, axis=1),
    "scan of columns": lambda ns, x, at: ns.cumulative_sum(x, axis=0),
    "take rows": lambda ns, x, at: ns.take(x, at, axis=0),
    "take columns": lambda ns, x, at: ns.take(x, at, axis=1),
    "take along": lambda ns, x, at: ns.take_along_axis(x, ns.argsort(x, axis=1, stable=True), axis=1),
    "concat": lambda ns, x, at: ns.concat([x, x[:, 1:]], axis=1),
    "stack": lambda ns, x, at: ns.stack([x, x[::-1]], axis=0),
    "sort": lambda ns, x, at: ns.sort(x, axis=1),
    "where": lambda ns, x, at: ns.where(x > 20, x, x[:, ::-1]),
    "mask": lambda ns, x, at: x[x > 20],
    "nonzero": lambda ns, x, at: ns.nonzero(x > 20),
    "searchsorted": lambda ns, x, at: ns.searchsorted(ns.sort(x[0, :]), x[1:, :]),
    "indices": lambda ns, x, at: x[at, :],
}


def numbers(shape: tuple[int, ...]) -> NDArray:
    host = np.arange(int(np.prod(shape))) * 37 % 61
    return host.reshape(shape).astype(np.float32)


def check(name: str, x: Any, host: NDArray, engine: PretendedEngine) -> None:
    places = np.array(PLACES)
    found, wanted = CALLS[name](xp, x, engine.array(places)), CALLS[name](np, host, places)
    several = isinstance(wanted, tuple)
    for got, right in zip(found if several else [found], wanted if several else [wanted], strict=True):
        np.testing.assert_array_equal(got.to_numpy(), right)


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every array as large."""
    for name, module in list(sys.modules.items()):
        if name.startswith("xpops.") and hasattr(module, "INDEX_LIMIT"):
            monkeypatch.setattr(module, "INDEX_LIMIT", 1)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("wide")
def test_small_arrays(name: str, pretended: PretendedEngine) -> None:
    host = numbers((ROWS, COLUMNS))
    check(name, pretended.array(host), host, pretended)


def sparse(nbytes: int, dtype: Any) -> NDArray:
    """Zeros that use no memory until they are written."""
    memory = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    return np.frombuffer(memory, dtype)


@pytest.mark.parametrize("name", CALLS)
def test_rows_that_lie_far_apart(name: str, pretended: PretendedEngine) -> None:
    memory = sparse(((ROWS - 1) * FAR + COLUMNS) * 4, np.float32)
    x = as_strided(memory, (ROWS, COLUMNS), (4 * FAR, 4))
    x[...] = numbers((ROWS, COLUMNS))
    check(name, xp.Array(layout_on_gpu(x), x.ctypes.data, memory), np.ascontiguousarray(x), pretended)


@pytest.mark.parametrize("far", [2**29 + 7, 2**30, FAR, -(2**30)])
def test_assigned_elements_that_lie_far_apart(far: int, pretended: PretendedEngine) -> None:
    memory = sparse((ROWS - 1) * abs(far) + len(PLACES), np.int8)
    value = as_strided(memory, (len(PLACES), ROWS), (1, abs(far)))[:, :: 1 if far > 0 else -1]
    value[...] = numbers(value.shape) + 1
    wanted, places = np.zeros((9, ROWS), np.int8), np.array([7, 0, 3, 8])
    x = pretended.array(wanted.copy())
    x[pretended.array(places), :] = xp.Array(layout_on_gpu(value), value.ctypes.data, memory)
    wanted[places] = value
    np.testing.assert_array_equal(x.to_numpy(), wanted)


class Windows(EmulatedEngine):
    """An engine that runs only the blocks around some elements of a result."""

    def __init__(self, size: int, places: list[int]) -> None:
        super().__init__()
        self._size, self._places = size, places

    def chosen(self, blocks: int) -> list[range]:
        near = [place * blocks // self._size for place in self._places]
        return [range(max(block - 1, 0), min(block + 2, blocks)) for block in near]


SIZE = 2**32 + 205
PLACES_OF_WINDOWS = [0, 2**31 - 32, 2**31 + 96, 2**32 - 32, SIZE - 64]
WINDOW = np.arange(1, 65)
# The operator, the dtype of the result, whether the operand is mirrored, a second operand, and a window's result.
KINDS: dict[str, tuple[str, Any, bool, list[NDArray], NDArray]] = {
    "contiguous": ("negative", dt.int8, False, [], -WINDOW),
    "mirrored": ("negative", dt.int8, True, [], -WINDOW),
    "one for all": ("add", dt.int8, False, [np.array([3], np.int8)], WINDOW + 3),
    "cast": ("identity", dt.float16, False, [], WINDOW),
}


@pytest.mark.parametrize("kind", KINDS)
def test_more_elements_than_32_bits_count(kind: str) -> None:
    name, dtype, mirrored, others, wanted = KINDS[kind]
    x, out = sparse(SIZE, np.int8), sparse(SIZE * dtype.itemsize, dtype)
    operands = [x[::-1] if mirrored else x, *others]
    for place in PLACES_OF_WINDOWS:
        operands[0][place : place + 64] = WINDOW
    specs = tuple(map(layout_on_gpu, operands))
    op, engine = OPERATORS[name], Windows(SIZE, PLACES_OF_WINDOWS)
    kernel = engine.elementwise(op, signature_of(op, specs, dtype), specs, layout_on_gpu(out))
    kernel(STREAM, out.ctypes.data, *(operand.ctypes.data for operand in operands))
    for place in PLACES_OF_WINDOWS:
        np.testing.assert_array_equal(out[place : place + 64], wanted)
