"""Padding against NumPy's, on every device."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from xpops.core import dtypes as dt
from xpops.testing.strategies import numpy_arrays

MODES = ("constant", "edge", "reflect", "symmetric", "wrap")
widths = st.integers(0, 4)


@given(st.data(), st.sampled_from(sorted(dt.CATEGORIES["arithmetic"], key=str)), st.sampled_from(MODES))
def test_every_mode(data: Any, dtype: Any, mode: str) -> None:
    host = data.draw(numpy_arrays(dtype))
    if host.size == 0 and mode != "constant":
        host = np.ones([max(length, 1) for length in host.shape], dtype)
    if data.draw(st.booleans()):
        host = host.T[..., ::-1] if host.ndim else host
    pairs = [data.draw(st.tuples(widths, widths)) for _ in host.shape]
    x = xp.asarray(host, device=data.draw(st.sampled_from(DEVICES)))
    expected = np.pad(host, pairs, mode) if pairs else host  # NumPy requires a pair even for no axis
    assert_same(xp.pad(x, pairs, mode), expected)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("width", "values"),
    [
        (2, 7),
        ((1, 2), (8, 9)),
        (((1, 0), (2, 3)), ((1, 2), (3, 4))),
        ((1,), (5,)),
        ([[2], [1]], [[6], [7]]),
        (np.array([[1, 2], [3, 4]]), np.array([1, 2])),
    ],
    ids=str,
)
def test_forms_of_widths_and_values(width: Any, values: Any, device: Any) -> None:
    host = np.arange(6, dtype=np.int16).reshape(2, 3)
    x = xp.asarray(host, device=device)
    assert_same(xp.pad(x, width, constant_values=values), np.pad(host, width, constant_values=values))


def test_widths_by_axis(device: Any) -> None:
    host = np.arange(6.0).reshape(2, 3)
    x = xp.asarray(host, device=device)
    assert_same(xp.pad(x, {-1: (1, 2)}), np.pad(host, ((0, 0), (1, 2))))
    assert_same(xp.pad(x, {0: 1}, "edge"), np.pad(host, ((1, 1), (0, 0)), "edge"))


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_a_padded_vector_takes_no_other_memory(mode: str) -> None:
    x = xp.asarray(np.arange(50_000.0), device="cpu")
    xp.pad(x, 3, mode)
    tracemalloc.start()
    xp.pad(x, 3, mode)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * x.nbytes  # the result; not also places, which are as large


def test_empty_leaves_the_array_in_the_middle(device: Any) -> None:
    padded = xp.pad(xp.asarray([1, 2], device=device), (1, 2), "empty")
    assert padded.shape == (5,)
    assert_same(padded[1:3], np.array([1, 2]))


def test_signs_and_payloads(device: Any) -> None:
    x = xp.asarray([1.0], device=device)
    assert_same(xp.pad(x, 1, constant_values=-0.0), np.array([-0.0, 1.0, -0.0]))
    assert_same(xp.pad(x, 1, constant_values=(0.0, -0.0)), np.array([0.0, 1.0, -0.0]))
    assert_same(xp.pad(x, 1, constant_values=xp.nan), np.array([np.nan, 1.0, np.nan]))
    assert_same(xp.pad(xp.asarray([False], device=device), 1, constant_values=1), np.array([True, False, True]))


@pytest.mark.parametrize("mode", [*MODES, "empty"])
def test_no_width_is_a_copy(mode: str, device: Any) -> None:
    x = xp.asarray([1, 2, 3], device=device)
    padded = xp.pad(x, 0, mode)
    padded[0] = 9
    assert_same(x, np.array([1, 2, 3]))


def test_errors(device: Any) -> None:
    x = xp.zeros((2, 3), dtype=xp.int32, device=device)
    cases: list[tuple[type[Exception], str, tuple[Any, ...], dict[str, Any]]] = [
        (ValueError, r"pad: mode is 'mean'; accepted: 'constant', 'empty', ", (1, "mean"), {}),
        (TypeError, r"pad: pad_width is 1.5; accepted: integers", (1.5,), {}),
        (TypeError, r"pad: pad_width is True; accepted: integers", (True,), {}),
        (ValueError, r"pad: pad_width is -1; accepted: 0 and more", (-1,), {}),
        (ValueError, r"pad: pad_width is \(1, 2, 3\); accepted: one for all, a pair for all, or", ((1, 2, 3),), {}),
        (IndexError, r"pad: pad_width has the axis 2; accepted: -2 to 1", ({2: 1},), {}),
        (TypeError, r"pad: constant_values has 1.5; accepted for int32", (1,), {"constant_values": 1.5}),
        (TypeError, r"pad: constant_values has 'a'; accepted for int32", (1,), {"constant_values": "a"}),
    ]
    for kind, message, args, options in cases:
        with pytest.raises(kind, match=f"^{message}"):
            xp.pad(x, *args, **options)
    with pytest.raises(
        ValueError, match=r"^pad: axis 0 of x is empty; accepted with mode='edge': at least one element"
    ):
        xp.pad(xp.zeros(0, device=device), 1, "edge")
    with pytest.raises(TypeError, match=r"^pad: x is a list; accepted: an array"):
        xp.pad([1], 1)


def test_numpy_arrays_stay_numpy_arrays() -> None:
    for mode in MODES:
        padded = xp.pad(np.array([1, 2]), 1, mode)
        assert isinstance(padded, np.ndarray)
        assert np.array_equal(padded, np.pad(np.array([1, 2]), 1, mode))  # type: ignore[call-overload]


def test_integers_that_no_float_holds(device: Any) -> None:
    x = xp.asarray([1], dtype=xp.uint64, device=device)
    assert xp.pad(x, 1, constant_values=((2**63 + 1, 0),)).tolist() == [2**63 + 1, 1, 0]


@pytest.mark.parametrize(
    ("dtype", "value", "wanted"),
    [
        (dt.bfloat16, 1.00390625 + 2**-30, 1.0078125),  # rounded once, not first to float32
        (dt.bfloat16, 2**63, 2.0**63),
        (dt.float32, 10**40, np.inf),
        (dt.float16, 2**31, np.inf),
        (dt.complex64, 1e39, np.inf),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("error")
def test_values_convert_as_elsewhere(dtype: Any, value: Any, wanted: float, device: Any) -> None:
    padded = xp.pad(xp.ones(1, dtype=dtype, device=device), 1, constant_values=value).to_numpy()
    assert [complex(each).real for each in padded] == [wanted, 1.0, wanted]


def test_integers_that_do_not_fit_are_refused(device: Any) -> None:
    message = "pad: constant_values is 300, which int8 cannot hold; accepted: -128 to 127"
    for values in (300, (1, 300)):
        with pytest.raises(OverflowError, match=message):
            xp.pad(xp.ones(2, dtype=xp.int8, device=device), 1, constant_values=values)
