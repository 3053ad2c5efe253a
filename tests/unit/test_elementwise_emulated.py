"""Elementwise kernels without a GPU: edges of tiles, layouts, 64-bit indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import STREAM, EmulatedEngine, layout_on_gpu, run, tuned
from tests.helpers.layouts import CUTS, cut_of
from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.engine.cuda.tuning import tuning_of
from xpops.ops.elementwise import IDENTITY, OPERATORS
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
@pytest.mark.parametrize("dtype", [dt.float16, dt.float32, dt.float64], ids=str)
def test_every_layout_of_both_operands(name: str, dtype: Any) -> None:
    x = cut_of(name, dtype)
    np.testing.assert_array_equal(computed("subtract", x, x[..., ::-1]), x - x[..., ::-1])


@pytest.mark.parametrize("dtype", [dt.int8, dt.float16, dt.float32, dt.float64], ids=str)
def test_every_offset_and_length_of_rows(dtype: Any) -> None:
    """Rows that begin at any place of a word, shorter and longer than a pack."""
    numbers = (np.arange(3000) % 61).astype(dtype)
    for offset in range(16 // dtype.itemsize + 1):
        for length in (1, 2, 3, 7, 15, 16, 17, 33):
            x = numbers[offset : offset + 40 * (length + 3)].reshape(40, length + 3)[:, :length]
            np.testing.assert_array_equal(computed("add", x, x[:, ::-1]), x + x[:, ::-1])
        flat = numbers[offset : offset + 500]
        np.testing.assert_array_equal(computed("add", flat, flat[::-1]), flat + flat[::-1])


@pytest.mark.parametrize("dtype", BY_SIZE, ids=str)
def test_packs_in_two_rows(dtype: Any) -> None:
    """Rows overlap, begin anywhere, and are read from either end. Packs of booleans have 4 times as many bytes."""
    numbers = (np.arange(900) * 7 % 61).astype(dtype)
    for length in (2, 5, 9, 16, 23, 40):
        for step in (1, 3, length, length + 1):
            rows = np.lib.stride_tricks.as_strided(
                numbers[1:], (5, 3, length), [numbers.itemsize * each for each in (2 * step + 1, step, 1)]
            )
            for x in (rows, rows[:, ::-1, ::-1]):
                y = np.ascontiguousarray(x[::-1])
                np.testing.assert_array_equal(computed("add", x, y), x + y)
                np.testing.assert_array_equal(computed("equal", x, rows), x == rows)


@pytest.mark.parametrize("dtype", [dt.int8, dt.float16, dt.float32, dt.complex128], ids=str)
def test_repeated_elements_along_rows_of_any_length(dtype: Any) -> None:
    """A pack has elements of one row, or the last of one and the first of the next."""
    for length in (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 301):
        for shape in ((41, 1), (5, 7, 1), (1, 5, 1), (6, 1, 3, 1)):
            x = (np.arange(np.prod(shape)) % 61).astype(dtype).reshape(shape)
            x = np.broadcast_to(x, (*(4 if n == 1 else n for n in shape[:-1]), length))
            y = (np.arange(x.size) % 13).astype(dtype).reshape(x.shape)
            np.testing.assert_array_equal(computed("add", x, y), x + y)
            np.testing.assert_array_equal(computed("subtract", y[::-1], x[::-1]), y[::-1] - x[::-1])


@pytest.mark.parametrize("target", [dt.bool, dt.int16, dt.float32, dt.float64], ids=str)
@pytest.mark.parametrize("source", [dt.uint8, dt.float16, dt.int32, dt.int64], ids=str)
def test_casts_between_widths(source: Any, target: Any) -> None:
    numbers = (np.arange(5000) % 61).astype(source)
    for x in (numbers, numbers[1:], numbers[::-1], numbers[:4900].reshape(70, 70)[:, 1:-2]):
        engine, spec = EmulatedEngine(), layout_on_gpu(x)
        out = layout_of(target, x.shape, None, spec.device)
        signature = signature_of(IDENTITY, (spec,), target)
        (got,) = run(engine, (out,), engine.elementwise(IDENTITY, signature, (spec,), out), x)
        np.testing.assert_array_equal(got, x.astype(target))


@pytest.mark.parametrize("name", ["isfinite", "isinf", "isnan"])
@pytest.mark.parametrize("dtype", ["int8", "uint64"])
def test_what_holds_for_all_integers_is_not_read(name: str, dtype: str) -> None:
    spec = layout_on_gpu(np.zeros((3, 5), dtype))
    engine, op = EmulatedEngine(), OPERATORS[name]
    out = layout_of(dt.bool, spec.shape, None, spec.device)
    kernel = engine.elementwise(op, signature_of(op, (spec,), dt.bool), (spec,), out)
    found = np.full(spec.shape, 2, np.uint8)
    kernel(STREAM, found.ctypes.data, 0)  # a read from address 0 would crash
    np.testing.assert_array_equal(found, int(name == "isfinite"))


@names
def test_every_layout_by_wide_indices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xpops.plan.elementwise.INDEX_LIMIT", 1)
    x = cut_of(name, dt.float32)
    y = np.arange(x.shape[-1], dtype=np.float32)
    np.testing.assert_array_equal(computed("subtract", x, y), x - y)


@pytest.mark.parametrize("scale", [1, -1, 1j])
def test_large_powers_of_complex_numbers_of_modulus_1(scale: complex) -> None:
    """The logarithm of the modulus is tiny, and right for all its bits: the exponent multiplies its error."""
    small, exponent = np.array([[1e-8, 3e-7, 1e-5, 9e-4], [1e16, 1e13, 1e10, 1e6]], np.float32)
    x = ((1 + 1j * small) * scale).astype(np.complex64)
    modulus = np.exp(exponent.astype(np.longdouble) / 2 * np.log1p(small.astype(np.longdouble) ** 2))
    np.testing.assert_allclose(abs(computed("pow", x, exponent.astype(np.complex64))), modulus, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_powers_of_complex_zeros(dtype: Any) -> None:
    """C leaves them open; NumPy has 0 if the exponent's real part is positive, else NaN."""
    exponents = [2, -1, -2.5, 0.5, 100, -100, 101, 2 + 1j, 1j, -1 - 1j, np.nan, np.inf, -np.inf, complex(2, np.nan), 0]
    x = np.array([0, complex(-0.0, -0.0), 1, 2j], dtype)[:, None]
    with np.errstate(all="ignore"):
        y = np.array(exponents, dtype)
        np.testing.assert_allclose(computed("pow", x[:2], y), np.power(x[:2], y))
        ordinary = y[np.isfinite(y)]
        np.testing.assert_allclose(computed("pow", x, ordinary), np.power(x, ordinary), rtol=1e-5)


