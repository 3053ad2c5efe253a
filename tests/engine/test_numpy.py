"""`xpops.numpy`: one table of calls, whose results are NumPy's, on every device."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy
import pytest

import xpops as xp
import xpops.numpy
from tests.helpers.numpy_calls import CALLS, NAMES, OPERANDS
from xpops.numpy.elementwise import _converting
from xpops.testing import to_numpy


def evaluated(call: str, namespace: Any, operands: dict[str, Any]) -> Any:
    def written(function: Any, x: Any, *arguments: Any, **named: Any) -> Any:
        x = namespace.copy(x)
        assert function(x, *arguments, **named) is None
        return x

    return eval(call, {"np": namespace, "written": written, **operands})


def assert_alike(found: Any, wanted: Any, *, dtypes: bool = True) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for each, other in zip(found, wanted, strict=True):
            assert_alike(each, other, dtypes=dtypes)
        return
    got, wanted = to_numpy(found) if not isinstance(found, (bool, int, float)) else found, numpy.asarray(wanted)
    got = numpy.asarray(got)
    assert got.shape == wanted.shape
    if dtypes:
        assert got.dtype == wanted.dtype
    if wanted.dtype.kind in "biu":
        numpy.testing.assert_array_equal(got, wanted)
    else:
        tolerance = 2e-6 if wanted.dtype.itemsize == 4 else 1e-10
        numpy.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_calls(call: str, device: Any) -> None:
    wanted = evaluated(call.lstrip("~"), numpy, OPERANDS)
    xp.set_default_device(device)
    try:
        operands = {name: xp.asarray(x, device=device, copy=True) for name, x in OPERANDS.items()}
        for _ in range(2):
            assert_alike(evaluated(call.lstrip("~"), xp.numpy, operands), wanted, dtypes=not call.startswith("~"))
    finally:
        xp.set_default_device(None)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_divisors_and_multiples(name: str, dtype: str, device: Any) -> None:
    """All pairs of small integers, powers of two, the least and the greatest integers, and others."""
    limits, function = numpy.iinfo(dtype), getattr(numpy, name)
    powers = [1 << bit for bit in range(limits.bits - 1)]
    values = numpy.unique(
        numpy.asarray([limits.min, limits.min + 1, *range(20), *powers, 6 * 7, 120, limits.max - 1, limits.max], dtype)
    )
    values = numpy.concat([values, numpy.random.default_rng(1).integers(limits.min, limits.max, 40, dtype)])
    x, y = values[:, None], values[None]
    with numpy.errstate(all="ignore"):
        wanted = function(x, y)
    ours = [xp.asarray(each, device=device) for each in (x, y)]
    for _ in range(2):
        numpy.testing.assert_array_equal(to_numpy(getattr(xp.numpy, name)(*ours)), wanted)
    for scalar in (0, 12, 7):
        for operands, host in (((ours[0], scalar), (x, scalar)), ((scalar, ours[0]), (scalar, x))):
            with numpy.errstate(all="ignore"):
                found = to_numpy(getattr(xp.numpy, name)(*operands))
                numpy.testing.assert_array_equal(found, function(*host), strict=True)


def test_numbers_beside_nan(device: Any) -> None:
    host = numpy.asarray([numpy.nan, -numpy.inf, -1.0, -0.0, 0.0, 2.5, numpy.inf], numpy.float32)
    x = xp.asarray(host, device=device)
    for name in ("fmax", "fmin", "heaviside"):
        ours, theirs = getattr(xp.numpy, name), getattr(numpy, name)
        for _ in range(2):
            assert_alike(ours(x[:, None], x), theirs(host[:, None], host))
            for scalar in (numpy.nan, 1.0, -numpy.inf):
                assert_alike(ours(x, scalar), theirs(host, numpy.float32(scalar)))
                assert_alike(ours(scalar, x), theirs(numpy.float32(scalar), host))


FLOATS = [numpy.float16, numpy.float32, numpy.float64]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "name", ["add", "divide", "fmax", "fmod", "heaviside", "hypot", "logaddexp2", "maximum", "power", "subtract"]
)
def test_operands_are_converted_first(name: str, dtype: Any, device: Any) -> None:
    ours, theirs = getattr(xp.numpy, name), getattr(numpy, name)
    for given in ("h", "i", "x", "b"):
        x, y = OPERANDS[given], OPERANDS["j"]
        wanted = theirs(x.astype(dtype), y.astype(dtype))
        found = ours(xp.asarray(x, device=device), xp.asarray(y, device=device), dtype=dtype)
        if dtype == numpy.float16 or name in ("hypot", "logaddexp2", "power"):
            numpy.testing.assert_allclose(to_numpy(found), wanted, rtol=8 * float(numpy.finfo(dtype).eps))
        else:
            numpy.testing.assert_array_equal(to_numpy(found), wanted, strict=True)
        scalar = ours(xp.asarray(x, device=device), 2, dtype=dtype)
        assert_alike(xp.astype(scalar, xp.float32), theirs(x.astype(dtype), dtype(2)).astype(numpy.float32))


def test_functions_that_convert_are_kept(device: Any) -> None:
    """Equal calls make no further function, however the dtype is written."""
    x = xp.asarray(OPERANDS["h"], device=device)
    xp.numpy.exp(x, dtype="float64")
    count = _converting.cache_info().currsize
    for dtype in (numpy.float64, "float64", xp.float64, numpy.dtype("f8")):
        assert xp.numpy.exp(x, dtype=dtype).dtype == xp.float64
    assert _converting.cache_info().currsize == count


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_elements_that_a_mask_selects_are_written(dtype: str, device: Any) -> None:
    """To `out` of another dtype, in part, with a mask that broadcasts, and to one of the operands."""
    x, y, mask = OPERANDS["x"], OPERANDS["y"], OPERANDS["b"]
    own = [xp.asarray(each, device=device, copy=True) for each in (x, y, mask)]
    for selected in (mask, mask[0], mask[:, :1]):
        host = numpy.full((3, 8), 7, dtype)[:, ::2]
        out = xp.asarray(numpy.full((3, 8), 7, dtype), device=device)[:, ::2]
        numpy.subtract(x, y, out=host, where=selected, casting="unsafe")
        for _ in range(2):
            assert xp.numpy.subtract(*own[:2], out=out, where=xp.asarray(selected, device=device)) is out
        assert_alike(out, host)
        xp.numpy.add(*own[:2], out=out, where=False)
        assert_alike(out, host)
    out = xp.asarray(x[0], device=device, copy=True)
    xp.numpy.negative(own[0][0], out=out, where=[True, False, False, True])
    assert_alike(out, numpy.where([True, False, False, True], -x[0], x[0]))
    numpy.multiply(x, y, out=(host := x.copy()), where=mask)
    xp.numpy.multiply(own[0], own[1], own[0], where=own[2])
    assert_alike(own[0], host)


def test_a_mask_selects_elements_of_several_results(device: Any) -> None:
    x, mask = OPERANDS["x"], OPERANDS["b"]
    hosts = numpy.zeros((3, 4)), numpy.zeros((3, 4), numpy.int32)
    outs = tuple(xp.asarray(each, device=device, copy=True) for each in hosts)
    numpy.frexp(x, out=hosts, where=mask)
    assert xp.numpy.frexp(xp.asarray(x, device=device), out=outs, where=xp.asarray(mask, device=device))[0] is outs[0]
    assert_alike(outs, hosts)


def test_a_mask_needs_an_out_of_the_shape_of_the_result(device: Any) -> None:
    x, mask = xp.asarray(OPERANDS["x"], device=device), xp.asarray(OPERANDS["b"], device=device)
    for out, selected in ((xp.zeros(4, device=device), mask), (xp.zeros((1, 4), device=device), mask[0])):
        with pytest.raises(ValueError, match="out has shape"):
            xp.numpy.sin(x, out=out, where=selected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", FLOATS)
def test_parts_of_numbers(dtype: Any, device: Any) -> None:
    limits = numpy.finfo(dtype)
    host = numpy.asarray([0, 1, 3, 0.1, limits.max, limits.tiny, limits.smallest_subnormal, numpy.inf, numpy.nan])
    host = numpy.concat([host, -host]).astype(dtype)
    x = xp.asarray(host, device=device)
    for _ in range(2):
        assert_exact(xp.numpy.frexp(x)[0], numpy.frexp(host)[0])
        assert_exact(xp.numpy.frexp(x)[1], numpy.frexp(host)[1])
        for power in (0, 1, -1, 30, -30, 2000, -2000, 2**31 - 1, -(2**31)):
            assert_exact(xp.numpy.ldexp(x, power), numpy.ldexp(host, numpy.int64(power)))
        powers = numpy.arange(host.size) * 9 - 80
        assert_exact(xp.numpy.ldexp(x, xp.asarray(powers, device=device)), numpy.ldexp(host, powers))
    assert to_numpy(xp.numpy.ldexp(x, 2**40)).tolist()[:3] == [0, numpy.inf, numpy.inf]
    with pytest.raises(TypeError, match=r"ldexp: x2 is float\d\d; accepted: integers"):
        xp.numpy.ldexp(x, x)
    with pytest.raises(TypeError, match=r"ldexp: x2 is float; accepted: integers"):
        xp.numpy.ldexp(x, 0.5)


def assert_exact(found: Any, wanted: Any) -> None:
    """The same numbers and signs. The sign of NaN is the device's own."""
    numpy.testing.assert_array_equal(to_numpy(found), wanted, strict=True)
    numbers = ~numpy.isnan(wanted)
    numpy.testing.assert_array_equal(numpy.signbit(to_numpy(found))[numbers], numpy.signbit(wanted)[numbers])


