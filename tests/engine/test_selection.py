"""Boolean masks, nonzero and bincount, on every device."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
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
from xpops.testing import generator, random_bits
from xpops.testing.strategies import numpy_arrays, views

devices = st.sampled_from(DEVICES)
dtypes = st.sampled_from(tuple(dt.INFO))
# Sizes around the tiles of every element width.
SIZES = [1, 1023, 1024, 1025, 4095, 4096, 4097, 8193, 131073, 2**20 + 3]


def pair(data: st.DataObject, device: Any, dtype: Any) -> tuple[Any, Any]:
    """The same view as an Array and as an ndarray, with separate memory."""
    host = data.draw(numpy_arrays(dtype))
    key, order = data.draw(views(host.shape))
    x = xp.asarray(host, device=device, copy=True)[key]
    return xp.permute_dims(x, order), host.copy()[key].transpose(order)


def masks_of(data: st.DataObject, shape: tuple[int, ...]) -> Any:
    """A mask of the leading axes, C-contiguous or transposed."""
    mask = data.draw(hnp.arrays(np.bool_, shape[: data.draw(st.integers(0, len(shape)))]))
    return np.asarray(mask, order="F") if data.draw(st.booleans()) else mask


@given(st.data(), dtypes, devices)
def test_get(data: st.DataObject, dtype: Any, device: Any) -> None:
    x, host = pair(data, device, dtype)
    mask = masks_of(data, host.shape)
    assert_same(x[xp.asarray(mask, device=device)], host[mask])


@given(st.data(), st.sampled_from(sorted(dt.CATEGORIES["arithmetic"], key=str)), devices)
def test_set(data: st.DataObject, dtype: Any, device: Any) -> None:
    x, host = pair(data, device, dtype)
    mask = masks_of(data, host.shape)
    on_device = xp.asarray(mask, device=device)
    rest = host.shape[mask.ndim :]
    count = int(np.count_nonzero(mask))
    kind = data.draw(st.sampled_from(["scalar", "0-d", "rest", "one", "rows", "broadcast rows"]))
    if kind == "scalar":
        x[on_device] = True
        host[mask] = True
        assert_same(x, host)
        return
    lead = {"one": (1,), "rows": (count,), "broadcast rows": (count,)}.get(kind, ())
    tail = () if kind == "0-d" else tuple(1 for _ in rest) if kind == "broadcast rows" else rest
    value = data.draw(numpy_arrays(dtype, st.just((*lead, *tail))))
    x[on_device] = xp.asarray(value, device=device)
    host[mask] = value
    assert_same(x, host)


@given(st.data(), dtypes, devices)
def test_nonzero(data: st.DataObject, dtype: Any, device: Any) -> None:
    x, host = pair(data, device, dtype)
    if host.ndim == 0:
        with pytest.raises(ValueError, match="nonzero: x has no axes"):
            xp.nonzero(x)
        with pytest.raises(ValueError, match="where: condition has no axes"):
            xp.where(x)
        return
    for find in (xp.nonzero, xp.where, xp.nonzero, xp.where):
        found = find(x)
        assert isinstance(found, tuple)
        for got, wanted in zip(found, np.nonzero(host.astype(bool)), strict=True):
            assert_same(got, wanted)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("share", [0, 0.001, 0.5, 1])
def test_every_size(size: int, share: float, device: Any) -> None:
    random = generator("select", size)
    mask = random.random(size) < share
    x = random.integers(0, 256, size).astype(np.uint8)
    on_device = xp.asarray(mask, device=device)
    assert_same(xp.asarray(x, device=device)[on_device], x[mask])
    assert_same(xp.nonzero(on_device)[0], np.flatnonzero(mask))
    assert_same(xp.asarray(x, device=device)[1:][on_device[:-1]], x[1:][mask[:-1]])


@pytest.mark.parametrize("size", [2**27 + 5, 2**32 + 5])
def test_more_tiles_than_one_block_scans_at_once(size: int, cuda: Any) -> None:
    x = xp.zeros(size, dtype=xp.uint8, device=cuda)
    places = np.unique([0, 5, 2**26, size // 2, size - 2, size - 1, *generator(size).integers(0, size, 50).tolist()])
    for i, place in enumerate(places.tolist()):
        x[place] = i + 1
    found = xp.nonzero(x)[0]
    assert_same(found, places)
    assert_same(x[x != 0], np.arange(1, places.size + 1, dtype=np.uint8))
    x[x != 0] = xp.full(places.size, 7, dtype=xp.uint8, device=cuda)
    assert xp.nn.bincount(x).tolist() == [size - places.size, *([0] * 6), places.size]


@pytest.mark.parametrize("dtype", tuple(dt.INFO), ids=str)
def test_bits_are_kept(dtype: Any, device: Any) -> None:
    x = random_bits(dtype, 20000, "selected")
    mask = generator("mask").random(x.size) < 0.3
    got = xp.asarray(x, device=device)[xp.asarray(mask, device=device)].to_numpy()
    assert got.tobytes() == x[mask].tobytes()


@pytest.mark.parametrize("rest", [(1,), (2,), (3,), (4,), (5, 7), (64,)], ids=str)
def test_rows(rest: tuple[int, ...], device: Any) -> None:
    x = np.arange(3000 * int(np.prod(rest)), dtype=np.int32).reshape(3000, *rest)
    mask = generator("rows").random(3000) < 0.4
    y = xp.asarray(x, device=device, copy=True)
    on_device = xp.asarray(mask, device=device)
    assert_same(y[on_device], x[mask])
    y[on_device] = -y[on_device]
    x[mask] = -x[mask]
    assert_same(y, x)


def test_a_value_on_the_same_memory(device: Any) -> None:
    host = np.arange(5000)
    x = xp.asarray(host, device=device, copy=True)
    mask = np.arange(5000) % 2 == 1
    x[xp.asarray(mask, device=device)] = x[2500:]
    host[mask] = host[2500:].copy()
    assert_same(x, host)


def test_the_same_bits_every_time(device: Any) -> None:
    x = xp.asarray(generator("again").random(2**20), device=device)
    first = x[x > 0.5].to_numpy()
    for _ in range(5):
        assert np.array_equal(x[x > 0.5].to_numpy(), first)


def test_foreign_masks_and_foreign_arrays() -> None:
    x, mask = np.arange(6), np.array([True, False, True, False, False, True])
    assert_same(xp.asarray(x, device="cpu")[mask], x[mask])
    (found,) = xp.nonzero(mask)
    assert type(found) is np.ndarray
    assert found.tolist() == [0, 2, 5]


@given(st.data(), st.sampled_from((*dt.INTEGERS, dt.bool)), st.integers(0, 2000), devices)
def test_bincount(data: st.DataObject, dtype: Any, minlength: int, device: Any) -> None:
    largest = (
        1 if dtype == dt.bool else min(int(np.iinfo(dtype).max), data.draw(st.sampled_from([5, 300, 1023, 1024, 9000])))
    )
    host = generator(largest, minlength).integers(0, largest + 1, data.draw(st.integers(0, 3000))).astype(dtype)
    step = data.draw(st.sampled_from([1, -2]))
    expected = np.bincount(host[::step].astype(np.int64), minlength=minlength)
    assert_same(xp.nn.bincount(xp.asarray(host, device=device)[::step], minlength=minlength), expected)


@pytest.mark.parametrize("stop", [1, 256, 10**6])
@pytest.mark.parametrize("minlength", [0, 256])
def test_bincount_of_many(stop: int, minlength: int, device: Any) -> None:
    host = generator("bincount", stop).integers(0, stop, 2**21 + 7).astype(np.int32)
    expected = np.bincount(host, minlength=minlength)
    x = xp.asarray(host, device=device)
    assert_same(xp.nn.bincount(x, minlength=minlength), expected)
    assert_same(xp.nn.bincount(x[1:], minlength=minlength), np.bincount(host[1:], minlength=minlength))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x[xp.ones((2, 2), dtype=xp.bool)], IndexError, "index: a mask of shape"),
        (lambda x: x[xp.ones((2, 3, 1), dtype=xp.bool)], IndexError, "index: a mask of shape"),
        (lambda x: x.__setitem__(xp.ones(3, dtype=xp.bool), 1.0), IndexError, "index: a mask of shape"),
        (lambda x: x.__setitem__(xp.ones(2, dtype=xp.bool), 1j), TypeError, "does not promote"),
        (lambda x: x.__setitem__(xp.ones(2, dtype=xp.bool), xp.ones(4)), ValueError, "__setitem__: value has shape"),
        (lambda x: x.__setitem__(x < 1, xp.ones(5)), ValueError, "the mask selects 6, but value has 5"),
        (lambda x: x.__setitem__(x < 1, xp.ones((2, 6))), ValueError, "__setitem__: value has shape"),
        (lambda x: xp.nonzero(3), TypeError, "nonzero"),
        (lambda x: xp.where(True), TypeError, "where"),
        (lambda x: xp.where(x > 0, x), TypeError, "where: condition and x1 are given; accepted: condition, x1 and x2"),
        (lambda x: xp.where(x > 0, None, x), TypeError, "where: condition and x2 are given"),
        (lambda x: xp.where(x > 0, out=x), TypeError, "where: condition and out are given"),
        (lambda x: xp.where(x > 0, 1, out=x), TypeError, "where: condition and x1, out are given"),
        (lambda x: xp.nn.bincount(x), TypeError, "bincount: dtype float64"),
        (lambda x: xp.nn.bincount(xp.astype(x, xp.int8)), ValueError, "bincount: x has shape"),
        (lambda x: xp.nn.bincount(xp.asarray([1, -1])), ValueError, "bincount: x holds a negative"),
        (lambda x: xp.nn.bincount(xp.asarray([2**50])), ValueError, "bincount: x holds 1125899906842624"),
        (lambda x: xp.nn.bincount(xp.asarray([1]), minlength=-1), ValueError, "bincount: minlength is -1"),
        (lambda x: xp.nn.bincount(xp.asarray([1]), minlength=1.5), TypeError, "bincount: minlength is 1.5"),
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


def test_masks_without_elements(device: Any) -> None:
    x = xp.ones((3, 2), device=device)
    assert x[xp.zeros((0,), dtype=xp.bool, device=device)].shape == (0, 2)
    assert x[xp.zeros((3, 0), dtype=xp.bool, device=device)].shape == (0,)
    x[xp.zeros((0, 2), dtype=xp.bool, device=device)] = 5
    assert xp.all(x == 1).tolist() is True


def test_a_mask_that_is_written(device: Any) -> None:
    host = np.arange(1001) % 2 == 0
    x = xp.asarray(host.copy(), device=device)
    mask = host[:-1].copy()
    x[1:][x[:-1]] = xp.ones(int(mask.sum()), dtype=xp.bool, device=device)
    host[1:][mask] = True
    assert np.array_equal(x.to_numpy(), host)


def test_an_array_that_overlaps_itself_is_not_written() -> None:
    torch = pytest.importorskip("torch")
    x = xp.asarray(torch.zeros(1).expand(4))
    with pytest.raises(ValueError, match="several elements at one address"):
        x[xp.asarray([True, False, True, False], device="cpu")] = xp.asarray([1.0, 2.0], dtype=xp.float32, device="cpu")


# Each number of selected elements twice or more in a row, so that calls guess it, and then others.
COUNTS = [*[60000] * 4, *[60500, 59000] * 3, *[100001] * 3, *[0] * 3, *[5] * 3, *[100001, 5] * 3, *[60000] * 3]


def check_counts(device: Any, seed: int) -> None:
    random = generator("counts", seed)
    host = random.normal(size=100001)
    x, kept = xp.asarray(host, device=device), []
    for count in COUNTS:
        mask = random.permutation(host.size) < count
        on_device = xp.asarray(mask, device=device)
        kept.append((mask, x[on_device], x[::-1][on_device], on_device.nonzero()[0]))
    for mask, elements, reversed_elements, places in kept:
        assert_same(elements, host[mask])
        assert_same(reversed_elements, host[::-1][mask])
        assert_same(places, np.flatnonzero(mask))


def test_counts_that_change(device: Any) -> None:
    check_counts(device, 0)


def test_counts_that_change_in_threads(device: Any) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda seed: check_counts(device, seed), range(4)))


def test_counts_that_change_on_streams_of_threads(cuda_torch: Any, cuda: Any) -> None:
    def work(seed: int) -> None:
        with xp.stream(cuda_torch.cuda.Stream()):
            check_counts(cuda, seed)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))


def test_a_repeated_mask_is_not_examined_again(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    host = np.arange(3000.0).reshape(1000, 3)
    x = xp.asarray(host, device=device)
    for mask in (host > 1200, host[:, 0] > 1200):
        on_device = xp.asarray(mask, device=device)
        assert_same(x[on_device], host[mask])
        with monkeypatch.context() as patch:
            patch.setattr("xpops.arrays.array.parse", None)
            assert_same(x[on_device], host[mask])
            assert_same(x[on_device,], host[mask])
        with pytest.raises(IndexError, match="mask"):
            x[on_device[1:]]
