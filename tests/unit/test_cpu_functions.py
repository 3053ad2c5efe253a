"""The functions of the compiled core over arrays of the CPU: activations, softmax, sums of rows, fused products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.references import gelu, gelu_tanh, leaky_relu, sigmoid, silu, softplus
from tests.unit.test_cpu_loops import HALVES, SHAPES, assert_same, buffer, converted, views
from xpops.core.compiled import compiled

pytestmark = pytest.mark.skipif(compiled is None, reason="the compiled core was not built, or XPOPS_PURE leaves it out")
FUNCTIONS: dict[str, tuple[tuple[float, ...], Any]] = {
    "gelu": ((), gelu),
    "gelu_tanh": ((), gelu_tanh),
    "leaky_relu": ((0.25,), leaky_relu),
    "logaddexp": ((), lambda x, y=None: np.logaddexp(x, x if y is None else y)),
    "sigmoid": ((), sigmoid),
    "silu": ((), silu),
    "softplus": ((0.5, 20.0), softplus),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, *HALVES])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(shape: tuple[int, ...], dtype: Any, name: str) -> None:
    parameters, function = FUNCTIONS[name]
    x = (np.random.default_rng(4).normal(size=shape) * 8).astype(dtype)
    operands = views(x)
    for view, other in zip(operands, [*operands[:1], *operands[:-1]], strict=True):
        others = (other[..., : view.shape[-1]],) if name == "logaddexp" and other.shape == view.shape else ()
        inputs = (view, *others) if name != "logaddexp" or others else (view, view)
        wanted = function(*[np.asarray(each, np.longdouble) for each in inputs], *parameters)
        got, stepped = np.empty(view.shape, np.float32), np.zeros((*view.shape, 2), np.float32)
        for out in (got, got, stepped[..., 1]):
            compiled.compute(name, out, *map(buffer, inputs), *parameters)  # type: ignore[union-attr]
            np.testing.assert_allclose(out, wanted, rtol=2**-23, atol=2**-23 if name == "logaddexp" else 1e-45)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values_of_functions(name: str) -> None:
    parameters, function = FUNCTIONS[name]
    values = [np.nan, np.inf, 0.0, -0.0, 1e-45, -1e-45, 3e38, -3e38, -50.0, -87.5, -100.0, 100.0]
    x = np.asarray(values, np.float32)
    with np.errstate(all="ignore"):
        wanted = function(*[x.astype(np.longdouble)] * (2 if name == "logaddexp" else 1), *parameters)
        wanted = np.asarray(wanted).astype(np.float32)
    got = np.empty_like(x)
    compiled.compute(name, got, *[x] * (2 if name == "logaddexp" else 1), *parameters)  # type: ignore[union-attr]
    np.testing.assert_allclose(got, wanted, rtol=2**-22, atol=3e-45)


def test_infinities_of_logaddexp() -> None:
    x, y = np.meshgrid(*[np.asarray([np.inf, -np.inf, np.nan, 1.0], np.float32)] * 2)
    got = np.empty_like(x)
    compiled.compute("logaddexp", got, x, y)  # type: ignore[union-attr]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(got, np.logaddexp(x, y), rtol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, *HALVES])
@pytest.mark.parametrize("is_log", [False, True])
def test_softmax(shape: tuple[int, ...], dtype: Any, is_log: bool) -> None:
    x = (np.random.default_rng(5).normal(size=shape) * 8).astype(dtype)
    x[..., ::3] = x[..., :1]  # ties
    for view in views(x):
        for axis in range(view.ndim):
            wide = view.astype(np.longdouble)
            below = wide - wide.max(axis=axis, keepdims=True)
            rest = np.sum(np.where(below == 0, 0, np.exp(below)), axis=axis, keepdims=True)
            total = rest + np.sum(below == 0, axis=axis, keepdims=True)
            logarithm = np.where(total < 2, np.log1p(rest), np.log(total))
            wanted = below - logarithm if is_log else np.exp(below) / total
            got = np.empty(view.shape, np.float32)
            for _ in range(2):
                out, given = (np.moveaxis(each, axis, -1) for each in (got, view))
                compiled.softmax(is_log, out, buffer(given))  # type: ignore[union-attr]
                np.testing.assert_allclose(got, wanted, rtol=2**-22, atol=1e-45)


def test_special_softmax() -> None:
    nan = np.nan
    for values, wanted in (
        ([0.0, -np.inf], [1.0, 0.0]),
        ([1.0, nan], [nan, nan]),
        ([np.inf, 1.0], [nan, nan]),
        ([-np.inf, -np.inf], [nan, nan]),
        ([3e38, -3e38], [1.0, 0.0]),
    ):
        x = np.asarray([values] * 3, np.float32)
        for given in (x, np.asfortranarray(x)):
            out = np.empty_like(x)
            compiled.softmax(False, out, given)  # type: ignore[union-attr]
            assert_same(out, np.asarray([wanted] * 3, np.float32))


@pytest.mark.parametrize("dtype", [np.float32, *HALVES])
@pytest.mark.parametrize(("rows", "added", "columns"), [(5, 9, 3), (1, 4, 1030), (7, 1, 1), (3, 300, 17)])
def test_rows_are_added(dtype: Any, rows: int, added: int, columns: int) -> None:
    random = np.random.default_rng(6)
    index = random.integers(0, rows, added)
    places = np.argsort(index, kind="stable")
    x, source = (random.normal(size=(count, columns)).astype(dtype) for count in (rows, added))
    wanted = x.astype(np.float64)
    np.add.at(wanted, index, source.astype(np.float64))
    single = wanted.astype(np.float32).astype(dtype) if dtype == np.float32 else converted(wanted, dtype)
    for view, given in ((x.copy(), source), (np.asfortranarray(x), np.repeat(source, 2, axis=1)[:, ::2])):
        compiled.add_rows(index[places], places, buffer(view)[:, None], buffer(given)[None])  # type: ignore[union-attr]
        assert_same(view, single)


def test_fused_products_are_rounded_once() -> None:
    random = np.random.default_rng(9)
    x, y, z = (random.normal(size=(7, 1025)).astype(np.float32) for _ in range(3))
    z *= np.float32(2) ** random.integers(-30, 30, z.shape)
    # In float64 the sum is halfway between two float32 numbers; the product is a little less.
    x[0, 0], y[0, 0], z[0, 0] = 1 - 2**-24, 2**-24 * (1 + 2**-23), 1
    for operands in (
        (x, y, z),
        (x[:, ::3], y[:1, ::3], z[:, :1]),
        (x.T[..., None], np.stack((y.T, z.T), 2), z[:1, :1, None]),
    ):
        exact = np.asarray(operands[0], np.longdouble) * operands[1] + operands[2]
        got = np.empty(exact.shape, np.float32)
        compiled.fused(got, *operands)  # type: ignore[union-attr]
        assert (np.abs(got - exact) <= np.spacing(np.abs(got)) * np.longdouble(0.5)).all()
    with pytest.raises(TypeError, match="accepted"):
        compiled.fused(got, x, y)  # type: ignore[union-attr]