def test_every_name_is_there() -> None:
    for space, names in NAMES.items():
        owner = getattr(xp.numpy, space) if space else xp.numpy
        owner = owner.Generator if space == "random" else owner
        missing = [name for name in names.split() if not callable(getattr(owner, name, None))]
        assert missing == []
        if space != "random":
            assert set(names.split()) <= set(owner.__all__)


def test_every_name_is_called() -> None:
    """The table has two calls or more of each function."""
    text = "\n".join(CALLS)
    for space, names in NAMES.items():
        prefix = f"np.{space}." if space else "np."
        for name in names.split() if space != "random" else ():
            count = len(re.findall(rf"{re.escape(prefix)}{name}\b", text))
            assert count >= 2, f"{prefix}{name}: {count}"


def test_constants_and_dtypes() -> None:
    np: Any = xp.numpy
    assert (np.pi, np.e, np.inf, np.newaxis, np.nan != np.nan) == (numpy.pi, numpy.e, numpy.inf, None, True)
    assert np.float32 is numpy.float32
    assert np.dtype is numpy.dtype
    assert np.zeros(2, np.bool_).dtype == bool
    assert isinstance(np.ones(3), np.ndarray)
    assert np.finfo(np.float32).eps == numpy.finfo(numpy.float32).eps
    assert np.iinfo(np.int8).max == 127
    assert (np.float64(2) * np.ones(2, np.float32)).dtype == np.float32
    assert np.ones((3, 4)).strides == (32, 8)
    assert len(np.__all__) == len(set(np.__all__))
    assert all(hasattr(np, name) for name in np.__all__)


