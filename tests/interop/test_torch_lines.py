"""Reductions, scans and softmax of torch's tensors on the host, against NumPy in higher precision."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from conformance.references import reduced, sizes
from tests.helpers.softmax import exact_softmax
from tests.helpers.values import HALVES
from xpops.core import dtypes as dt
from xpops.ops.reduction import REDUCTIONS, Reduction, reduction_dtypes
from xpops.ops.scan import SCANS, Scan
from xpops.testing import to_numpy, ulp_error
from xpops.testing.frameworks import Torch

torch = pytest.importorskip("torch")
TORCH = Torch("cpu")
NDArray = np.ndarray[Any, Any]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

# Below and above the sizes from which kernels differ.
SHAPES = [(1,), (33,), (5, 7), (60, 50, 40), (300, 1, 130), (2, 70_001)]
DTYPES = [dtype for dtype in dt.INFO if dtype not in dt.FLOAT8 and dtype.kind != "c"]
REDUCED = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in REDUCTIONS.values()
    for dtype in DTYPES
    if op.torch is not None and dtype in dt.CATEGORIES[op.accepts]
]


def numbers(op: Any, dtype: Any, shape: tuple[int, ...]) -> NDArray:
    random = np.random.default_rng(len(shape))
    if dtype.kind in "biu":
        return random.integers(0, 2 if dtype == dt.bool else 100, shape).astype(dtype)
    if op.domain == "unit":
        return (random.choice([-1, 1], shape) * (1 - random.random(shape) / 300)).astype(dtype)
    if op.domain == "small":
        return random.integers(-2, 3, shape).astype(dtype)
    return (random.normal(size=shape) * np.exp(2 * random.normal(size=shape))).astype(dtype)


def views(host: NDArray) -> list[tuple[NDArray, Any]]:
    """An array, and tensors of its elements with several strides."""
    return [
        (host, TORCH.make(host)),
        (host, TORCH.make(np.repeat(host, 2, axis=-1))[..., ::2]),
        (host.T, TORCH.make(host).permute(*range(host.ndim)[::-1])),
        (np.broadcast_to(host[:1], host.shape), TORCH.make(host[:1]).expand(host.shape)),
    ]


def assert_near(got: NDArray, wanted: NDArray, allowed: Any) -> None:
    limits = ml_dtypes.finfo(got.dtype)
    unit = np.maximum(np.abs(wanted) * float(limits.eps), float(limits.smallest_subnormal))
    beyond = np.isinf(got) & (got * wanted > 0) & (np.abs(wanted) > float(limits.max))
    error = np.where(beyond, 0, np.abs(got.astype(np.longdouble) - wanted))
    assert np.all(error <= unit + allowed), float(np.max(error / unit))


@pytest.mark.parametrize(("op", "dtype"), REDUCED)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions(shape: tuple[int, ...], op: Reduction, dtype: Any) -> None:
    for host, x in views(numbers(op, dtype, shape)):
        for axis in (None, 0, -1, (0, host.ndim - 1) if host.ndim > 1 else ()):
            wide = host.astype(np.longdouble) if dtype.kind not in "biu" else host
            wanted = np.asarray(reduced(op, wide, axis, True))
            for _ in range(2):
                got = to_numpy(getattr(xp, op.name)(x, axis=axis, keepdims=True))
                assert got.dtype == reduction_dtypes(op, dtype)[1]
                assert got.shape == wanted.shape
                if op.share is None or dtype.kind in "biu":
                    assert np.array_equal(got, wanted.astype(got.dtype), equal_nan=got.dtype.kind == "f")
                else:
                    count = host.size // max(got.size, 1)
                    assert_near(got, wanted, op.share(dtype, count) * np.abs(sizes(op, wide, axis, True)))


@pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
@pytest.mark.parametrize("name", ["max", "min", "sum", "prod"])
def test_special_values_of_reductions(name: str, dtype: Any) -> None:
    inf, nan, largest = np.inf, np.nan, float(ml_dtypes.finfo(dtype).max)
    rows = [[inf, 1, 2], [-inf, 1, inf], [1, nan, 2], [nan, inf, -inf], [-inf] * 3, [largest] * 3, [-0.0, 0.0, 1.0]]
    host = np.array(rows).astype(dtype)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(host.astype(np.longdouble), axis=1)
        wanted = np.where(np.abs(wanted) > largest, wanted * np.inf, wanted)
    for _ in range(2):
        got = to_numpy(getattr(xp, name)(TORCH.make(host), axis=1))
        assert np.array_equal(got.astype(np.longdouble), wanted, equal_nan=True)


@pytest.mark.parametrize("keepdims", [1, np.True_, 0], ids=repr)
@pytest.mark.parametrize("name", ["max", "min", "sum", "prod", "mean"])
def test_keepdims_is_any_truth_value(name: str, keepdims: Any) -> None:
    host = np.ones((2, 3), np.float32)
    for _ in range(2):
        got = to_numpy(getattr(xp, name)(TORCH.make(host), axis=1, keepdims=keepdims))
        assert got.shape == ((2, 1) if keepdims else (2,))


@pytest.mark.parametrize("dtype", [dt.int8, dt.int64, dt.uint64], ids=str)
def test_sums_of_integers_wrap(dtype: Any) -> None:
    info = np.iinfo(dtype)
    host = np.full((3, 5), info.max, dtype)
    wanted = (5 * int(info.max)) % 2**64
    for _ in range(2):
        got = to_numpy(xp.sum(TORCH.make(host), axis=1))
        assert got.astype(np.uint64).tolist() == [wanted] * 3


@pytest.mark.parametrize("op", SCANS.values(), ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_scans(shape: tuple[int, ...], dtype: Any, op: Scan) -> None:
    if op.ufunc is None:
        return
    function: Any = getattr(xp, op.name)
    for host, x in views(numbers(op, dtype, shape)):
        for axis in {0, host.ndim - 1}:
            integers = dtype.kind in "biu"
            result = dt.uint64 if dtype.kind == "u" else dt.int64 if integers else dtype
            wide = host.astype(result if integers else np.longdouble)
            wanted = op.ufunc.accumulate(wide, axis=axis, dtype=wide.dtype)
            for initial in (False, True):
                for _ in range(2):
                    got = to_numpy(function(x, axis=axis, include_initial=initial))
                    assert got.dtype == result
                    first, rest = np.split(np.moveaxis(got, axis, 0), [int(initial)])
                    assert np.all(first == op.initial)
                    line = np.moveaxis(wanted, axis, 0)
                    if integers:
                        assert np.array_equal(rest, line)
                    else:
                        size = np.moveaxis(op.ufunc.accumulate(np.abs(wide), axis=axis), axis, 0)
                        count = np.arange(1, len(line) + 1).reshape(-1, *[1] * (host.ndim - 1))
                        assert_near(rest, line, op.share(dtype, 1) * count * size)


# The bounds of docs/accuracy.md.
BOUNDS = {dt.float16: 0.51, dt.bfloat16: 0.51, dt.float32: 10.0, dt.float64: 10.0}


def check_softmax(host: NDArray, x: Any, axis: int) -> None:
    for name, wanted in zip(("softmax", "log_softmax"), exact_softmax(host, axis), strict=True):
        calls = [to_numpy(getattr(xp.nn, name)(x, axis=axis)) for _ in range(3)]
        assert calls[0].dtype == host.dtype
        assert len({each.tobytes() for each in calls}) == 1
        assert np.max(ulp_error(calls[0].reshape(-1), wanted.reshape(-1)), initial=0) <= BOUNDS[host.dtype], name


@pytest.mark.parametrize("dtype", dt.REAL_FLOATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_softmax(shape: tuple[int, ...], dtype: Any) -> None:
    for scale in (1, 30):
        for host, x in views((scale * np.random.default_rng(1).normal(size=shape)).astype(dtype)):
            for axis in {0, host.ndim - 1}:
                check_softmax(host, x, axis)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)], ids=str)
def test_nothing(shape: tuple[int, ...]) -> None:
    x = torch.zeros(shape)
    for _ in range(2):
        assert xp.nn.softmax(x, axis=1).shape == shape
        assert xp.cumulative_sum(x, axis=1).shape == shape
        assert xp.sum(x, axis=1).tolist() == [0.0] * shape[0]
        with pytest.raises(ValueError, match="at least one element"):
            xp.max(x)


@given(st.lists(st.floats(width=16) | st.sampled_from([100.0, -100.0, 1e4, 0.0]), min_size=1, max_size=20))
def test_special_values_of_softmax(row: list[float]) -> None:
    for dtype in (*HALVES, dt.float32, dt.float64):
        host = np.array([row, row[::-1]]).astype(dtype)
        check_softmax(host, TORCH.make(host), 1)
