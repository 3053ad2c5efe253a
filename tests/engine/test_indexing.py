"""Indexing by arrays of integers and mixed keys, on every device, against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from xpops.core import dtypes as dt
from xpops.dispatch.steady import launches
from xpops.testing import generator, random_bits
from xpops.testing.strategies import numpy_arrays, views

devices = st.sampled_from(DEVICES)
dtypes = st.sampled_from(tuple(dt.INFO))
ARITHMETIC = st.sampled_from(sorted(dt.CATEGORIES["arithmetic"], key=str))


def pair(data: st.DataObject, device: Any, dtype: Any) -> tuple[Any, Any]:
    """The same view as an Array and as an ndarray, with separate memory."""
    host = data.draw(numpy_arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5)))
    key, order = data.draw(views(host.shape).filter(lambda drawn: host[drawn[0]].ndim > 0))
    x = xp.asarray(host, device=device, copy=True)[key]
    return xp.permute_dims(x, order), host.copy()[key].transpose(order)


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...], distinct: bool = False) -> list[Any]:
    """The parts of a key: at least one array, and anything else. If `distinct`, no element is selected twice."""
    parts: list[Any] = []
    lead = draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=4))
    axis, arrays = 0, 0
    while axis < len(shape):
        kinds = ["slice", "int"] if shape[axis] else ["slice"]
        kinds += ["mask"] * (not arrays) + ["array"] * (not distinct or not arrays)
        kind = draw(st.sampled_from(kinds)) if arrays or axis < len(shape) - 1 else kinds[-1]
        if kind == "slice":
            parts.append(draw(st.slices(shape[axis])))
        elif kind == "int":
            parts.append(draw(st.integers(-shape[axis], shape[axis] - 1)))
        elif kind == "mask":
            axes = draw(st.integers(1, len(shape) - axis))
            parts.append(draw(hnp.arrays(np.bool_, shape[axis : axis + axes])))
            lead = draw(st.sampled_from([(), (1,)])) if not distinct else ()
            axis, arrays = axis + axes - 1, arrays + 1
        else:
            parts.append(draw(indices(shape[axis], lead, distinct)))
            arrays += 1
        axis += 1
        if draw(st.integers(0, 7)) == 0:
            parts.append(None)
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), ...)
    while parts and isinstance(parts[-1], slice) and parts[-1] == slice(None):
        parts.pop()
    return parts


@st.composite
def indices(draw: st.DrawFn, length: int, lead: tuple[int, ...], distinct: bool) -> Any:
    dtype = draw(st.sampled_from(dt.INTEGERS))
    low = 0 if dtype.kind == "u" else -length
    if distinct:
        count = min(length, 3)
        chosen = draw(st.permutations(range(length)))[:count]
        return np.array([place if dtype.kind == "u" or place % 2 else place - length for place in chosen], dtype)
    shape = tuple(1 if draw(st.integers(0, 5)) == 0 else n for n in lead)[draw(st.integers(0, len(lead))) :]
    shape = shape if length else (0,)
    return draw(hnp.arrays(dtype, shape, elements=st.integers(low, max(length - 1, low))))


def on(parts: list[Any], device: Any, as_lists: bool = False) -> Any:
    """A key with its arrays on a device, or as lists."""

    def moved(part: Any) -> Any:
        if not isinstance(part, np.ndarray):
            return part
        return part.tolist() if as_lists and part.ndim and part.size else xp.asarray(part, device=device)

    found = tuple(map(moved, parts))
    return found[0] if len(found) == 1 else found


def expected(host: Any, parts: list[Any]) -> Any:
    """What NumPy selects, or None if it raises for the key."""
    try:
        return host[tuple(each.astype(np.int64) if is_index(each) else each for each in parts)]
    except IndexError:
        return None


def is_index(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype != np.bool_


@given(st.data(), dtypes, devices, st.booleans())
def test_get(data: st.DataObject, dtype: Any, device: Any, as_lists: bool) -> None:
    x, host = pair(data, device, dtype)
    parts = data.draw(keys(host.shape))
    wanted = expected(host, parts)
    if wanted is None:
        with pytest.raises(IndexError):
            x[on(parts, device, as_lists)]
    else:
        assert_same(x[on(parts, device, as_lists)], wanted)


@given(st.data(), ARITHMETIC, devices, st.booleans())
def test_set(data: st.DataObject, dtype: Any, device: Any, as_lists: bool) -> None:
    x, host = pair(data, device, dtype)
    parts = data.draw(keys(host.shape, distinct=True))
    wanted = expected(host, parts)
    if wanted is None:
        with pytest.raises(IndexError):
            x[on(parts, device, as_lists)] = True
        return
    shape = tuple(1 if data.draw(st.integers(0, 5)) == 0 else n for n in wanted.shape)
    value = data.draw(numpy_arrays(dtype, st.just(shape[data.draw(st.integers(0, len(shape))) :])))
    if data.draw(st.booleans()):
        value = value[None, None] if value.ndim == wanted.ndim else value
    key = tuple(each.astype(np.int64) if is_index(each) else each for each in parts)
    x[on(parts, device, as_lists)] = xp.asarray(value, device=device)
    host[key] = value.reshape(value.shape[max(0, value.ndim - wanted.ndim) :])
    assert_same(x, host)
    x[on(parts, device)] = True
    host[key] = True
    assert_same(x, host)


@pytest.mark.parametrize("dtype", tuple(dt.INFO), ids=str)
def test_bits_are_kept(dtype: Any, device: Any) -> None:
    host = random_bits(dtype, 6000, "gathered").reshape(60, 100)
    which = generator("places").integers(-60, 60, 80)
    x, places = xp.asarray(host, device=device, copy=True), xp.asarray(which, device=device)
    assert x[places].to_numpy().tobytes() == host[which].tobytes()
    assert x[:, places].to_numpy().tobytes() == host[:, which].tobytes()
    order = generator("order").permutation(60)
    x[xp.asarray(order, device=device)] = x
    wanted = host.copy()
    wanted[order] = host
    assert x.to_numpy().tobytes() == wanted.tobytes()


@pytest.mark.parametrize("row", [1, 3, 4, 15, 16, 17, 63, 64, 65, 127, 256, 1000, 1024, 5000])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.complex128], ids=str)
def test_rows_of_every_length(row: int, dtype: Any, device: Any) -> None:
    host = np.arange(37 * (row + 1)).astype(dtype).reshape(37, row + 1)
    which = generator("rows", row).integers(-37, 37, 50)
    x, places = xp.asarray(host, device=device, copy=True), xp.asarray(which, device=device)
    assert_same(x[places], host[which])
    for part in (slice(1, None), slice(None, -1), slice(None, None, -1)):
        assert_same(x[places, part], host[which, part])
        assert_same(x[:, part][places], host[:, part][which])
    order = generator("order", row).permutation(37)[:30]
    value = host[:30] * 2
    x[xp.asarray(order, device=device)] = xp.asarray(value, device=device)
    host[order] = value
    assert_same(x, host)
    x[xp.asarray(order, device=device), 1:] = 3
    host[order, 1:] = 3
    assert_same(x, host)


@pytest.mark.parametrize("shape", [(2**20,), (1024, 1024), (128, 64, 128)], ids=str)
def test_many(shape: tuple[int, ...], device: Any) -> None:
    host = generator("many").random(shape).astype(np.float32)
    x = xp.asarray(host, device=device)
    for axis, length in enumerate(shape):
        which = generator("many", axis).integers(-length, length, length // 2)
        key = (slice(None),) * axis
        places = xp.asarray(which, device=device)
        assert_same(x[(*key, places)], host[(*key, which)])
        assert_same(xp.take(x, places, axis=axis), np.take(host, which, axis))


def test_zero_dimensional_indices(device: Any) -> None:
    host = np.arange(24).reshape(2, 3, 4)
    x, one = xp.asarray(host, device=device, copy=True), xp.asarray(1, device=device)
    assert_same(x[one], host[1])
    assert_same(x[:, one, one], host[:, 1, 1])
    assert_same(x[one, :, -one], host[1, :, -1])
    assert_same(x[one, one, one], host[1, 1, 1])
    x[one, :, one] += 100
    host[1, :, 1] += 100
    assert_same(x, host)


def test_truth_values_are_masks_without_axes(device: Any) -> None:
    host = np.arange(6).reshape(2, 3)
    x = xp.asarray(host, device=device, copy=True)
    for value in (True, False):
        for mask in (value, np.bool_(value), np.asarray(value), xp.asarray(value, device=device)):
            assert_same(x[mask], host[value])
            assert_same(x[..., mask], host[..., value])
            assert_same(x[mask, :, 0], host[value, :, 0])
    x[False] = 5
    assert_same(x, host)
    x[True, 1] = 5
    assert x.tolist() == [[0, 1, 2], [5, 5, 5]]


def test_the_last_of_several_values_stays() -> None:
    host = np.zeros((5, 3))
    x = xp.zeros((5, 3), device="cpu")
    which = np.array([[0, 1, 0, 4], [1, 1, -1, 0]], order="F")
    value = np.arange(24.0).reshape(3, 2, 4).transpose(1, 2, 0)
    for at in np.ndindex(which.shape):
        host[which[at]] = value[at]
    x[which] = xp.asarray(value, device="cpu")
    assert_same(x, host)


def test_of_several_values_one_stays_whole(device: Any) -> None:
    x = xp.zeros((4, 64), dtype=xp.complex128, device=device)
    value = np.arange(1000 * 64).reshape(1000, 64) * (1 - 1j)
    which = np.arange(1000) % 3
    x[xp.asarray(which, device=device)] = xp.asarray(value, device=device)
    got = x.to_numpy()
    assert not got[3].any()
    for row in range(3):
        assert np.isin(got[row], value[which == row]).all()
        assert np.array_equal(got[row].real, -got[row].imag)


def test_memory_shared_with_the_array(device: Any) -> None:
    host = np.arange(1000)
    x = xp.asarray(host, device=device, copy=True)
    x[x[::-1]] = x[500:][[0] * 500 + list(range(500))]
    host[host[::-1].copy()] = host[500:][[0] * 500 + list(range(500))]
    assert_same(x, host)
    x[xp.arange(500, device=device)] = x[400:900]
    host[:500] = host[400:900].copy()
    assert_same(x, host)


def test_in_place_on_chosen_items(device: Any) -> None:
    x = xp.zeros((4, 3), device=device)
    x[[0, 2]] += 1
    x[xp.asarray([1], device=device), ::2] -= 5
    assert x.tolist() == [[1, 1, 1], [-5, 0, -5], [1, 1, 1], [0, 0, 0]]


def test_values_are_converted(device: Any) -> None:
    x = xp.zeros(4, dtype=xp.float64, device=device)
    x[[0, 1]] = xp.asarray([1, 2], dtype=xp.int8, device=device)
    x[[2, 3]] = np.float32(2.5)
    assert x.tolist() == [1, 2, 2.5, 2.5]


def test_foreign_indices() -> None:
    x = xp.reshape(xp.arange(6, device="cpu"), (2, 3))
    assert_same(x[np.array([1, 0])], np.arange(6).reshape(2, 3)[::-1])
    torch = pytest.importorskip("torch")
    assert_same(x[:, torch.tensor([2, 0])], np.array([[2, 0], [5, 3]]))
    x[torch.tensor([True, False])] = torch.tensor([7, 8, 9])
    assert x.tolist() == [[7, 8, 9], [3, 4, 5]]


def test_data_of_the_host_goes_to_the_gpu(cuda: Any) -> None:
    host = np.arange(12).reshape(3, 4)
    x = xp.asarray(host, device=cuda, copy=True)
    assert_same(x[[2, -1], 1:], host[[2, -1], 1:])
    assert_same(x[:, np.array([0, 3])], host[:, [0, 3]])
    assert_same(x[host > 5], host[host > 5])
    assert_same(x[np.array([True, False, True]), [1, 2]], host[[0, 2], [1, 2]])
    x[host > 5] = 0
    assert_same(x, np.where(host > 5, 0, host))
    with pytest.raises(IndexError, match=r"the array for axis 1 holds 4; accepted: -4 to 3$"):
        x[:, [4]]
    with pytest.raises(ValueError, match="on cpu"):
        x[xp.asarray([0], device="cpu")]


@pytest.mark.parametrize("wrong", [7, -8, 2**40])
def test_out_of_range(wrong: int, device: Any) -> None:
    x = xp.arange(7, device=device)
    places = xp.asarray([1, wrong, 2], device=device)
    calls = {
        "index: the array for axis 0": lambda: x[places],
        "take: indices": lambda: xp.take(x, places),
        "take_along_axis: indices": lambda: xp.take_along_axis(x, places),
    }
    for name, call in calls.items():
        with pytest.raises(IndexError, match=f"{name} holds {wrong}; accepted: -7 to 6"):
            call().tolist()
    with pytest.raises(IndexError, match=f"index: the array for axis 0 holds {wrong}; accepted: -7 to 6"):
        _assign_and_read(x, places)
    assert x.tolist() in ([0, 1, 2, 3, 4, 5, 6], [0, 10, 10, 3, 4, 5, 6])
    assert xp.take(x, places[:1]).tolist()[0] in (1, 10)


def _assign_and_read(x: Any, places: Any) -> None:
    x[places] = 10
    x.tolist()


def test_out_of_range_is_reported_where_something_is_counted(cuda: Any) -> None:
    x = xp.arange(7, device=cuda)
    y = x[xp.asarray([100], device=cuda)]
    assert y.device == cuda
    with pytest.raises(IndexError, match="holds 100; accepted: -7 to 6"):
        x[x > 3]
    assert x[x > 3].tolist() == [4, 5, 6]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x[[0.5]], IndexError, "index: .0.5. is no index; accepted: lists of integers or booleans"),
        (lambda x: x[[[0], [1, 2]]], IndexError, "is no array; accepted: lists of integers or booleans"),
        (lambda x: x["a"], IndexError, "index: a str in the key"),
        (lambda x: x[1.0], IndexError, "index: a float in the key"),
        (lambda x: x[[0], [0], [0]], IndexError, "index: 3 indices for an array of 2 axes"),
        (lambda x: x[[0], ..., ...], IndexError, "several '...'"),
        (lambda x: x[[0, 1], [0, 1, 2]], IndexError, "index: shapes"),
        (lambda x: x[[0], 5], IndexError, "index: 5 is out of range for axis 1 of length 3"),
        (lambda x: x[[0], ::0], IndexError, "no slice of integers"),
        (lambda x: x[[0], 0.5:], IndexError, "no slice of integers"),
        (lambda x: x[[2]], IndexError, "index: the array for axis 0 holds 2; accepted: -2 to 1"),
        (lambda x: x[:0][[0]], IndexError, "index: the array for axis 0"),
        (lambda x: x[:0][xp.asarray(0), []], IndexError, "index: the array for axis 0 is not empty, but the axis is"),
        (lambda x: x[:, [True, False]], IndexError, r"index: a mask of shape \(2,\) for axes of lengths \(3,\)"),
        (lambda x: x.__setitem__([0], 1j), TypeError, "__setitem__: value is a Python complex"),
        (lambda x: x.__setitem__([0], xp.ones(4)), ValueError, r"__setitem__: value has shape \(4,\)"),
        (lambda x: x.__setitem__([0], xp.ones((2, 3))), ValueError, r"__setitem__: value has shape \(2, 3\)"),
        (lambda x: x.__setitem__([0, 5], 1.0), IndexError, "index: the array for axis 0 holds 5"),
        (lambda x: xp.broadcast_to(x, (2, 2, 3)).__setitem__([0], 1.0), ValueError, "__setitem__: the array is read"),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str, device: Any) -> None:
    xp.set_default_device(device)
    try:
        x = xp.zeros((2, 3))
        with pytest.raises(error, match=message):
            call(x)
        assert not xp.any(x)
    finally:
        xp.set_default_device(None)


@pytest.mark.parametrize("key", [1, slice(1, 2), [1], [[1]], [False, True]], ids=str)
def test_leading_axes_of_length_1_are_left_out(key: Any, device: Any) -> None:
    host = np.zeros((2, 3))
    x, value = xp.asarray(host, device=device, copy=True), np.ones((1, 1, 1, 1, 3))
    x[key] = xp.asarray(value, device=device)
    host[key] = value
    assert_same(x, host)


@pytest.mark.parametrize("key", [0, [0], slice(2), [True, False, True], np.array([True, False, True])], ids=str)
def test_integers_that_do_not_fit_are_refused(key: Any, device: Any) -> None:
    x = xp.zeros(3, dtype=xp.uint8, device=device)
    for value in (300, -1, np.int64(256)):
        with pytest.raises(OverflowError, match=r"__setitem__: value is .*, which uint8 cannot hold"):
            x[key] = value
    assert not xp.any(x)


def test_an_element_that_a_0d_array_names(device: Any) -> None:
    x = xp.asarray([1, 2, 3], device=device, copy=True)
    x[xp.asarray(1, device=device)] = 9
    x[xp.argmin(x)] = 7
    assert x.tolist() == [7, 9, 3]


def test_lists_that_are_no_indices(device: Any) -> None:
    with pytest.raises(IndexError, match="accepted: lists of integers or booleans"):
        xp.zeros(3, device=device)[[2**70]]


def test_sequences_in_keys(device: Any) -> None:
    host = np.arange(12).reshape(3, 4)
    x = xp.asarray(host, device=device)
    for key in (((0, 1), (1, 2)), range(2), (slice(None), range(3, 0, -1)), ((0, 2), 1), (((0, 1), (2, 1)),), ((),)):
        assert_same(x[key], host[key])
    x[(0, 2), range(2)] = 7
    host[(0, 2), range(2)] = 7
    assert_same(x, host)
    with pytest.raises(IndexError, match=r"index: \(0, 'a'\) is no index; accepted: lists of integers or booleans"):
        x[(0, "a"), 1]


@pytest.mark.parametrize("shape", [(6,), (6, 4), (3000,)], ids=str)
def test_masked_places_get_other_places_of_the_same_array(shape: tuple[int, ...], device: Any) -> None:
    """The value overlaps the elements written, without a cast or broadcast. It must be read as if copied first."""
    host = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    mask = np.arange(shape[0]) % 3 != 0
    count = int(mask.sum())
    for start in (0, 1):
        x, expected = xp.asarray(host, device=device, copy=True), host.copy()
        expected[mask] = host[start : start + count]
        x[xp.asarray(mask, device=device)] = x[start : start + count]
        assert_same(x, expected)


def test_keys_that_differ_in_an_integer_share_a_plan(device: Any) -> None:
    x, i = xp.zeros((40, 8), device=device), xp.asarray([3, 1], device=device)
    values = [xp.full((2,), float(j), device=device) for j in range(40)]
    remembered = len(launches)
    for j in range(40):
        x[j, i] = values[j]
        assert x[j, i].to_numpy().tolist() == [j, j]
    assert len(launches) <= remembered + 2
    assert x.to_numpy()[:, [0, 1, 3]].tolist() == [[0, j, j] for j in range(40)]
