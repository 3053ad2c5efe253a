"""`delete` and `insert` of one element, of some, and of many, against NumPy's, on every device."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy
import pytest

import xpops as xp
import xpops.numpy as np
from xpops.testing import to_numpy

RANDOM = numpy.random.default_rng(13)
X = RANDOM.integers(0, 99, (30, 40, 3))
MANY = RANDOM.integers(-30, 30, 25)
OBJECTS: list[Any] = [
    0, 29, -1, -30, [], [4], [-1, 3, 3, 4, 5, 29], MANY, numpy.arange(30), MANY[:0], slice(2, 5), slice(None),
    slice(9, 2, -1), slice(None, None, 3), slice(7, 7), numpy.array(3), numpy.int32(-2),
    RANDOM.random(30) < 0.5, numpy.zeros(30, bool),
]  # fmt: skip
ids = [str(each).replace("\n", "")[:20] for each in OBJECTS]


def same(found: Any, wanted: Any) -> None:
    assert found.dtype == wanted.dtype
    numpy.testing.assert_array_equal(to_numpy(found), wanted)


@pytest.mark.parametrize("obj", OBJECTS, ids=ids)
def test_delete(obj: Any, device: Any) -> None:
    x = xp.asarray(X, device=device)
    for _ in range(2):
        same(np.delete(x, obj, 0), numpy.delete(X, obj, 0))
        same(np.delete(x[:2, :30], obj, -2), numpy.delete(X[:2, :30], obj, -2))
        same(np.delete(x[0, 0], [1]), numpy.delete(X[0, 0], [1]))
        same(np.delete(x[0, 0], numpy.uint8([1])), numpy.delete(X[0, 0], [1]))
    flat, line = x[:, 0, 0], X[:, 0, 0]
    same(np.delete(flat, obj), numpy.delete(line, obj))
    found = np.delete(flat, [])
    found[0] = -1
    assert int(flat[0]) == line[0]


@pytest.mark.parametrize("obj", OBJECTS, ids=ids)
def test_insert(obj: Any, device: Any) -> None:
    x = xp.asarray(X, device=device)
    count = numpy.arange(30)[obj].size
    for _ in range(2):
        same(np.insert(x, obj, 7, 0), numpy.insert(X, obj, 7, 0))
        same(np.insert(x[:2, :30], obj, 7.5, 1), numpy.insert(X[:2, :30], obj, 7.5, 1))
    values = numpy.arange(count)
    there = xp.asarray(values, device=device)
    if count:
        same(np.insert(x[:, 0, 0], obj, there), numpy.insert(X[:, 0, 0], obj, values))
    if numpy.ndim(obj) == 1 and count:
        same(np.insert(x, obj, there[:, None, None], 0), numpy.insert(X, obj, values[:, None, None], 0))


def test_insert_of_several_at_one_place(device: Any) -> None:
    x, line = xp.asarray(X[:, 0, 0], device=device), X[:, 0, 0]
    for obj in (3, [3], 30, [30], [30, 30, 0], slice(4, 5)):
        same(np.insert(x, obj, [1, 2, 3]), numpy.insert(line, obj, [1, 2, 3]))
    values = X[:, :2].transpose(1, 0, 2)  # NumPy's order: the inserted axis first
    found = np.insert(xp.asarray(X, device=device), 2, xp.asarray(values, device=device), 1)
    same(found, numpy.insert(X, 2, values, 1))


@pytest.mark.parametrize("obj", [30, -31, [0, 31], [1.5], numpy.ones(3, bool)], ids=str)
def test_errors_are_those_of_numpy(obj: Any, device: Any) -> None:
    x = xp.asarray(X, device=device)
    with pytest.raises((IndexError, TypeError, ValueError)):
        numpy.delete(X, obj, 0)
    with pytest.raises((IndexError, TypeError, ValueError)):
        np.delete(x, obj, 0)
    if obj != 30 if isinstance(obj, int) else numpy.asarray(obj).dtype != bool:
        with pytest.raises((IndexError, TypeError, ValueError)):
            np.insert(x, obj, 1, 0)
    with pytest.raises(ValueError, match="broadcast"):
        np.insert(x, [1, 2], xp.ones((3, 40, 3), device=device), 0)


def test_no_index_for_each_element() -> None:
    x = xp.zeros(50_000, device="cpu")
    for call in (lambda: np.delete(x, 2), lambda: np.delete(x, [1, 9]), lambda: np.insert(x, slice(3, 5), 1.0)):
        call()
        tracemalloc.start()
        call()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1.5 * x.nbytes
