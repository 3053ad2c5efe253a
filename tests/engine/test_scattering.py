"""Scatter reductions against plain NumPy, on every device."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from xpops.core import dtypes as dt
from xpops.testing import generator

NDArray = np.ndarray[Any, Any]

devices = st.sampled_from(DEVICES)
FLOATS = [dt.float16, dt.bfloat16, dt.float32, dt.float64]
INTEGERS = [dt.int8, dt.int16, dt.int32, dt.int64, dt.uint8, dt.uint16, dt.uint32, dt.uint64]
DTYPES = [*FLOATS, *INTEGERS]
INDICES = [dt.int8, dt.uint8, dt.int16, dt.int32, dt.uint32, dt.int64, dt.uint64]
COMBINE: dict[str, Any] = {
    "sum": np.add,
    "mean": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}
both = pytest.mark.parametrize("deterministic", [True, False])
every_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def reduced(x: NDArray, index: NDArray, source: NDArray, name: str, axis: int, include_self: bool = True) -> NDArray:
    """The expected result, computed one element at a time, in float32 for 16-bit floats."""
    wide = np.float32 if x.dtype.itemsize == 2 and x.dtype in dt.REAL_FLOATS else x.dtype
    result, counts = x.astype(wide), np.full(x.shape, int(include_self))
    fresh = np.full(x.shape, not include_self)
    for at in np.ndindex(*index.shape):
        to = list(at)
        to[axis] = int(index[at])
        place = tuple(to)
        value = source[at].astype(wide)
        result[place] = value if fresh[place] else COMBINE[name](result[place], value)
        fresh[place], counts[place] = False, counts[place] + 1
    if name == "mean":
        some = counts > include_self
        quotient = result[some] // counts[some] if x.dtype.kind in "iu" else result[some] / counts[some].astype(wide)
        result[some] = quotient.astype(wide)
    return result.astype(x.dtype)


def whole(random: Any, dtype: Any, *shape: int) -> NDArray:
    """Whole numbers, of which a few have an exact sum and product in any order."""
    return np.asarray(random.integers(0 if dtype.kind == "u" else -2, 3, shape)).astype(dtype)


def on(device: Any, *hosts: NDArray) -> list[Any]:
    return [xp.asarray(host, device=device) for host in hosts]


@given(
    st.data(),
    st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple),
    st.sampled_from(DTYPES),
    st.sampled_from(INDICES),
    st.sampled_from(list(COMBINE)),
    st.booleans(),
    st.booleans(),
    devices,
)
def test_elements(
    data: Any, shape: Any, dtype: Any, integer: Any, name: str, include_self: bool, deterministic: bool, device: Any
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    random = generator("scatter", data.draw(st.integers(0, 99)))
    at = axis % len(shape)
    used = tuple(data.draw(st.integers(0, 9 if each == at else length)) for each, length in enumerate(shape))
    x, source = whole(random, dtype, *shape), whole(random, dtype, *(n + int(random.integers(2)) for n in used))
    index = random.integers(0, shape[at], used).astype(integer)
    found = xp.nn.scatter_reduce(
        *on(device, x, index, source), name, axis=axis, include_self=include_self, deterministic=deterministic
    )
    # A sum of zeros may be 0.0 or -0.0.
    wanted = reduced(x, index, source, name, at, include_self) + dtype.type(0)
    assert_same(found + dtype.type(0), wanted.astype(dtype))
    if name == "sum" and include_self:
        added = xp.nn.scatter_add(*on(device, x, index, source), axis=axis, deterministic=deterministic)
        assert_same(added + dtype.type(0), wanted.astype(dtype))


@given(
    st.data(),
    st.lists(st.integers(1, 20), min_size=1, max_size=3).map(tuple),
    st.sampled_from(DTYPES),
    st.sampled_from(INDICES),
    st.booleans(),
    devices,
)
def test_slices(data: Any, shape: Any, dtype: Any, integer: Any, deterministic: bool, device: Any) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    random = generator("index_add", data.draw(st.integers(0, 99)))
    count = data.draw(st.integers(0, 40))
    sources = (*shape[: axis % len(shape)], count, *shape[axis % len(shape) + 1 :])
    x, source = whole(random, dtype, *shape), whole(random, dtype, *sources)
    index = random.integers(0, shape[axis], count).astype(integer)
    found = xp.nn.index_add(*on(device, x, index, source), axis=axis, deterministic=deterministic)
    every = np.broadcast_to(np.expand_dims(index, [each for each in range(x.ndim) if each != axis % x.ndim]), sources)
    wanted = reduced(x, every, source, "sum", axis % x.ndim) + dtype.type(0)
    assert_same(found + dtype.type(0), wanted.astype(dtype))


@both
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sums_are_near(dtype: Any, deterministic: bool, device: Any) -> None:
    random = generator("near", str(dtype))
    x, source = random.normal(size=97).astype(dtype), random.normal(size=20_000).astype(dtype)
    index = random.integers(0, 97, 20_000)
    exact = x.astype(np.float64)
    size = np.abs(exact)
    np.add.at(exact, index, source.astype(np.float64))
    np.add.at(size, index, np.abs(source.astype(np.float64)))
    found = xp.nn.scatter_add(*on(device, x, index, source), deterministic=deterministic).to_numpy()
    computed = 64 * min(float(ml_dtypes.finfo(each).eps) for each in (dtype, dt.float32))
    error = np.abs(found.astype(np.float64) - exact)
    assert np.all(error <= float(ml_dtypes.finfo(dtype).eps) * np.abs(exact) + computed * size)


@both
@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16, dt.float32, dt.float64, dt.int8, dt.int64], ids=str)
@pytest.mark.parametrize("targets", [1, 3, 1000, 100_003])
@pytest.mark.parametrize("width", [1, 3, 8, 128])
def test_many(dtype: Any, targets: int, width: int, deterministic: bool, device: Any) -> None:
    """Ones and zeros, few enough for the narrowest dtype to add exactly."""
    random = generator("many", targets)
    count = 60_000 if width == 1 else 9_000
    index = random.integers(0, targets, count)
    index[: count // 3] = np.sort(index[: count // 3])  # partly sorted, as in many programs
    ones = np.zeros((count, width), dtype)
    ones[random.integers(0, count, min(120, count))] = 1
    wanted = np.zeros((targets, width))
    np.add.at(wanted, index, ones.astype(np.float64))
    x = np.zeros((targets, width), dtype)
    found = xp.nn.index_add(*on(device, x, index, ones), deterministic=deterministic)
    assert_same(found, wanted.astype(dtype))
    columns = np.repeat(index[:, None], width, 1)
    found = xp.nn.scatter_add(*on(device, x, columns, ones), deterministic=deterministic)
    assert_same(found, wanted.astype(dtype))


@pytest.mark.parametrize("name", COMBINE)
def test_one_place_with_most_sources(name: str, device: Any) -> None:
    random = generator("skewed", name)
    index = np.where(random.random(300_000) < 0.9, 7, random.integers(0, 20, 300_000))
    source = random.choice([-1, 1, 1, 0], (300_000, 2)).astype(np.float32)
    if name == "prod":
        source = np.sign(source + 0.5)
    x = np.ones((20, 2), np.float32)
    state = x.astype(np.float64)
    COMBINE[name].at(state, index, source)
    if name == "mean":
        state /= (np.bincount(index, minlength=20) + 1)[:, None]
    every = np.repeat(index[:, None], 2, 1)
    for strided in (every, np.broadcast_to(index[:, None], every.shape)):
        found = xp.nn.scatter_reduce(*on(device, x, strided, source), name)
        assert_same(found, state.astype(np.float32))


@both
@pytest.mark.parametrize("dtype", [dt.float16, dt.bfloat16], ids=str)
@pytest.mark.parametrize("targets", [1, 2, 4097])
def test_neighbours_of_halves_keep_their_bits(dtype: Any, targets: int, deterministic: bool, device: Any) -> None:
    x = np.full(targets, -0.0, dtype)
    x[::3] = np.nan
    index = np.array([targets - 1, targets // 2])
    source = np.ones(2, dtype)
    wanted = x.copy()
    for at in index:
        wanted[at] += dtype.type(1)
    assert_same(xp.nn.scatter_add(*on(device, x, index, source), deterministic=deterministic), wanted)
    # The operand and the memory after it are unchanged.
    views = on(device, np.concatenate([x, x]))[0][:targets], *on(device, index, source)
    assert_same(xp.nn.scatter_add(*views, deterministic=deterministic), wanted)


@both
def test_views(deterministic: bool, device: Any) -> None:
    random = generator("views", 0)
    x, source = whole(random, dt.float32, 12, 10, 6), whole(random, dt.float32, 12, 10, 6)
    index = random.integers(0, 5, (12, 10, 6))
    key = (slice(None, None, -2), slice(1, None, 2), slice(None))
    arrays = [each[key] for each in on(device, x, index, source)]
    wanted = reduced(x[key], index[key], source[key], "sum", 1)
    assert_same(xp.nn.scatter_add(*arrays, axis=1, deterministic=deterministic) + 0, wanted + np.float32(0))
    turned = [xp.permute_dims(each, (2, 0, 1)) for each in arrays]
    found = xp.nn.scatter_add(*turned, axis=2, deterministic=deterministic)
    assert_same(found + 0, wanted.transpose(2, 0, 1) + np.float32(0))


@every_dtype
def test_extremes(dtype: Any, device: Any) -> None:
    ends = (np.inf, -np.inf) if dtype in FLOATS else (np.iinfo(dtype).max, np.iinfo(dtype).min)
    x, source = np.zeros(3, dtype), np.repeat(np.array(ends, dtype), 2)
    index = np.array([0, 1, 0, 2])
    for name in ("min", "max"):
        for include_self in (True, False):
            found = xp.nn.scatter_reduce(*on(device, x, index, source), name, include_self=include_self)
            assert_same(found, reduced(x, index, source, name, 0, include_self))


def test_nan_wins(device: Any) -> None:
    x, source = np.array([np.nan, 1, 2]), np.array([1.0, np.nan, 3])
    for name, last in (("min", 2.0), ("max", 3.0)):
        found = xp.nn.scatter_reduce(*on(device, x, np.arange(3), source), name)
        assert_same(found, np.array([np.nan, np.nan, last]))


@both
@pytest.mark.parametrize("wrong", [-1, 3, 2**40])
def test_indices_out_of_range(wrong: int, deterministic: bool, device: Any) -> None:
    x, source, index = np.zeros((3, 2), np.float32), np.ones((2, 2), np.float32), np.array([0, wrong])
    with pytest.raises(IndexError, match=f"index_add: index holds {wrong}; accepted: 0 to 2"):
        xp.nn.index_add(*on(device, x, index, source), deterministic=deterministic).to_numpy()
    every = np.repeat(index[:, None], 2, 1)
    with pytest.raises(IndexError, match=f"scatter_add: index holds {wrong}; accepted: 0 to 2"):
        xp.nn.scatter_add(*on(device, x, every, source), deterministic=deterministic).to_numpy()
    with pytest.raises(IndexError, match=f"embedding_backward: index holds {wrong}; accepted: 0 to 2"):
        xp.nn.embedding_backward(*on(device, source, index), 3, deterministic=deterministic).to_numpy()
    assert_same(xp.nn.index_add(*on(device, x, np.array([0, 2]), source)), np.array([[1, 1], [0, 0], [1, 1]], "f4"))


@both
@pytest.mark.parametrize("padding", [None, 0, -1])
@pytest.mark.parametrize("dtype", [dt.float16, dt.float32, dt.int32], ids=str)
def test_rows_of_a_table(dtype: Any, padding: int | None, deterministic: bool, device: Any) -> None:
    random = generator("table", 1)
    grad, index = whole(random, dtype, 4, 9, 16), random.integers(0, 7, (4, 9))
    wanted = np.zeros((7, 16))
    np.add.at(wanted, index, grad.astype(np.float64))
    if padding is not None:
        wanted[padding] = 0
    options = {"padding_index": padding, "deterministic": deterministic}
    assert_same(xp.nn.embedding_backward(*on(device, grad, index), 7, **options) + 0, wanted.astype(dtype) + 0)


def test_a_table_of_nothing(device: Any) -> None:
    assert_same(
        xp.nn.embedding_backward(*on(device, np.ones((0, 4), np.float32), np.zeros(0, np.int32)), 2),
        np.zeros((2, 4), np.float32),
    )
    assert xp.nn.embedding_backward(*on(device, np.ones((3, 0)), np.zeros(3, np.int32)), 2).shape == (2, 0)
    assert xp.nn.embedding_backward(*on(device, np.ones((0, 3)), np.zeros(0, np.int32)), 0).shape == (0, 3)


def test_empty_arrays(device: Any) -> None:
    for shape in ((0, 3), (3, 0), (3, 2)):
        x, index = np.ones(shape), np.zeros((0, shape[1]), np.int64)
        assert_same(xp.nn.scatter_add(*on(device, x, index, np.ones(index.shape))), x)
        assert_same(xp.nn.index_add(*on(device, x, index[:, 0] if shape[1] else np.zeros(0, int), index + 1.0)), x)


def test_the_operand_stays(device: Any) -> None:
    x, index, source = on(device, np.zeros(3), np.array([1, 1]), np.ones(2))
    for deterministic in (True, False):
        assert_same(xp.nn.scatter_add(x, index, source, deterministic=deterministic), np.array([0.0, 2.0, 0.0]))
    assert_same(x, np.zeros(3))


X, PLACES, SOURCE = np.zeros((3, 2), np.float32), np.zeros((2, 2), np.int64), np.ones((2, 2), np.float32)
REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda n: n.scatter_add(X, PLACES, 1.0), TypeError, "scatter_add: source is a Python float; accepted: an array"),
    (
        lambda n: n.scatter_add(X > 0, PLACES, SOURCE > 0),
        TypeError,
        "scatter_add: x has dtype bool; accepted: real-valued",
    ),
    (
        lambda n: n.scatter_add(X + 0j, PLACES, SOURCE),
        TypeError,
        "scatter_add: x has dtype complex64; accepted: real-valued",
    ),
    (
        lambda n: n.scatter_add(X, PLACES, SOURCE.astype(np.float64)),
        TypeError,
        "source has dtype float64; accepted: float32, that",
    ),
    (
        lambda n: n.scatter_add(X, SOURCE, SOURCE),
        TypeError,
        "scatter_add: index has dtype float32; accepted: integer dtypes",
    ),
    (lambda n: n.scatter_add(X, PLACES[0], SOURCE), ValueError, "scatter_add: index has 1 axes; accepted: 2, as x has"),
    (
        lambda n: n.scatter_add(X, PLACES, SOURCE[0]),
        ValueError,
        "scatter_add: source has 1 axes; accepted: 2, as x has",
    ),
    (
        lambda n: n.scatter_add(X, PLACES, SOURCE[:1]),
        ValueError,
        r"index has shape \(2, 2\); accepted: up to \(1, 2\), that of so",
    ),
    (lambda n: n.scatter_add(X[:, :1], PLACES, SOURCE), ValueError, r"up to \(3, 1\), that of x, but along axis 0"),
    (lambda n: n.scatter_add(X, PLACES, SOURCE, axis=2), IndexError, "scatter_add"),
    (lambda n: n.scatter_add(*(np.asarray(each[0, 0]) for each in (X, PLACES, SOURCE))), IndexError, "scatter_add"),
    (
        lambda n: n.scatter_add(X[:0], PLACES, SOURCE),
        IndexError,
        "scatter_add: axis 0 of the result is empty, and index is not",
    ),
    (lambda n: n.index_add(X, PLACES, SOURCE), ValueError, r"index_add: index has shape \(2, 2\); accepted: one axis"),
    (
        lambda n: n.index_add(X, PLACES[0], SOURCE[:, :1]),
        ValueError,
        r"source has shape \(2, 1\); accepted: \(2, 2\), for x and",
    ),
    (
        lambda n: n.scatter_reduce(X, PLACES, SOURCE, "amin"),
        ValueError,
        "reduction is 'amin'; accepted: 'sum', 'prod', 'min'",
    ),
    (
        lambda n: n.embedding_backward(SOURCE, PLACES, 3),
        ValueError,
        r"grad has shape \(2, 2\); accepted: \(2, 2, 'D'\)",
    ),
    (
        lambda n: n.embedding_backward(SOURCE, PLACES[0], -3),
        ValueError,
        "embedding_backward: rows is -3; accepted: 0 and more",
    ),
    (
        lambda n: n.embedding_backward(SOURCE, PLACES[0], 2.5),
        TypeError,
        "embedding_backward: rows is 2.5; accepted: an integer",
    ),
    (
        lambda n: n.embedding_backward(SOURCE, PLACES[0], 3, padding_index=3),
        ValueError,
        "padding_index is 3; accepted: -3 to 2",
    ),
    (
        lambda n: n.embedding_backward(SOURCE, PLACES[0], 3, padding_index="a"),
        TypeError,
        "padding_index is 'a'; accepted: an int",
    ),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[2][:40])
def test_refusals(case: Any) -> None:
    call, kind, message = case
    with pytest.raises(kind, match=message):
        call(xp.nn)
