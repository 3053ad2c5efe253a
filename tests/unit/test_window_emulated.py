"""Windows onto arrays, without a GPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from tests.helpers.layouts import CUTS, cut_of
from tests.helpers.sass import stack_bytes
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.engine.cuda.kernels import window as kernels
from xpops.engine.cuda.kernels.elementwise import dense_copier
from xpops.engine.cuda.kernels.window import window, window_glue
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.plan.window import plan_window

ENGINE = EmulatedEngine()
RANDOM = np.random.default_rng(3)
names = pytest.mark.parametrize("name", CUTS)
dtypes = pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64, np.complex128], ids=str)


def windowed(
    x: Any, starts: tuple[int, ...], shape: tuple[int, ...], fill: Any, band: tuple[int, int] | None = None
) -> Any:
    layout = layout_on_gpu(x)
    out = layout_of(layout.dtype, shape, None, layout.device)
    given = fill if fill is None or isinstance(fill, str) else np.array(fill, x.dtype).tobytes()
    kernel = window(ENGINE, layout, starts, out, given, band)
    (found,) = run(ENGINE, (out,), kernel, x)
    return found


@names
@dtypes
def test_pads(name: str, dtype: Any) -> None:
    x = cut_of(name, dtype)
    for _ in range(3):
        widths = [tuple(map(int, RANDOM.integers(0, 4, 2) * (RANDOM.random() < 0.7))) for _ in x.shape]
        wanted = np.pad(x, widths, constant_values=7)
        np.testing.assert_array_equal(windowed(x, tuple(before for before, _ in widths), wanted.shape, 7), wanted)


@names
@dtypes
def test_rolls(name: str, dtype: Any) -> None:
    x = cut_of(name, dtype)
    for _ in range(3):
        shifts = tuple(int(RANDOM.integers(0, n)) if RANDOM.random() < 0.7 else 0 for n in x.shape)
        wanted = np.roll(x, shifts, range(x.ndim))
        np.testing.assert_array_equal(windowed(x, shifts, x.shape, None), wanted)


@names
@dtypes
@pytest.mark.parametrize("k", [(0, 0), (-2, 1), (-1, 99), (-99, -1), (3, 3)], ids=str)
def test_bands(name: str, dtype: Any, k: tuple[int, int]) -> None:
    x = cut_of(name, dtype)
    if x.ndim < 2:
        x = np.broadcast_to(x, (3, *x.shape)) if x.ndim else np.broadcast_to(x, (5, 7))
    wanted = np.triu(np.tril(x, k[1]), k[0])
    np.testing.assert_array_equal(windowed(x, (0,) * x.ndim, x.shape, 0, k), wanted)


@dtypes
@pytest.mark.parametrize("columns", [1, 3, 7, 15, 16, 17, 32, 37])
def test_borders_within_packs(columns: int, dtype: Any) -> None:
    x = (np.arange(9 * 5 * columns) % 100 + 1).astype(dtype).reshape(9, 5, columns)[:, ::-1]
    for widths in (((3, 2), (2, 2), (3, 2)), ((0, 1), (0, 0), (17, 0)), ((1, 0), (3, 0), (0, 1))):
        wanted = np.pad(x, widths, constant_values=7)
        np.testing.assert_array_equal(windowed(x, tuple(before for before, _ in widths), wanted.shape, 7), wanted)
    for shifts in ((2, 1, columns // 2), (0, 3, columns - 1), (1, 0, 0)):
        np.testing.assert_array_equal(windowed(x, shifts, x.shape, None), np.roll(x, shifts, (0, 1, 2)))


def test_windows_of_transposed_arrays_read_a_copy() -> None:
    x = np.arange(40 * 50, dtype=np.float32).reshape(50, 40).T
    np.testing.assert_array_equal(windowed(x, (0, 0), x.shape, 0, (-50, 2)), np.tril(x, 2))
    np.testing.assert_array_equal(windowed(x, (1, 2), (42, 53), 7), np.pad(x, ((1, 1), (2, 1)), constant_values=7))


@pytest.mark.parametrize(
    ("shape", "order", "dtype", "is_copied"),
    [
        ((9, 900, 5), (1, 2, 0), np.float32, True),
        ((9, 900, 5), (1, 2, 0), np.uint8, True),
        ((9, 900, 5), (1, 2, 0), np.complex128, False),  # no two elements share a sector
        ((9, 4, 500), (0, 2, 1), np.float32, False),  # they are near
        ((5, 900, 5), (0, 1, 2), np.float32, False),
    ],
)
def test_windows_of_scattered_arrays_read_a_copy(
    shape: tuple[int, ...], order: tuple[int, ...], dtype: Any, is_copied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies: list[int] = []
    monkeypatch.setattr(kernels, "dense_copier", lambda *given: copies.append(1) or dense_copier(*given))
    x = (np.arange(math.prod(shape)) % 100).astype(dtype).reshape([shape[axis] for axis in order])
    x = x.transpose(np.argsort(order))
    for _ in range(2):
        np.testing.assert_array_equal(windowed(x, (0, 3, 1), shape, None), np.roll(x, (0, 3, 1), (0, 1, 2)))
        larger = tuple(length + 3 for length in shape)
        np.testing.assert_array_equal(windowed(x, (1, 1, 1), larger, 7), np.pad(x, (1, 2), constant_values=7))
    assert len(copies) == 4 * is_copied


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("columns", [1, 3, 16, 37])
def test_repeats_elements_beyond_the_array(columns: int, mode: Any) -> None:
    x = (np.arange(5 * 4 * columns) % 100).astype(np.int16).reshape(5, 4, columns)
    for widths in (((3, 2), (0, 0), (3, 2)), ((0, 0), (0, 0), (130, 65)), ((0, 1), (9, 13), (0, 0)), ((2, 0),) * 3):
        for view in (x, x[:, ::-1, ::-1]):
            wanted = np.pad(view, widths, mode)
            found = windowed(view, tuple(before for before, _ in widths), wanted.shape, mode)
            np.testing.assert_array_equal(found, wanted)


@dtypes
@pytest.mark.parametrize("axes", [(9, 1), (40, 3), (40, 5, 2), (3, 9, 4, 3), (2, 150, 3), (5, 7, 16), (4, 3, 2, 2, 2)])
def test_short_rows(axes: tuple[int, ...], dtype: Any) -> None:
    x = (np.arange(math.prod(axes)) % 100 + 1).astype(dtype).reshape(axes)
    modes: list[Any] = ["constant", "edge", "wrap", "reflect", "symmetric"]
    for view in (x, x[::-1, ..., ::-1], np.broadcast_to(x[:1], x.shape)):
        for widths in ([(1, 2)] * x.ndim, [(0, 0), *[(2, 1)] * (x.ndim - 1)], [*[(0, 0)] * (x.ndim - 1), (1, 1)]):
            starts = tuple(before for before, _ in widths)
            for mode in modes:
                wanted = np.pad(view, widths, mode)
                fill = 0 if mode == "constant" else mode
                np.testing.assert_array_equal(windowed(view, starts, wanted.shape, fill), wanted)
        shifts = tuple(n // 2 for n in axes)
        np.testing.assert_array_equal(windowed(view, shifts, view.shape, None), np.roll(view, shifts, range(x.ndim)))
        wanted = np.triu(np.tril(view, 1), -1)
        np.testing.assert_array_equal(windowed(view, (0,) * x.ndim, view.shape, 0, (-1, 1)), wanted)


@dtypes
@pytest.mark.parametrize(
    "widths",
    [
        ((9, 4), (3, 2), (2, 3), (0, 3)),
        ((0, 7), (20, 0), (0, 0), (1, 0)),
        ((1, 1), (0, 0), (90, 1), (2, 2)),
        ((30, 0), (0, 1), (0, 0), (0, 0)),
        ((0, 31), (0, 0), (1, 0), (2, 0)),  # the last block is not full
    ],
    ids=str,
)
def test_blocks_of_the_fill_value(widths: Any, dtype: Any) -> None:
    # Rows are short. Some blocks write only the fill value, some begin or end in the array.
    x = (np.arange(2 * 7 * 60 * 3) % 100 + 1).astype(dtype).reshape(2, 7, 60, 3)
    wanted = np.pad(x, widths, constant_values=7)
    np.testing.assert_array_equal(windowed(x, tuple(before for before, _ in widths), wanted.shape, 7), wanted)


@pytest.mark.parametrize("capability", [80, 90, 100, 120])
@pytest.mark.parametrize("border", ["fill", "roll", "wrap", "edge", "reflect", "symmetric"])
@pytest.mark.parametrize("item", [1, 2, 4, 8, 16])
def test_every_window_compiles(item: int, border: str, capability: int) -> None:
    dtype = {1: dt.int8, 2: dt.bfloat16, 4: dt.float32, 8: dt.float64, 16: dt.complex128}[item]
    for shape, wanted in (((400, 9, 3, 2), 3), ((4000, 2000), 0)):
        x, out = (layout_of(dtype, axes, None, Device("cuda")) for axes in (shape, tuple(n + 1 for n in shape)))
        if border == "roll":
            out = x
        plan = plan_window(x, (1,) * x.ndim, out, border, None, 128)
        assert bool(plan.inner) == bool(wanted) or item >= 8 or border == "roll"
        cubin = compile_cubin("window", window_glue(plan, item, border, False, 128), capability)
        assert stack_bytes(cubin) == 0
    x = layout_of(dtype, (400, 9, 7), None, Device("cuda"))
    plan = plan_window(x, (0, 0, 0), x, "fill", (-1, 1), 128)
    assert stack_bytes(compile_cubin("window", window_glue(plan, item, "fill", True, 128), capability)) == 0