def test_it_loads_when_it_is_used() -> None:
    code = "import sys, xpops; assert 'xpops.numpy' not in sys.modules; xpops.numpy.zeros(2); xpops.numpy.random"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ("np.add(x)", TypeError, r"add: there are 1 operands; accepted: 2, and out"),
        ("np.sin(x, where=b)", TypeError, r"sin: where without out leaves elements undefined"),
        ("np.cumsum(x, 0, None, v)", ValueError, r"cumsum: out has shape \(7,\); accepted: \(3, 4\)"),
        ("np.add(x, y, i)", ValueError, r"out has shape \(3, 4\) and dtype int64; accepted: .* float64"),
        ("np.max(x, where=b)", TypeError, r"max: where without initial"),
        ("np.split(x, 3, 1)", ValueError, r"split: axis 1 has length 4; accepted: a multiple of 3"),
        ("np.diag(t)", ValueError, r"diag: v has 3 axes; accepted: 1 or 2"),
        ("np.reshape(x, -1, 'F')", TypeError, r"reshape: order is 'F'; accepted: 'C'"),
        ("np.take(x, q, mode='up')", ValueError, r"take: mode is 'up'; accepted: 'raise', 'wrap', 'clip'"),
        ("np.where(b, x)", TypeError, r"where: one of x and y is missing"),
        ("np.gradient(x, 1, 2, 3)", TypeError, r"gradient: there are 3 spacings"),
        ("np.gradient(x[:, :1])", ValueError, r"gradient: axis 1 has length 1; accepted: 2 and more"),
        ("np.gradient(x, edge_order=3)", ValueError, r"gradient: edge_order is 3; accepted: 1 and 2"),
        ("np.convolve(x, v)", ValueError, r"convolve: the shapes are .*; accepted: vectors"),
        ("np.correlate(v, w, 'all')", ValueError, r"correlate: mode is 'all'"),
        ("np.cross(x, x)", ValueError, r"cross: the vectors have lengths 4 and 4; accepted: 3, or 2"),
        ("np.fill_diagonal(v, 1)", ValueError, r"fill_diagonal: a has 1 axes; accepted: 2 and more"),
        ("np.select([b], [])", ValueError, r"select: there are 1 conditions and 0 choices"),
        ("np.piecewise(x, [b], [1, 2, 3])", ValueError, r"piecewise: there are 3 functions; accepted: 1, or one more"),
        ("np.average(x, weights=w)", TypeError, r"average: weights have 1 axes, a has 2"),
        ("np.nanquantile(x, 0.5, method='lower')", ValueError, r"nanquantile: method is 'lower'; accepted: 'linear'"),
        ("np.linalg.norm(t, 2)", ValueError, r"norm: x has 3 axes and ord is 2"),
        ("np.ravel_multi_index((q, q), (3, 3), order='F')", TypeError, r"ravel_multi_index: order is 'F'"),
        ("np.unravel_index(q, (3, 3), 'F')", TypeError, r"unravel_index: order is 'F'"),
    ],
)
def test_errors(call: str, error: type[Exception], message: str, device: Any) -> None:
    operands = {name: xp.asarray(x, device=device) for name, x in OPERANDS.items()}
    for _ in range(2):
        with pytest.raises(error, match=message):
            evaluated(call, xp.numpy, operands)


def test_vectors_of_a_plane(device: Any) -> None:
    """NumPy from 2.5 on refuses their cross product."""
    first, second = (xp.asarray(OPERANDS[name][:, :2], device=device) for name in ("x", "y"))
    (a, b), (c, d) = OPERANDS["x"][:, :2].T, OPERANDS["y"][:, :2].T
    for _ in range(2):
        numpy.testing.assert_allclose(to_numpy(xp.numpy.cross(first, second)), a * d - b * c, rtol=1e-12)


def test_results_are_written_to_out(device: Any) -> None:
    x, out = xp.asarray(OPERANDS["x"], device=device), xp.zeros(4, device=device)
    assert xp.numpy.sum(x, 0, out=out) is out
    numpy.testing.assert_allclose(to_numpy(out), OPERANDS["x"].sum(0), rtol=1e-12)
    parts = xp.zeros((3, 4), device=device), xp.zeros((3, 4), device=device)
    assert xp.numpy.modf(x, out=parts)[1] is parts[1]
    numpy.testing.assert_array_equal(to_numpy(parts[1]), numpy.modf(OPERANDS["x"])[1])
