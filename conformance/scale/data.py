"""The data of `reduction`: a zarr array that processes write, with the sums that NumPy computes of each block."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
import zarr

NDArray = np.ndarray[Any, Any]
COLUMNS = 8192
# NumPy widens so many rows at a time to float64.
_PART = 256


class Data(NamedTuple):
    """What was written: the bytes, the blocks, and NumPy's mean and variance of each column, in float64."""

    bytes: int
    blocks: int
    mean: NDArray
    variance: NDArray


def write(path: str, total: int, block: int) -> Data:
    """Write float32 numbers of `total` bytes, in uncompressed blocks of `block` bytes of whole rows."""
    rows = max(block // (4 * COLUMNS), 1)
    blocks = max(total // (4 * COLUMNS * rows), 1)
    shape, chunks = (rows * blocks, COLUMNS), (rows, COLUMNS)
    zarr.create_array(path, shape=shape, chunks=chunks, dtype="float32", compressors=None)
    with ProcessPoolExecutor(min(os.cpu_count() or 1, blocks, 16), get_context("spawn")) as pool:
        sums = list(pool.map(partial(_write_block, path, rows), range(blocks)))
    total_of, squares = (sum(each) for each in zip(*sums, strict=True))
    mean = total_of / shape[0]
    # The numbers are near 3 with a deviation of 2, so that float64 loses no digits that float32 has.
    return Data(4 * shape[0] * COLUMNS, blocks, mean, squares / shape[0] - mean**2)


def _write_block(path: str, rows: int, index: int) -> tuple[NDArray, NDArray]:
    """Write a block, and return the sums of its columns and of their squares."""
    numbers = np.random.default_rng(index).standard_normal((rows, COLUMNS), dtype=np.float32)
    numbers *= 2
    numbers += 3
    zarr.open_array(path)[index * rows : (index + 1) * rows] = numbers
    total, squares = np.zeros(COLUMNS), np.zeros(COLUMNS)
    for start in range(0, rows, _PART):
        wide = numbers[start : start + _PART].astype(np.float64)
        total += wide.sum(axis=0)
        squares += np.square(wide, out=wide).sum(axis=0)
    return total, squares
