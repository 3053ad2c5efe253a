"""Arrays of more than 2**31 and 2**32 elements: 64-bit indices in every layout class. Needs a GPU with 40 GiB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.core import dtypes as dt
from xpops.engine import engine_of
from xpops.testing import generator

NDArray = np.ndarray[Any, Any]

WINDOW = 64
SIZES = [2**31 + 5, 2**32 + 5]
SHAPES = [(65539, 32771), (65539, 65543)]  # just above 2**31 and 2**32 elements


@pytest.fixture(autouse=True)
def room(cuda: Any) -> Iterator[None]:
    from cuda.bindings import driver

    engine = engine_of(cuda)
    with engine.context:  # type: ignore[attr-defined]  # the CUDA engine's
        _, free, _ = driver.cuMemGetInfo()
    if free < 40 << 30:
        pytest.skip("needs 40 GiB of free GPU memory")
    yield
    engine.pool.trim()  # type: ignore[attr-defined]


def places(size: int) -> list[int]:
    """The starts of windows: at both ends, around 2**31 and 2**32, and at random. They do not overlap."""
    wanted = {0, size - WINDOW, 2**31 - 32, 2**32 - 32, *generator(size).integers(0, size - WINDOW, 12).tolist()}
    found: list[int] = []
    for place in sorted(place for place in wanted if place <= size - WINDOW):
        if not found or place >= found[-1] + WINDOW:
            found.append(place)
    return found


def marked(size: int, device: Any) -> tuple[Any, dict[int, NDArray]]:
    """Zeros except for windows of random bytes, which are also returned, by position."""
    x = xp.zeros(size, dtype=xp.uint8, device=device)
    windows = {place: generator(place).integers(1, 200, WINDOW).astype(np.uint8) for place in places(size)}
    for place, window in windows.items():
        x[place : place + WINDOW] = xp.asarray(window, device=device)
    for place, window in windows.items():
        np.testing.assert_array_equal(x[place : place + WINDOW].to_numpy(), window)
    return x, windows


@pytest.mark.parametrize("size", SIZES)
def test_a_scalar_added(size: int, cuda: Any) -> None:
    x, windows = marked(size, cuda)
    y = xp.add(x, 7)
    for place, window in windows.items():
        np.testing.assert_array_equal(y[place : place + WINDOW].to_numpy(), window + 7)
    for place in generator("elsewhere").integers(0, size, 20).tolist():
        assert int(y[place]) == int(x[place]) + 7


@pytest.mark.parametrize("size", SIZES)
def test_a_cast(size: int, cuda: Any) -> None:
    x, windows = marked(size, cuda)
    y = xp.astype(x, xp.float16)
    for place, window in windows.items():
        np.testing.assert_array_equal(y[place : place + WINDOW].to_numpy(), window.astype(np.float16))


@pytest.mark.parametrize("size", SIZES)
def test_a_reversed_copy(size: int, cuda: Any) -> None:
    x, windows = marked(size, cuda)
    y = x[::-1].copy()
    for place, window in windows.items():
        first = size - place - WINDOW
        np.testing.assert_array_equal(y[first : first + WINDOW].to_numpy(), window[::-1])


@pytest.mark.parametrize("size", SIZES)
def test_every_other_element(size: int, cuda: Any) -> None:
    x, _ = marked(size, cuda)
    y = xp.add(x[1::2], 1)
    for place in (0, 1, 2**30 - 1, 2**30, y.size - 1):
        assert int(y[place]) == int(x[2 * place + 1]) + 1


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_column_and_a_row_broadcast(shape: tuple[int, int], cuda: Any) -> None:
    rows, columns = shape
    x, windows = marked(rows * columns, cuda)
    column, row = (np.arange(length) % 50 for length in shape)
    y = xp.reshape(x, shape) + xp.asarray(column.astype(np.uint8).reshape(-1, 1), device=cuda)
    z = xp.reshape(x, shape) + xp.asarray(row.astype(np.uint8), device=cuda)
    flat_y, flat_z = xp.reshape(y, (-1,)), xp.reshape(z, (-1,))
    for place, window in windows.items():
        index = np.arange(place, place + WINDOW)
        np.testing.assert_array_equal(flat_y[place : place + WINDOW].to_numpy(), window + column[index // columns])
        np.testing.assert_array_equal(flat_z[place : place + WINDOW].to_numpy(), window + row[index % columns])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_transposed_copy(shape: tuple[int, int], cuda: Any) -> None:
    rows, columns = shape
    x, windows = marked(rows * columns, cuda)
    out = xp.empty((columns, rows), dtype=xp.uint8, device=cuda)
    xp.positive(xp.reshape(x, shape).T, out=out)
    for place, window in windows.items():
        for step in (0, WINDOW // 2, WINDOW - 1):
            row, column = divmod(place + step, columns)
            assert int(out[column, row]) == int(window[step])


def test_an_outer_sum(cuda: Any) -> None:
    rows, columns = SHAPES[0]
    column, row = (np.arange(length) % 100 for length in (rows, columns))
    y = xp.add(
        xp.asarray(column.astype(np.uint8).reshape(-1, 1), device=cuda), xp.asarray(row.astype(np.uint8), device=cuda)
    )
    for r, c in [(0, 0), (rows - 1, columns - 1), (65531, 77), (2**31 // columns, 2**31 % columns), (1, columns - 1)]:
        assert int(y[r, c]) == column[r] + row[c]


@pytest.mark.parametrize("dtype", [dt.uint8, dt.float16], ids=str)
def test_a_fill(dtype: Any, cuda: Any) -> None:
    size = SIZES[1]
    x = xp.full(size, 3, dtype=dtype, device=cuda)
    for place in (0, 2**31 - 1, 2**31, 2**32 - 1, 2**32, size - 1):
        assert float(x[place]) == 3


def test_a_scan_of_many_rows(cuda: Any) -> None:
    """More rows than 32 bits count."""
    rows = SIZES[1]
    x, windows = marked(2 * rows, cuda)
    y = xp.cumulative_sum(xp.reshape(x, (rows, 2)), axis=1, dtype=xp.uint8)
    flat = xp.reshape(y, (-1,))
    for place, window in windows.items():
        if place % 2 == 0:
            expected = window.reshape(-1, 2).cumsum(1, dtype=np.uint8)
            np.testing.assert_array_equal(flat[place : place + WINDOW].to_numpy(), expected.reshape(-1))


def total(windows: dict[int, NDArray]) -> int:
    return sum(int(window.sum()) for window in windows.values())


def first_largest(windows: dict[int, NDArray]) -> int:
    """The position of the first largest element."""
    largest = max(window.max() for window in windows.values())
    return min(place + int(window.argmax()) for place, window in windows.items() if window.max() == largest)


def sum_of_places(windows: dict[int, NDArray]) -> int:
    return sum(place * WINDOW + WINDOW * (WINDOW - 1) // 2 for place in windows)


# Functions of all elements, which are 0 except for windows; and functions of the windows that give the same result.
OF_ALL: dict[str, tuple[Callable[[Any], Any], Callable[[dict[int, NDArray]], int]]] = {
    "sum": (xp.sum, total),
    "max": (xp.max, lambda windows: max(int(window.max()) for window in windows.values())),
    "argmax": (xp.argmax, first_largest),
    "count_nonzero": (xp.count_nonzero, lambda windows: WINDOW * len(windows)),
    "last of a scan": (lambda x: xp.cumulative_sum(x, dtype=xp.uint8)[-1], lambda windows: total(windows) % 256),
    "nonzero": (lambda x: xp.sum(xp.nonzero(x)[0]), sum_of_places),
    "mask": (lambda x: xp.sum(x[x > 0]), total),
    "sum of a long row": (lambda x: xp.sum(xp.sum(xp.reshape(x[1:], (1, -1)), axis=1)) + int(x[0]), total),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", OF_ALL)
def test_what_is_computed_of_all_elements(name: str, size: int, cuda: Any) -> None:
    call, expected = OF_ALL[name]
    x, windows = marked(size, cuda)
    assert int(call(x)) == expected(windows)