@pytest.mark.parametrize("dtype", [dt.int8, dt.float16, dt.float32, dt.float64], ids=str)
def test_short_rows_of_transposed_operands(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tuned(monkeypatch, elementwise=tuning_of(90).elementwise._replace(tile_distance=1))
    for length in range(2, 8):
        for columns in (600, 601, 1024):
            x = (np.arange(length * columns) % 60).astype(dtype).reshape(columns, length).T
            for _ in range(2):
                np.testing.assert_array_equal(computed("add", x, np.ascontiguousarray(x)), x + x)
    for shape, order in (((3, 32, 9, 32), (2, 3, 1, 0)), ((2, 17, 5, 33), (2, 3, 1, 0)), ((4, 70, 4), (2, 1, 0))):
        lengths = tuple(shape[axis] for axis in order)
        x = (np.arange(np.prod(shape)) % 60).astype(dtype).reshape(lengths).transpose(np.argsort(order))
        y = np.ascontiguousarray(np.moveaxis(x, 1, -1))
        y = np.moveaxis(y, -1, 1)
        np.testing.assert_array_equal(computed("add", x, y), x + y)
        np.testing.assert_array_equal(computed("subtract", y, x), y - x)


@pytest.mark.parametrize("dtype", [dt.int8, dt.float16, dt.float32, dt.float64], ids=str)
@pytest.mark.parametrize("length", [2, 3, 5])
def test_short_planes_and_long_rows(length: int, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles have fewer planes than a pack has elements."""
    tuned(monkeypatch, elementwise=tuning_of(90).elementwise._replace(tile_distance=1))
    shape = length, 129, 36
    x, y = (np.random.default_rng(n).integers(0, 60, shape).astype(dtype) for n in (1, 2))
    rows = np.swapaxes(np.ascontiguousarray(np.swapaxes(y, 1, 2)), 1, 2)
    for order in ((1, 2, 0), (2, 1, 0)):
        planes = np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
        for _ in range(2):
            np.testing.assert_array_equal(computed("add", planes, rows), x + y)
            np.testing.assert_array_equal(computed("subtract", rows, planes), y - x)
