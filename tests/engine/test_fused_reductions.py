"""Reductions of fused functions on every device, against NumPy and against the functions called one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.expressions import NAMES, REDUCTIONS, TREES, assert_reduces, axes_of, evaluate, operands

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(9)
AXES = (0, 1, 2, -1, -2, None, (0, 1), (1, 2), (0, -1), (2, 0, 1), ())


def floats(*shape: int, dtype: Any = np.float32) -> NDArray:
    return RANDOM.normal(size=shape).astype(dtype)


def on(device: Any, *arrays: NDArray) -> tuple[Any, ...]:
    return tuple(xp.asarray(each, device=device) for each in arrays)


def close(got: Any, wanted: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(got.to_numpy(), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=str)
def test_any_axes(device: Any, axis: Any, keepdims: bool) -> None:
    options = {"axis": axis, "keepdims": keepdims}
    for shape in ((6, 50, 64), (40, 9, 5), (3, 2, 1031), (300, 2, 70)):
        x, y = floats(*shape), floats(*shape)
        got = xp.fuse(lambda x, y: xp.sum(x * y + 1, **options))(*on(device, x, y))
        wanted = (x.astype(np.float64) * y + 1).sum(**options)
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-5, atol=1e-4)


SHAPES: dict[str, tuple[tuple[int, ...], Any]] = {
    "whole": ((1 << 20,), None),
    "odd": ((1_000_003,), None),
    "few long rows": ((3, 200_001), 1),
    "rows of a block": ((200, 5000), 1),
    "rows of a warp": ((200, 300), 1),
    "short rows": ((10_000, 5), 1),
    "columns": ((700, 2600), 0),
    "few columns": ((100_000, 3), 0),
    "middle": ((60, 50, 64), 1),
    "outer and inner": ((60, 50, 64), (0, 2)),
}


# Even sums have the same bits, because the plan is the same as for an array. This holds for up to five operands that
# are not wider than the reduced expression.
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
def test_fusing_changes_no_bit_of_what_lies_alike(name: str, dtype: Any, cuda: Any) -> None:
    shape, axis = SHAPES[name]
    some = [xp.asarray(floats(*shape), dtype=dtype, device=cuda) for _ in range(5)]
    for reduce in (xp.sum, xp.mean, xp.max, xp.prod, xp.any):
        function = lambda x, y, z, v, w, f=reduce: f(x * y + z * v - w + 0.25, axis=axis)  # noqa: E731
        got, wanted = xp.fuse(function)(*some), function(*some)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got.to_numpy(), wanted.to_numpy())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("axis", [0, 1, None])
def test_every_reduction(device: Any, axis: Any) -> None:
    for shape in ((500, 333), (5, 4000), (1000, 3)):
        x, y = floats(*shape, dtype=np.float64), floats(*shape, dtype=np.float64)
        x /= 10
        for name in ("all", "any", "count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var"):
            function, by_numpy = getattr(xp, name), getattr(np, name)
            close(
                xp.fuse(lambda x, y, f=function: f(x + y * 0.25, axis=axis))(*on(device, x, y)),
                by_numpy(x + y * 0.25, axis=axis),
                1e-10,
            )


@pytest.mark.parametrize("device", DEVICES)
def test_operands_that_lie_differently(device: Any) -> None:
    x, y, row, column = floats(330, 260), floats(260, 330), floats(260), floats(330, 1)
    (big, other), beside = on(device, x, y), on(device, row, column)
    cases: list[tuple[Any, Any]] = [
        ((big, beside[0]), (x, row)),
        ((big, beside[1]), (x, column)),
        (beside, (row, column)),
        ((big, other.T), (x, y.T)),
        ((big[::2, 1:], beside[1][::2]), (x[::2, 1:], column[::2])),
        ((big[:, ::-1], beside[0][::-1]), (x[:, ::-1], row[::-1])),
        ((big.T, other), (x.T, y)),
        ((big[:, 3:], beside[0][3:]), (x[:, 3:], row[3:])),
    ]
    for arrays, hosts in cases:
        wide = [each.astype(np.float64) for each in hosts]
        for axis in (0, 1, None):
            got = xp.fuse(lambda x, y, axis=axis: xp.mean(x * y - y, axis=axis))(*arrays)
            close(got, (wide[0] * wide[1] - wide[1]).mean(axis))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i1", "u2", "i4", "i8", "?"])
def test_dtypes(device: Any, dtype: str) -> None:
    x, y = ((RANDOM.random((130, 50)) * 3).astype(dtype) for _ in range(2))
    join: Callable[..., Any] = (lambda x, y: x & ~y) if dtype == "?" else (lambda x, y: x * y + x)
    for axis in (0, 1, None):
        got = xp.fuse(lambda x, y, axis=axis: xp.sum(join(x, y), axis=axis))(*on(device, x, y))
        made = join(x, y)
        wanted = made.astype("c16" if dtype[0] == "c" else "f8" if dtype[0] == "f" else dtype).sum(axis)
        if made.dtype.kind in "fc":
            close(got, wanted.astype(dtype), 2e-3 if dtype == "f2" else 1e-5)
        else:
            np.testing.assert_array_equal(got.to_numpy(), wanted)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(300, 4096), (7, 4096), (3000, 9), (300, 100)])
def test_variances(device: Any, shape: tuple[int, ...]) -> None:
    x, scale = floats(*shape) + np.float32(1e3), floats(shape[-1])

    def normalised(m: Any) -> Callable[..., Any]:
        def function(x: Any, scale: Any) -> Any:
            options = {"axis": -1, "keepdims": True}
            return (x - m.mean(x, **options)) / m.sqrt(m.var(x, **options) + 0.5) * scale, m.std(x - 1, axis=0)

        return function

    wide = x.astype(np.float64), scale.astype(np.float64)
    for one, other in zip(xp.fuse(normalised(xp))(*on(device, x, scale)), normalised(np)(*wide), strict=True):
        close(one, other, 5e-4)
    for axis in (0, 1, None):
        got = xp.fuse(lambda x, axis=axis: xp.var(x * 2, axis=axis, correction=1.5))(*on(device, x))
        close(got, (wide[0] * 2).var(axis, ddof=1.5), 2e-4)
    (given,) = on(device, x)
    assert bool(xp.all(xp.isnan(xp.fuse(lambda x: xp.std(x * 2, axis=1, correction=float(shape[1])))(given))))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("length", [20_000, 32_768, 65_540, 131_072, 200_001, 262_144, 300_000])
def test_long_rows(cuda: Any, length: int, dtype: Any) -> None:
    """Blocks of a cluster hold them, up to 512 KiB or 1 MiB."""
    x, w = floats(256, length, dtype=dtype), floats(length, dtype=dtype)
    function = xp.fuse(lambda x, w: x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-3) * w)
    found = function(*on(cuda, x, w)).to_numpy()[::37]
    wide = x[::37].astype(np.float64)
    wanted = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-3) * w.astype(np.float64)
    tolerance = 1e-5 if dtype == np.float32 else 2e-3
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("device", DEVICES)
def test_several_results_of_which_some_are_reductions(device: Any) -> None:
    x, y = floats(400, 300, dtype=np.float64), floats(300, dtype=np.float64)

    def function(x: Any, y: Any) -> Any:
        total = xp.sum(x * y, axis=0)
        return total, x - total, total, xp.max(total * total), xp.min(x), xp.std((x - xp.mean(x)) / xp.max(y), axis=1)

    total, less, again, most, least, spread = xp.fuse(function)(*on(device, x, y))
    close(total, (x * y).sum(0), 1e-10)
    np.testing.assert_array_equal(again.to_numpy(), total.to_numpy())
    np.testing.assert_array_equal(less.to_numpy(), x - total.to_numpy())
    np.testing.assert_array_equal(most.to_numpy(), np.max(total.to_numpy() * total.to_numpy()))
    np.testing.assert_array_equal(least.to_numpy(), x.min())
    close(spread, ((x - x.mean()) / y.max()).std(1), 1e-10)


@pytest.mark.parametrize("device", DEVICES)
def test_nothing_and_single_numbers(device: Any) -> None:
    empty, one, number = on(device, np.zeros((0, 3), np.float32), floats(1), np.asarray(np.float32(2.5)))
    assert xp.fuse(lambda x: xp.mean(x + 1, axis=1))(empty).shape == (0,)
    assert np.isnan(xp.fuse(lambda x: xp.mean(x + 1))(empty).to_numpy())
    assert xp.fuse(lambda x: xp.prod(x + 1, axis=0))(empty).to_numpy().tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="max: x has shape"):
        xp.fuse(lambda x: xp.max(x + 1, axis=0))(empty)
    assert float(xp.fuse(lambda x: xp.sum(x * 2))(number)) == 5.0
    assert float(xp.fuse(lambda x: xp.var(x * 2))(one)) == 0.0


@pytest.mark.parametrize("device", DEVICES)
def test_scalars_are_read_anew(device: Any) -> None:
    x = floats(50, 60)
    fused = xp.fuse(lambda x, a, n: xp.sum(x * a + n // 2, axis=0))
    for a, n in ((0.5, 7), (-2.0, -8), (0.0, 1)):
        close(fused(*on(device, x), a, n), (x.astype(np.float64) * a + n // 2).sum(0))


def test_torch_tensors(cuda_torch: Any) -> None:
    torch = cuda_torch
    x, y = torch.randn(100, 330, device="cuda"), torch.randn(330, device="cuda")
    fused = xp.fuse(lambda x, y: xp.mean((x - y) ** 2, axis=0))
    for _ in range(3):
        got = fused(x, y)
        assert isinstance(got, torch.Tensor)
        torch.testing.assert_close(got, ((x - y) ** 2).mean(0))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_extremes_of_negated_integers(device: Any, dtype: str) -> None:
    """CUDA 13.0 loses the sign of a negated operand where it joins two minima or maxima of integers."""
    x = np.random.default_rng(2).integers(-100, 100, (3, 70, 33)).astype(dtype)
    arrays, wanted = [xp.asarray(each, device=device) for each in x], -x
    for negate in (lambda x: -x, lambda x: 0 - x, lambda x: x * -1, lambda x: -1 * x):
        for name in ("max", "min"):
            choose, pair = getattr(xp, name), getattr(xp, f"{name}imum")

            def three(x: Any, y: Any, z: Any, negate: Any = negate, pair: Any = pair) -> Any:
                return pair(pair(negate(x), negate(y)), negate(z))

            np.testing.assert_array_equal(xp.fuse(three)(*arrays).to_numpy(), getattr(wanted, name)(axis=0))
            for axis in (0, 1, None):
                reduce = xp.fuse(lambda x, choose=choose, negate=negate, axis=axis: choose(negate(x), axis=axis))
                np.testing.assert_array_equal(reduce(arrays[0]).to_numpy(), getattr(wanted[0], name)(axis=axis))


@pytest.mark.parametrize("device", DEVICES)
@given(tree=TREES, values=operands(), name=st.sampled_from([None, *REDUCTIONS]), data=st.data())
@settings(max_examples=60, deadline=None)
def test_random_expressions(
    device: Any, tree: Any, values: dict[str, NDArray], name: str | None, data: st.DataObject
) -> None:
    given = [xp.asarray(each, device=device) for each in values.values()]

    def elementwise(*given: Any) -> Any:
        return evaluate(tree, dict(zip(NAMES, given, strict=True)), xp)

    value = elementwise(*given).to_numpy()
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(value, evaluate(tree, values, np))
    np.testing.assert_array_equal(xp.fuse(elementwise)(*given).to_numpy(), value)
    if name is not None:
        axis, keepdims = data.draw(axes_of(value.ndim)), data.draw(st.booleans())

        def function(*given: Any) -> Any:
            return getattr(xp, name)(elementwise(*given), axis=axis, keepdims=keepdims)

        for reduce in (function, xp.fuse(function)):
            assert_reduces(reduce(*given).to_numpy(), name, value, axis, keepdims)
