"""Fused functions with scalar arguments have the bits of the functions called one by one; without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.fused_scalars import CASES, assert_same_bits, elements, tuples
from tests.unit.conftest import PretendedEngine


@pytest.mark.parametrize("name", CASES)
def test_scalars_change_no_bit(name: str, pretended: PretendedEngine) -> None:
    function, dtypes, scalars = CASES[name]
    fused = xp.fuse(function)
    for dtype in dict.fromkeys((dtypes[0], dtypes[-1])):  # 16-bit and unsigned types have code of their own
        x, seen = pretended.array(elements(dtype)), set[type]()
        for scalar in scalars:
            before = pretended.sources
            got = fused(x, scalar)
            assert pretended.sources == before + (type(scalar) not in seen)  # the value does not matter
            seen.add(type(scalar))
            for one, other in zip(*tuples(got, function(x, scalar)), strict=True):
                assert_same_bits(one, other)


def test_numpy_scalars(pretended: PretendedEngine) -> None:
    x = pretended.array(np.arange(4, dtype=np.float32))
    fused = xp.fuse(lambda x, low, slope: xp.nn.leaky_relu(xp.clip(x, low), negative_slope=slope))
    for low, slope in ((np.float32(2), np.float64(0.5)), (np.int8(2), np.float16(0.5)), (2, np.int64(1))):
        assert fused(x, low, slope).to_numpy().tolist() == [2, 2, 2, 3]


BEYOND: list[tuple[Callable[..., Any], str, Any]] = [
    (lambda x, a: x + a, "int8", 128),
    (lambda x, a: xp.clip(x, 0, a), "uint16", -1),
    (lambda x, a: xp.maximum(x, a), "uint64", 2**64),
    (lambda x, a: x * a, "int64", 2**63),
    (lambda x, a: xp.where(x > 0, a, a), "float32", 2**63),  # two integers are int64
]


@pytest.mark.parametrize(("function", "dtype", "value"), BEYOND)
def test_integers_that_do_not_fit_are_refused_as_always(
    function: Callable[..., Any], dtype: str, value: int, pretended: PretendedEngine
) -> None:
    x = pretended.array(np.ones(3, dtype))
    for each in (function, xp.fuse(function)):
        with pytest.raises(OverflowError):
            each(x, value)


def test_errors_name_arguments_as_they_were_given(pretended: PretendedEngine) -> None:
    def shifted(x: Any, factor: Any = 1, shift: Any = 0) -> Any:
        return x * factor + shift

    x, fused = pretended.array(np.ones(3, np.uint8)), xp.fuse(shifted)
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        (r"arguments\[1\]", (x, 300), {}),
        (r"arguments\[2\]", (x, 2, 300), {}),
        ("shift", (x, x), {"shift": 300}),
        ("factor", (), {"shift": 255, "factor": 300, "x": x}),
    ]
    for name, arguments, named in calls:
        with pytest.raises(OverflowError, match=f"shifted: {name} is 300; accepted: 0 to 255"):
            fused(*arguments, **named)


def test_integers_beyond_64_bits_of_which_no_kernel_takes_all(pretended: PretendedEngine) -> None:
    x = pretended.array(np.arange(3, dtype=np.float32))
    for function in (
        lambda x, s: xp.logical_and(x > 0, s),
        lambda x, s: xp.any(xp.logical_xor(x > 0, s), axis=-1),
        lambda x, s: xp.logical_not(xp.logical_or(s, x > 5)),
        lambda x, s: (xp.logical_and(x, s), x * s),
        lambda x, s: x + s // 2**69,
        lambda x, s: x,
    ):
        fused = xp.fuse(lambda x, s, function=function: function(x + 1, s))
        for value in (2**70, -(2**70), 0):
            for one, other in zip(*tuples(fused(x, value), function(x + 1, value)), strict=True):
                assert_same_bits(one, other)


def test_integers_beyond_all_floats(pretended: PretendedEngine) -> None:
    x = pretended.array(np.ones(3, np.float32))
    for function in (lambda x, s: x * s, lambda x, s: x * s + 1j):
        for each in (function, xp.fuse(function)):
            with pytest.raises(OverflowError, match=r"beyond the range of float64|too large to convert to float"):
                each(x, 2**2000)


def test_an_integer_for_unsigned_and_floating_point_numbers(pretended: PretendedEngine) -> None:
    x = pretended.array(np.array([0, 1, 2**64 - 1], np.uint64))
    fused = xp.fuse(lambda x, n: (x ^ n, xp.astype(x, xp.float64) - n))
    for n in (2**63 + 2**11, 2**64 - 1):
        one, other = fused(x, n)
        assert_same_bits(one, x ^ n)
        assert_same_bits(other, xp.astype(x, xp.float64) - n)


def scaled(x: Any, y: Any = 2.0, *, scale: float = 1.0, shift: Any = 0) -> Any:
    """x * y * scale + shift"""
    return x * y * scale + shift


def test_arguments_by_names(pretended: PretendedEngine) -> None:
    fused, host = xp.fuse(scaled), np.arange(5, dtype=np.float32)
    x = pretended.array(host)
    assert fused(x).to_numpy().tolist() == (host * 2).tolist()
    for scale, shift in ((3.0, 1), (0.5, 4)):
        np.testing.assert_array_equal(fused(x, scale=scale).to_numpy(), host * 2 * scale)
        np.testing.assert_array_equal(fused(x, x, scale=scale).to_numpy(), host**2 * scale)
        np.testing.assert_array_equal(fused(x=x, shift=shift, scale=scale).to_numpy(), host * 2 * scale + shift)
        np.testing.assert_array_equal(fused(x, shift=x, y=scale).to_numpy(), host * scale + host)
    assert pretended.sources == 5
    assert fused.source(x, scale=2.0) == fused._by_position(1, ("scale",)).source(x, 2.0)
    outer = xp.fuse(lambda x, a: fused(x, scale=a) + 1)
    np.testing.assert_array_equal(outer(x, 3.0).to_numpy(), host * 6 + 1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        fused(x, nothing=3)
    with pytest.raises(TypeError, match=r"scaled: shift is a list; accepted: an array"):
        fused(x, shift=[1])
    with pytest.raises(TypeError, match=r"scaled: arguments\[0\] is a list; accepted: an array"):
        fused([1], shift=x)
    with pytest.raises(TypeError, match="multiple values for argument 'y'"):
        fused(x, 2.0, y=3.0)


def test_arguments_by_names_on_the_cpu() -> None:
    x = xp.asarray([1.0, 2.0], device="cpu")
    fused = xp.fuse(scaled)
    assert fused(x, scale=2, shift=x).tolist() == [5.0, 10.0]
    assert fused(np.ones(2), scale=3).tolist() == [6.0, 6.0]
    assert isinstance(fused(x=np.ones(2)), np.ndarray)


WAITS = "the value of a scalar argument is known only when it runs; accepted: arithmetic"
REFUSALS: list[tuple[Callable[..., Any], Any, str]] = [
    (lambda x, a: x if a > 0 else -x, 1.0, WAITS),
    (lambda x, a: x * min(a, 1), 1.0, WAITS),
    (lambda x, a: x * float(a), 1.0, WAITS),
    (lambda x, a: x * round(a), 1.0, WAITS),
    (lambda x, a: x * divmod(a, 2)[0], 3, WAITS),
    (lambda x, a: xp.sum(x, axis=a), 0, WAITS),
    (lambda x, a: xp.var(x, correction=a), 1, WAITS),
    (lambda x, a: xp.sum(x, keepdims=a), True, WAITS),
    (lambda x, a: next(x for _ in range(a)), 1, WAITS),
    (lambda x, a: xp.clip(x, a), 1j, "clip: x has dtype float32, to which min does not promote"),
    (lambda x, a: xp.nn.leaky_relu(x, negative_slope=a), 1j, r"negative_slope is a scalar argument \(complex\); acc"),
    (lambda x, a: xp.nn.softplus(x, threshold=a), 1j, r"threshold is a scalar argument \(complex\); accepted: a real"),
    (lambda x, a: xp.full_like(x, a), 1.0, "full_like cannot be fused"),
    (lambda x, a: x * a.bit_length(), 3, "bit_length of a scalar argument cannot be fused; accepted: arithmetic, real"),
    (lambda x, a: x * (a < 1j), 1.0, "'<' not supported between instances of 'float' and 'complex'"),
    (
        lambda x, a: x * 2**a,
        -1,
        "a power of scalar arguments is 0.5; accepted: int powers, as of ones, or float arguments",
    ),
    (lambda x, a: x * a**0.5, -1.0, r"is \(.*j\); accepted: float powers, as of ones, or complex arguments"),
]


@pytest.mark.parametrize(("function", "scalar", "message"), REFUSALS)
def test_what_a_scalar_cannot_do(
    function: Callable[..., Any], scalar: Any, message: str, pretended: PretendedEngine
) -> None:
    with pytest.raises(TypeError, match=message):
        xp.fuse(function)(pretended.array(np.ones(3, np.float32)), scalar)


def test_integers_of_64_bits(pretended: PretendedEngine) -> None:
    host = np.arange(5, dtype=np.int64)
    fused = xp.fuse(lambda x, number: x * 2 + number)
    for number in (1, 2**40, -(2**62), -1):
        np.testing.assert_array_equal(fused(pretended.array(host), number).to_numpy(), host * 2 + number)


def test_scalars_of_every_width_side_by_side(pretended: PretendedEngine) -> None:
    """Each scalar has its own place among the parameters, whatever comes before it."""
    x = pretended.array(np.arange(5, dtype=np.float64))

    def mixed(x: Any, a: Any, b: Any, c: Any, d: Any) -> Any:
        return xp.where(xp.logical_and(x > 0, a), x, c) + xp.where(xp.logical_or(x > 3, b), d, 0)

    fused = xp.fuse(mixed)
    for scalars in ((True, False, 5, 0.5), (False, True, 7.5, 2), (True, True, False, True), (False, False, 1, 1)):
        np.testing.assert_array_equal(fused(x, *scalars).to_numpy(), mixed(x, *scalars).to_numpy())
