"""Calls within `jax.jit`, `jax.grad` and `jax.vmap`: results and derivatives are those of JAX's own functions."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

import xpops as xp
from tests.unit.test_shape_engine import CALLS as RECIPES
from tests.unit.test_shape_engine import DECIDED_BY_VALUES

jax = pytest.importorskip("jax")
jnp = jax.numpy

X = jnp.linspace(-1.1, 2, 12, dtype=jnp.float32).reshape(3, 4)
Y = jnp.arange(4, dtype=jnp.float32) + 1
A = X[:, :3] @ X[:, :3].T + 3 * jnp.eye(3)
ORDER = jnp.array([0, 2, 1])


class Case(NamedTuple):
    """A call, JAX's own one, and the operands. The first one is differentiated, unless ``order`` is 0."""

    name: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    operands: tuple[Any, ...] = (X,)
    order: int = 2


@xp.fuse
def swish(v: Any) -> Any:
    return v / (1 + xp.exp(-v))


def rms_norm(ns: Any) -> Callable[..., Any]:
    return lambda v, w: v / ns.sqrt(ns.mean(v * v, axis=-1, keepdims=True) + 1e-6) * w


CASES = [
    Case("add", xp.add, jnp.add, (X, Y)),
    Case("subtract", xp.subtract, jnp.subtract, (Y, X)),
    Case("multiply", lambda v: xp.multiply(v, 2.5), lambda v: v * 2.5),
    Case("divide", xp.divide, jnp.divide, (X, Y)),
    Case("pow", xp.pow, jnp.power, (Y, X)),
    Case("exp", xp.exp, jnp.exp),
    Case("maximum", xp.maximum, jnp.maximum, (X, Y)),
    Case("floor", xp.floor, jnp.floor),
    Case("floor_divide", xp.floor_divide, jnp.floor_divide, (X, Y), 0),
    Case("less", xp.less, jnp.less, (X, Y), 0),
    Case("where", lambda v: xp.where(xp.greater(v, 0), v, 0.0), lambda v: jnp.where(v > 0, v, 0.0)),
    Case("sum", lambda v: xp.sum(v, axis=1), lambda v: v.sum(1)),
    Case("repeat", lambda v: xp.repeat(v, ORDER, axis=0), lambda v: jnp.repeat(v, np.array([0, 2, 1]), axis=0)),
    Case("mean", xp.mean, jnp.mean),
    Case("std", lambda v: xp.std(v, axis=0), lambda v: v.std(0)),
    Case("max", lambda v: xp.max(v, axis=1), lambda v: v.max(1)),
    Case("prod", lambda v: xp.prod(v, axis=1), lambda v: v.prod(1)),
    Case("argmax", lambda v: xp.argmax(v, axis=1), lambda v: jnp.argmax(v, axis=1), (X,), 0),
    Case("nansum", xp.nansum, jnp.nansum),
    Case("median", lambda v: xp.median(v, axis=1), lambda v: jnp.median(v, axis=1)),
    Case("quantile", lambda v: xp.quantile(v, 0.3, axis=1), lambda v: jnp.quantile(v, 0.3, axis=1)),
    Case("cumulative_sum", lambda v: xp.cumulative_sum(v, axis=1), lambda v: jnp.cumsum(v, axis=1)),
    Case("cumulative_prod", lambda v: xp.cumulative_prod(v, axis=1), lambda v: jnp.cumprod(v, axis=1)),
    Case("sort", lambda v: xp.sort(v, axis=1), lambda v: jnp.sort(v, axis=1)),
    Case("take", lambda v: xp.take(v, ORDER, axis=1), lambda v: jnp.take(v, ORDER, axis=1)),
    Case("concat", lambda v: xp.concat([v, v * 2], axis=1), lambda v: jnp.concat([v, v * 2], axis=1)),
    Case("pad", lambda v: xp.pad(v, 1), lambda v: jnp.pad(v, 1)),
    Case("roll", lambda v: xp.roll(v, 1, axis=1), lambda v: jnp.roll(v, 1, axis=1)),
    Case("flip", lambda v: xp.flip(v, axis=1), lambda v: jnp.flip(v, axis=1)),
    Case("reshape", lambda v: xp.reshape(v, (4, 3)), lambda v: v.reshape(4, 3)),
    Case("tril", xp.tril, jnp.tril),
    Case("diff", xp.diff, jnp.diff),
    Case("astype", lambda v: xp.astype(v, xp.int32), lambda v: v.astype(jnp.int32), (X,), 0),
    Case("matmul", xp.matmul, jnp.matmul, (X, Y)),
    Case("einsum", lambda v: xp.einsum("ij,kj->ik", v, v), lambda v: v @ v.T),
    Case("outer", xp.linalg.outer, jnp.outer, (Y, Y + 1)),
    Case("inv", xp.linalg.inv, jnp.linalg.inv, (A,)),
    Case("det", xp.linalg.det, jnp.linalg.det, (A,)),
    Case("solve", xp.linalg.solve, jnp.linalg.solve, (A, Y[:3])),
    Case("cholesky", xp.linalg.cholesky, jnp.linalg.cholesky, (A,), 0),
    Case("svdvals", xp.linalg.svdvals, lambda v: jnp.linalg.svd(v, compute_uv=False), (A,)),
    Case("vector_norm", lambda v: xp.linalg.vector_norm(v, axis=1), lambda v: jnp.linalg.norm(v, axis=1)),
    Case("fft", lambda v: xp.abs(xp.fft.fft(v)), lambda v: jnp.abs(jnp.fft.fft(v)), (X + 1,)),
    Case("softmax", xp.nn.softmax, jax.nn.softmax),
    Case("log_softmax", xp.nn.log_softmax, jax.nn.log_softmax),
    Case("gelu", xp.nn.gelu, lambda v: jax.nn.gelu(v, approximate=False)),
    Case("topk", lambda v: xp.nn.topk(v, 2).values, lambda v: jax.lax.top_k(v, 2)[0]),
    Case("index_add", lambda v: xp.nn.index_add(v, ORDER, v), lambda v: v.at[ORDER].add(v)),
    Case(
        "upsample_nearest2d",
        lambda v: xp.nn.upsample_nearest2d(v[None, None], scale=2),
        lambda v: jnp.repeat(jnp.repeat(v[None, None], 2, 2), 2, 3),
    ),
    Case("fuse", swish, jax.nn.silu),
    Case("fuse with a mean", xp.fuse(rms_norm(xp)), rms_norm(jnp), (X, Y)),
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def same(found: Any, wanted: Any, tolerance: float = 5e-5) -> None:
    assert isinstance(found, jax.Array)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def squares(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: (function(*operands) ** 2).sum()


def slope(function: Callable[..., Any], order: int) -> Callable[..., Any]:
    """The derivative of a sum of squares, by the first operand; of the second order, of the slope's."""
    found = jax.grad(squares(function))
    return found if order == 1 else jax.grad(squares(found))


@every_case
def test_jit(case: Case) -> None:
    compiled = jax.jit(case.ours)
    for operands in (case.operands, tuple(x + 0.125 for x in case.operands), case.operands):
        wanted = case.theirs(*operands)
        found = compiled(*operands)
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        same(found, wanted)


@every_case
def test_grad(case: Case) -> None:
    for order in range(1, case.order + 1):
        wanted = slope(case.theirs, order)(*case.operands)
        same(slope(case.ours, order)(*case.operands), wanted, 5e-4)
        same(jax.jit(slope(case.ours, order))(*case.operands), wanted, 5e-4)


@every_case
def test_jvp(case: Case) -> None:
    if not case.order:
        return
    along = tuple(jnp.cos(3 * x) for x in case.operands)
    for ours, theirs in zip(
        jax.jvp(case.ours, case.operands, along), jax.jvp(case.theirs, case.operands, along), strict=True
    ):
        same(ours, theirs, 5e-4)
    found = jax.jit(lambda *x: jax.jvp(case.ours, x, along)[1])(*case.operands)
    same(found, jax.jvp(case.theirs, case.operands, along)[1], 5e-4)


def test_hessians_and_arrays_of_numpy() -> None:
    same(jax.hessian(lambda v: xp.sum(xp.exp(v)))(Y), np.diag(np.exp(Y)))
    same(jax.jacfwd(xp.nn.softmax)(Y), jax.jacrev(jax.nn.softmax)(Y))
    host = np.asarray(Y)
    for call in (jax.grad(lambda v: xp.sum(xp.exp(v))), jax.jit(xp.exp), jax.vmap(xp.exp)):
        same(call(host), np.exp(host))


@every_case
def test_vmap(case: Case) -> None:
    batches = tuple(jnp.stack([x, x * 0.5 + 0.0625, x + 0.25]) for x in case.operands)
    count = len(batches)
    ways = {(0,) * count, (0,) + (None,) * (count - 1), (None,) * (count - 1) + (0,)}
    for places in ways:
        given = tuple(x[0] if place is None else x for x, place in zip(batches, places, strict=True))
        wanted = jax.vmap(case.theirs, places)(*given)
        same(jax.vmap(case.ours, places)(*given), wanted)
        same(jax.jit(jax.vmap(case.ours, places))(*given), wanted)
    if case.order:
        wanted = jax.vmap(slope(case.theirs, 1))(*batches)
        same(jax.vmap(slope(case.ours, 1))(*batches), wanted, 5e-4)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda call: f"{call[0].__name__}.{call[1]}")
def test_every_function_under_jit(recipe: tuple[ModuleType, str, Any]) -> None:
    """As without jit, with the dtypes that JAX has."""
    module, name, cook = recipe
    if name in {"zeros_like", "ones_like", "full_like", "broadcast_arrays", "meshgrid", *DECIDED_BY_VALUES}:
        pytest.skip("results are xpops arrays, or depend on values")
    arguments = list(cook(np.random.default_rng([2, len(name)])))
    options = arguments.pop() if isinstance(arguments[-1], dict) else {}
    with jax.enable_x64(True):
        given = jax.tree.map(jnp.asarray, arrays_in(arguments))

        def call(*arrays: Any) -> Any:
            return getattr(module, name)(*put(arguments, list(arrays)), **options)

        wanted, found = call(*given), jax.jit(call)(*given)
        for ours, plain in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
            assert (ours.shape, ours.dtype) == (plain.shape, plain.dtype)
            if name == "index_add":  # a GPU adds in any order
                np.testing.assert_allclose(np.asarray(ours), np.asarray(plain), rtol=1e-12, atol=1e-14)
            else:
                np.testing.assert_array_equal(np.asarray(ours), np.asarray(plain))


def arrays_in(arguments: Any) -> list[Any]:
    found = []
    for each in arguments:
        found += [each] if isinstance(each, np.ndarray) else arrays_in(each) if isinstance(each, list) else []
    return found


def put(arguments: Any, arrays: list[Any]) -> list[Any]:
    """The arguments with other arrays in the places of theirs."""
    return [
        arrays.pop(0) if isinstance(each, np.ndarray) else put(each, arrays) if isinstance(each, list) else each
        for each in arguments
    ]


def test_complex_gradients() -> None:
    z = jnp.array([1 + 2j, 0.5 - 1j, -0.25 + 0.5j])
    for ours, theirs in (
        (xp.exp, jnp.exp),
        (lambda v: xp.multiply(v, v), lambda v: v * v),
        (xp.fft.fft, jnp.fft.fft),
        (xp.abs, jnp.abs),
        (xp.conj, jnp.conj),
        (xp.real, jnp.real),
    ):
        wanted = jax.grad(lambda v, f=theirs: jnp.sum(jnp.abs(f(v)) ** 2 + jnp.real(f(v))))(z)
        same(jax.grad(lambda v, f=ours: jnp.sum(jnp.abs(f(v)) ** 2 + jnp.real(f(v))))(z), wanted)


def test_control_flow_and_checkpoints() -> None:
    total, _ = jax.lax.scan(lambda carry, v: (xp.add(carry, v), xp.exp(v)), jnp.zeros(3), jnp.ones((4, 3)))
    same(total, np.full(3, 4.0))
    same(jax.lax.fori_loop(0, 5, lambda i, v: xp.multiply(v, 2.0), jnp.ones(2)), np.full(2, 32.0))
    same(jax.grad(jax.checkpoint(lambda v: xp.sum(xp.exp(v))))(Y), np.exp(Y), 1e-6)
    same(jax.jit(xp.add, donate_argnums=0)(jnp.ones(3), jnp.ones(3)), np.full(3, 2.0))


def test_narrow_dtypes_and_results_of_64_bits() -> None:
    for dtype in (jnp.bfloat16, jnp.float16):
        x = jnp.ones(3, dtype)
        assert jax.jit(xp.exp)(x).dtype == jax.grad(lambda v: xp.sum(xp.exp(v)))(x).dtype == dtype
    assert jax.jit(xp.argmax)(X).dtype == jnp.int32
    with jax.enable_x64(True):
        assert jax.jit(xp.argmax)(X).dtype == jnp.int64


def test_topk_has_a_gradient_by_its_values() -> None:
    def of_both(v: Any) -> Any:
        values, indices = xp.nn.topk(v, 2)
        return xp.sum(values), indices

    (_, indices), found = jax.value_and_grad(of_both, has_aux=True)(Y)
    assert sorted(indices.tolist()) == [2, 3]
    same(found, [0, 0, 1, 1])


REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: jax.jit(xp.nonzero)(X), TypeError, "the values of a traced array are not known"),
    (lambda: jax.jit(xp.unique_values)(Y), TypeError, "the values of a traced array are not known"),
    (lambda: jax.grad(squares(lambda v: xp.floor_divide(v, 2.0)))(X), TypeError, "floor_divide: x1 needs a gradient"),
    (lambda: jax.jit(lambda v: xp.add(v, np.ones(4)))(X), TypeError, "add: x1 is a JAX tracer"),
    (lambda: jax.jit(xp.asarray)(X), TypeError, "asarray: obj is a JAX tracer"),
    (lambda: jax.jit(lambda v: xp.sum(v, axis=5))(X), IndexError, "sum: axis is 5"),
    (lambda: jax.jit(lambda v: xp.bitwise_and(v, v))(X), TypeError, "bitwise_and: dtype float32"),
    (lambda: jax.jit(xp.zeros_like)(X), TypeError, "zeros_like: x is traced"),
    (lambda: jax.vmap(lambda v: xp.full_like(v, 2))(X), TypeError, "full_like: x is traced"),
    (lambda: jax.jit(xp.linalg.solve)(A, X.T), ValueError, "solve: x2 has shape"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=lambda each: each if isinstance(each, str) else "")
def test_refusals(call: Callable[[], Any], error: type[Exception], words: str) -> None:
    for _ in range(2):
        with pytest.raises(error, match=words):
            call()
