"""`xpops.testing`: comparisons, blocks in which nothing copies or waits, arrays of every kind."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import find, given

import xpops as xp
from tests.helpers.fake_driver import FakeContext, pretend
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.testing import (
    LAYOUTS,
    assert_allclose,
    assert_no_copies,
    assert_no_sync,
    frameworks_on,
    special_values,
    strategies,
    to_numpy,
    ulp_error,
)

PLACES = frameworks_on("cpu")


def differs(actual: Any, desired: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_allclose(actual, desired, **options)
    return str(caught.value)


@pytest.mark.parametrize("name", PLACES)
def test_every_framework_is_compared(name: str) -> None:
    host = np.array([[1, 2, 3], [4, 5, 6.5]], np.float32)
    x = PLACES[name].make(host)
    assert_allclose(x, host, ulps=0)
    assert_allclose(x, host.astype(np.longdouble))
    wrong = host.copy()
    wrong[1, 2] = np.nextafter(wrong[1, 2], np.float32(7))
    assert "1 of 6 elements" in differs(x, wrong, ulps=0.5)
    assert "at (1, 2): actual 6.5, desired 6.5" in differs(x, wrong, ulps=0.5)
    assert_allclose(x, wrong, ulps=1)


@pytest.mark.parametrize("dtype", [xp.float16, xp.bfloat16, xp.float32, xp.float64])
def test_a_unit_is_that_of_the_actual_dtype(dtype: Any) -> None:
    one = np.ones(1, dtype)
    above = np.nextafter(one, (2 * one).astype(dtype))
    assert ulp_error(above, one) == 1
    assert ulp_error(one, above.astype(np.longdouble)) == 1
    assert ulp_error(one, np.longdouble(1) + (above.astype(np.longdouble) - 1) / 2) == 0.5


def test_special_values_are_compared() -> None:
    x = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0])
    assert_allclose(x, x, ulps=0)
    assert_allclose(x, x[[0, 1, 2, 4, 3]], ulps=0)
    assert "inf ULPs" in differs(x, x[[0, 1, 2, 4, 3]], signed_zeros=True)
    assert "at (0,): actual nan" in differs(x, np.float32([1, np.inf, -np.inf, 0, 0]))
    assert "2 of 5" in differs(x, np.float32([np.nan, -np.inf, np.inf, 0, 0]))
    assert_allclose(np.float32([np.inf]), [np.float64(2) ** 128])  # what rounds to infinity
    differs(np.float32([np.inf]), np.float64([1e38]), atol=1e30)


def test_complex_numbers_are_compared_in_the_plane() -> None:
    eps = float(np.finfo(np.float32).eps)
    assert_allclose(np.complex64([1 + 0j]), np.complex128([1 + 1j * eps / 2]), ulps=0.5)
    differs(np.complex64([1 + 0j]), np.complex128([1 + 2j * eps]), ulps=1)
    assert_allclose(np.complex64([complex(np.inf, np.nan)]), np.complex64([complex(np.inf, np.nan)]))
    differs(np.complex64([complex(np.inf, 0)]), np.complex64([complex(np.inf, np.nan)]))


def test_shapes_dtypes_integers_and_numbers() -> None:
    x = xp.asarray([1, 2, 3], dtype=xp.int32)
    assert_allclose(x, [1, 2, 3])
    assert "at (2,): actual 3, desired 5 (absolute error 2)" in differs(x, [1, 2, 5])
    assert "actual has dtype int32, desired int64" in differs(x, np.arange(1, 4))
    assert "dtype" in differs(np.float32([1]), np.float16([1]))
    assert "dtype" in differs(np.float16([1]), np.ones(1, xp.bfloat16))
    assert "actual has shape (3,), desired ()" in differs(x, 3)
    assert_allclose(xp.sum(x), 6)
    assert_allclose(xp.zeros((0, 3)), np.zeros((0, 3)))
    assert_allclose(np.float32([1e-8, 1]), [0, 1], atol=np.array([1e-7, 0]))
    with pytest.raises(TypeError, match="to_numpy: x is"):
        assert_allclose(object(), 1)


def test_nothing_that_differs_passes() -> None:
    for dtype in (xp.float16, xp.bfloat16, xp.float32, xp.float64):
        tiny = ml_dtypes.finfo(dtype).smallest_subnormal
        assert_allclose(np.full(1, tiny, dtype), np.zeros(1, dtype))
        differs(np.full(1, 2 * tiny, dtype), np.zeros(1, dtype))
        largest = np.full(1, ml_dtypes.finfo(dtype).max, dtype)
        differs(largest, np.full(1, np.inf, dtype), ulps=1e6)
        assert "ULPs" in differs(np.ones(1, dtype), np.full(1, np.inf, dtype), ulps=1e6)
    for dtype, numbers in (
        (np.int32, [1.5]), (np.int8, [257]), (np.uint8, [-1]), (bool, [2]), (bool, [0.5]), (np.float32, [1 + 1j]),
    ):  # fmt: skip
        assert "does not hold" in differs(np.asarray([1], dtype), numbers)
    differs(np.float32([2**24]), [2**24 + 1], ulps=0)


def test_astype_is_an_operator() -> None:
    x = xp.ones(3, device="cpu")
    with assert_no_copies():
        for dtype in (xp.float64, xp.float32):
            assert xp.astype(x, dtype).dtype == x.astype(dtype).dtype == dtype
        assert xp.asarray(x) is x
    for options in ({"dtype": xp.float32}, {"copy": True}):
        with pytest.raises(AssertionError, match="asarray: float64 on cpu is copied"), assert_no_copies():
            xp.asarray(x, **options)


def test_copies_are_found() -> None:
    x, host = xp.ones((4, 6), dtype=xp.float32, device="cpu"), np.ones((4, 6), np.float32)
    for _ in range(3):
        with assert_no_copies():
            assert np.shares_memory(xp.asarray(host, device="cpu").to_numpy(), host)
            xp.from_dlpack(host)
            xp.from_dlpack(x)
            xp.reshape(x, (6, 4))
            xp.add(x.T, 1)
            xp.permute_dims(host, (1, 0))
            xp.reshape(host, (24,))
    for call in (
        lambda: xp.reshape(x.T, (24,)),
        lambda: xp.reshape(host.T, (24,)),
        lambda: xp.reshape(x, (24,), copy=True),
        lambda: xp.asarray(x, dtype=xp.float64),
        lambda: xp.asarray(host, dtype=xp.float64, device="cpu"),
        lambda: xp.asarray(host, copy=True, device="cpu"),
        lambda: xp.from_dlpack(host, copy=True),
        lambda: np.from_dlpack(xp.flip(x)),
    ):
        call()
        for _ in range(3):
            with pytest.raises(AssertionError, match="cop"), assert_no_copies():
                call()
        call()


def test_copies_of_torch_are_found() -> None:
    torch = pytest.importorskip("torch")
    x, z = torch.ones(4, 6), torch.ones(3, dtype=torch.complex64).conj()
    for call in (lambda: xp.reshape(x.T, (24,)), lambda: xp.flip(x), lambda: xp.add(z, z), lambda: xp.asarray(z)):
        call()
        for _ in range(2):
            with pytest.raises(AssertionError, match="cop"), assert_no_copies():
                call()
    with assert_no_copies():
        assert xp.reshape(x, (24,)).data_ptr() == x.data_ptr()
        assert xp.permute_dims(x, (1, 0)).shape == (6, 4)
        assert len(xp.unstack(x)) == 4


def test_waits_are_found_on_the_cpu() -> None:
    x = xp.asarray([3.0, 0.0], device="cpu")
    with assert_no_sync():
        y = xp.sum(x + x)
    for call in (
        y.item,
        x.to_numpy,
        x.tolist,
        lambda: bool(y),
        lambda: np.asarray(x),
        lambda: xp.nonzero(x),
        lambda: x[x > 1],
        lambda: xp.unique_values(x),
    ):
        call()
        for _ in range(2):
            with pytest.raises(AssertionError), assert_no_sync():
                call()


def test_waits_and_copies_of_a_gpu_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cuda.bindings")
    from xpops.engine.cuda.runtime import runtime

    fake = pretend(monkeypatch)
    monkeypatch.setattr(fake, "cuMemcpyDtoHAsync", lambda *_: (0,), raising=False)
    gpu = runtime.Runtime.__new__(runtime.Runtime)
    gpu.context, gpu._transfer = FakeContext(), None  # type: ignore[assignment]
    layout = layout_of(xp.float32, (3,), None, Device("cuda:0"))
    for block in (assert_no_sync, assert_no_copies):
        with pytest.raises(AssertionError, match=r"shape \(3,\) is copied from cuda:0 to the host"), block():
            gpu.to_host(0, layout, 0)
        with pytest.raises(AssertionError, match=r"shape \(3,\) is copied from the host to cuda:0"), block():
            gpu.from_host(np.zeros(3, np.float32), 0, layout, 0)
    with pytest.raises(AssertionError, match="count or a verdict"), assert_no_sync():
        gpu.ask(0, lambda word: None)


def caught(call: Any) -> None:
    with suppress(AssertionError):
        call()


def test_an_error_that_is_caught_is_raised_at_the_end() -> None:
    x = xp.ones(3)
    with pytest.raises(AssertionError, match="read on the host"), assert_no_sync():
        caught(x.to_numpy)
    x.to_numpy()


@given(strategies.arrays())
def test_any_array_is_read_back(x: Any) -> None:
    host = to_numpy(x)
    assert host.shape == tuple(x.shape)
    assert_allclose(x, host, ulps=0, signed_zeros=True)


@given(strategies.operands(3, layout="transposed"))
def test_operands_broadcast(arrays: Any) -> None:
    xp.broadcast_shapes(*(tuple(x.shape) for x in arrays))
    assert len({type(x) for x in arrays}) == 1


def test_unknown_layouts_are_refused() -> None:
    for drawn in (strategies.arrays(layout="foo"), strategies.operands(2, layout="foo")):
        with pytest.raises(ValueError, match="arrays: layout is 'foo'; accepted: contiguous, shifted, "):
            find(drawn, lambda x: True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_drawn(layout: str) -> None:
    drawn = strategies.arrays(xp.int16, (3, 4), framework="numpy", layout=layout)
    x = find(drawn, lambda x: True)
    assert (x.shape, x.dtype) == ((3, 4), np.int16)


def test_a_framework_is_drawn_where_it_has_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"cuda:0": {"own": PLACES["own"]}, "cpu": PLACES}
    monkeypatch.setattr(strategies, "devices", lambda: (*map(Device, there),))
    monkeypatch.setattr(strategies, "frameworks_on", there.__getitem__)
    assert type(find(strategies.arrays(xp.int16, framework="numpy"), lambda x: True)) is np.ndarray
    with pytest.raises(ValueError, match="no framework 'numpy' has int16 on cuda:0"):
        find(strategies.arrays(xp.int16, framework="numpy", device="cuda:0"), lambda x: True)


def test_every_framework_is_drawn() -> None:
    for name, framework in PLACES.items():
        found = find(
            strategies.arrays(xp.float32), lambda x, each=framework, key=name: key == "capsule" or each.owns(x)
        )
        assert tuple(found.shape) == to_numpy(found).shape


@pytest.mark.parametrize("dtype", [*xp.testing.framework.EVERY], ids=str)
def test_special_values_of_every_dtype(dtype: Any) -> None:
    values = special_values(dtype)
    assert values.dtype == dtype
    if dtype in (xp.float32, xp.complex64):
        assert np.isnan(values).any()
        assert np.isinf(values).any()


def test_without_hypothesis() -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None; import xpops as xp\n"
        "xp.testing.assert_allclose(xp.ones(3), [1, 1, 1])\n"
        "try: xp.testing.strategies\n"
        "except ImportError as error: print(error)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "xpops.testing.strategies needs hypothesis: pip install hypothesis\n"
