"""Eager calls on JAX arrays that are made often: from some call on, a compiled program computes them."""

from __future__ import annotations

import gc
import itertools
import math
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

jax = pytest.importorskip("jax")
jnp = jax.numpy

import xpops as xp  # noqa: E402
from xpops.frameworks.jax import adapter, repeated  # noqa: E402

CALLS = 8


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    """Programs after three calls, as everywhere after more."""
    usual, repeated.REPEATS = repeated.REPEATS, 3
    yield
    repeated.REPEATS = usual


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arrays whose memory is lent from now on: a program lends none."""
    found: list[Any] = []
    lend = adapter.JaxAdapter.lend

    def noting(self: Any, data: Any) -> Any:
        if hasattr(data, "sharding"):
            found.append(data)
        return lend(self, data)

    monkeypatch.setattr(adapter.JaxAdapter, "lend", noting)
    return found


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (xp.add, np.add),
    "less": (xp.less, np.less),
    "matmul": (lambda x, y: xp.matmul(x, xp.matrix_transpose(y)), lambda x, y: x @ y.T),
    "where": (lambda x, y: xp.where(xp.less(x, y), x, 0.5), lambda x, y: np.where(x < y, x, np.float32(0.5))),
    "argmax": (lambda x, y: xp.argmax(x, axis=1), lambda x, y: x.argmax(1)),
    "sort": (lambda x, y: xp.sort(y, axis=0), lambda x, y: np.sort(y, axis=0)),
    "topk": (lambda x, y: xp.nn.topk(x, 1).values, lambda x, y: x.max(1, keepdims=True, initial=-9)),
    "concat": (lambda x, y: xp.concat([x, y, x]), lambda x, y: np.concatenate([x, y, x])),
    "tril": (lambda x, y: xp.tril(x, k=-1), lambda x, y: np.tril(x, k=-1)),
    "one scalar": (lambda x, y: xp.subtract(1.5, x), lambda x, y: np.float32(1.5) - x),
    "fuse": (xp.fuse(lambda x, y: x * y + x), lambda x, y: x * y + x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (65, 33), (7, 1)])
def test_every_call_computes_new_values(name: str, shape: tuple[int, ...], lent: list[Any]) -> None:
    ours, theirs = FUNCTIONS[name]
    found = []
    for seed in range(CALLS):
        hosts = [np.random.default_rng((seed, place)).normal(size=shape).astype(np.float32) for place in range(2)]
        lent.clear()
        result = ours(*map(jnp.asarray, hosts))
        assert isinstance(result, jax.Array)
        found.append((np.asarray(result), theirs(*hosts)))
        assert seed <= repeated.REPEATS or not lent, "a program computes it"
    for result, wanted in found:
        assert result.shape == wanted.shape
        np.testing.assert_allclose(result, wanted, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int32, np.float16, ml_dtypes.bfloat16, np.complex64])
@pytest.mark.parametrize("shape", [(), (0, 3), (5,)])
def test_programs_take_every_dtype_and_empty_arrays(dtype: Any, shape: tuple[int, ...]) -> None:
    for seed in range(CALLS):
        x = np.random.default_rng(seed).integers(0, 9, shape).astype(dtype)
        result = xp.where(xp.equal(jnp.asarray(x), 3), jnp.asarray(x), jnp.asarray(x))
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(result), x)


def test_subnormal_numbers_are_kept() -> None:
    """XLA takes them as zeros on the host."""
    x, y = np.array([1e-38, 2e-38, 1e-45], np.float32), np.array([0.1, 0.5, 1], np.float32)
    program = jax.jit(lambda v, w: xp.multiply(v, w))
    for _ in range(CALLS):
        np.testing.assert_array_equal(np.asarray(xp.multiply(jnp.asarray(x), jnp.asarray(y))), x * y)
        np.testing.assert_array_equal(np.asarray(program(jnp.asarray(x), jnp.asarray(y))), x * y)
        with jax.default_device(jax.devices("cpu")[0]):
            own = jnp.asarray(y) * 1e-44
        np.testing.assert_array_equal(np.asarray(own), 0, "JAX's own programs are as before")


def test_results_of_64_bits_are_narrowed_as_in_jax() -> None:
    x = np.arange(5, dtype=np.float32)
    for number in range(CALLS):
        for wide, narrow in [(xp.float64, np.float32), (xp.int64, np.int32), (xp.complex128, np.complex64)]:
            found = xp.astype(jnp.asarray(x + number), wide)
            assert found.dtype == narrow
            np.testing.assert_array_equal(np.asarray(found), (x + number).astype(narrow))


def test_values_of_scalars_have_programs_of_their_own() -> None:
    x = jnp.asarray(np.array([-1.0, 0.0, 2.0], np.float32))
    values = [0.0, -0.0, math.nan, math.copysign(math.nan, -1), math.inf, 2.5, 1, True, *range(40)]
    for _, value in itertools.product(range(CALLS), values):
        signed, product = xp.copysign(x, float(value)), xp.multiply(x, value)
        np.testing.assert_array_equal(np.asarray(signed), np.copysign(np.asarray(x), np.float32(value)))
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(np.asarray(product), np.asarray(x) * np.float32(value))


def test_integers_beyond_a_dtype_are_refused_as_before() -> None:
    x = jnp.asarray(np.array([1, 2], np.uint8))
    for _ in range(CALLS):
        np.testing.assert_array_equal(np.asarray(xp.add(x, 3)), [4, 5])
        with pytest.raises(OverflowError, match="add: x2 is 300"):
            xp.add(x, 300)


@pytest.mark.parametrize("is_late", [False, True])
def test_errors_that_depend_on_values_are_raised_as_before(is_late: bool) -> None:
    @jax.jit
    def late(x: Any) -> Any:
        """`x`, after some time."""
        rest = jnp.ones((600, 600)) * x.ravel()[0]
        return x + 0 * (rest @ rest @ rest)[0, 0].astype(x.dtype)

    hosts = np.arange(5), np.array([1, 2]), np.array([1, 70]), np.eye(3, dtype=np.float32)
    x, good, bad, eye = jax.device_put(hosts, jax.devices("cpu")[0])  # a GPU takes the nearest index
    for _ in range(CALLS):
        assert xp.take(x, good).tolist() == [1, 2]
        with pytest.raises(IndexError, match="take: indices holds 70"):
            xp.take(x, late(bad) if is_late else bad)
        xp.linalg.cholesky(eye)
        with pytest.raises(xp.linalg.LinAlgError, match="not positive definite"):
            xp.linalg.cholesky(late(-eye) if is_late else -eye)


def test_deleted_arrays_are_refused_as_before() -> None:
    x = jnp.asarray(np.ones((3, 5), np.float32)) + 1
    for _ in range(CALLS):
        xp.add(x, x)
    x.delete()
    with pytest.raises(ValueError, match="add: x1 is a JAX array that was deleted"):
        xp.add(x, x)


def test_programs_keep_no_arrays() -> None:
    shape = (43, 47)
    for number in range(CALLS):
        x = jnp.full(shape, float(number))
        xp.add(x, 1.0)
        xp.add(x, x)
    del x
    gc.collect()
    assert not [each for each in jax.live_arrays() if each.shape == shape]


def test_checks_of_jax_leave_our_calls_alone() -> None:
    x = jnp.zeros(3)
    for number in range(CALLS):
        with jax.debug_nans(number == CALLS - 1):
            assert np.isnan(np.asarray(xp.divide(x, x))).all()


def test_tracing_compiles_no_program_again(monkeypatch: pytest.MonkeyPatch) -> None:
    x = jnp.asarray(np.arange(9, dtype=np.float32))
    for _ in range(CALLS):
        xp.subtract(x, x)
    monkeypatch.setattr(repeated, "call_of", lambda *_: pytest.fail("another program"))
    jax.make_jaxpr(lambda y: (xp.subtract(x, x), y * 2)[1])(2.0)
    xp.subtract(x, x)


def test_devices_of_the_host_are_as_before() -> None:
    program = """
    import jax, jax.numpy as jnp, numpy as np, xpops as xp
    from xpops.frameworks.jax import repeated
    repeated.REPEATS = 3
    first, second = jax.devices()
    x = np.arange(8, dtype=np.float32)
    a, b, loose = jax.device_put(x, first), jax.device_put(x, second), jnp.asarray(x)
    for _ in range(8):
        for each in (xp.concat([a, b]), xp.concat([b, a]), xp.add(a, a), xp.add(b, b), xp.multiply(loose, 2.0)):
            assert each.devices() == {first} and each._committed, each.devices()
        with jax.default_device(second):
            assert xp.multiply(loose, loose).devices() == {first}
    """
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment, check=True)


def test_known_values_stay_known_while_jax_traces() -> None:
    """As before there was a program: so functions that read values take them."""
    x = jnp.asarray(np.arange(6, dtype=np.float32))
    for _ in range(CALLS):
        xp.add(x, x)

    def function(y: Any) -> Any:
        assert not isinstance(xp.add(x, x), jax.core.Tracer)
        return y * xp.nonzero(xp.add(x, x))[0].size

    assert float(jax.jit(function)(2.0)) == 10
    assert float(jax.grad(function)(2.0)) == 5


def test_arrays_of_several_frameworks_are_mixed_as_before() -> None:
    x = jnp.asarray(np.arange(6, dtype=np.float32))
    own = xp.asarray(np.arange(6, dtype=np.float32), device=str(xp.from_dlpack(x).device))
    for _ in range(CALLS):
        xp.add(x, x)
        mixed = xp.add(x, own)
        assert isinstance(mixed, xp.Array)
        assert mixed.to_numpy().tolist() == [0, 2, 4, 6, 8, 10]


def test_shapes_may_depend_on_values() -> None:
    for number in range(CALLS):
        x = np.arange(12, dtype=np.int32) % (number + 2)
        np.testing.assert_array_equal(np.asarray(xp.nonzero(jnp.asarray(x))[0]), np.nonzero(x)[0])
        np.testing.assert_array_equal(np.asarray(xp.unique_values(jnp.asarray(x))), np.unique(x))


def test_graphs_and_kernels_take_memory() -> None:
    x = jnp.asarray(np.arange(6, dtype=np.float32))
    graph = xp.graph(lambda v: xp.add(v, v))
    on_gpu = xp.from_dlpack(x).device != "cpu"
    square = xp.kernel.ElementwiseKernel("T x", "T y", "y = x * x", "square") if on_gpu else xp.square
    for number in range(CALLS):
        given = x + number
        np.testing.assert_array_equal(np.asarray(graph(given)), 2 * (np.arange(6) + number))
        np.testing.assert_array_equal(np.asarray(square(given)), (np.arange(6) + number) ** 2)


@given(st.data())
def test_calls_that_differ_in_one_fact(data: st.DataObject) -> None:
    """Shapes, dtypes, weak types and parameters, in any order."""
    for _ in range(12):
        shape = data.draw(st.sampled_from([(2, 3), (3, 2), (6,)]))
        dtype = data.draw(st.sampled_from([np.float32, np.int32]))
        axis = data.draw(st.sampled_from([None, 0, -1]))
        seed = data.draw(st.integers(0, 5))
        x = np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)
        np.testing.assert_array_equal(np.asarray(xp.sum(jnp.asarray(x), axis=axis)), x.sum(axis=axis))
        np.testing.assert_array_equal(np.asarray(xp.add(jnp.asarray(x), jnp.asarray(2))), x + 2)
        np.testing.assert_array_equal(np.asarray(xp.add(jnp.asarray(x), jnp.full((), 2))), x + 2)


def test_vmap_of_a_program_adds_axes() -> None:
    """The same steps get other shapes."""
    x = np.random.default_rng(5).normal(size=(4, 3, 2)).astype(np.float32)
    function = jax.jit(lambda v: xp.sum(xp.multiply(xp.subtract(v, 0.25), v), axis=0))
    for _ in range(2):
        np.testing.assert_allclose(np.asarray(function(x[0])), ((x[0] - 0.25) * x[0]).sum(0), rtol=1e-6)
        np.testing.assert_allclose(np.asarray(jax.vmap(function)(x)), ((x - 0.25) * x).sum(1), rtol=1e-6)
        np.testing.assert_allclose(np.asarray(jax.jit(jax.vmap(function))(x)), ((x - 0.25) * x).sum(1), rtol=1e-6)


def test_errors_within_a_program_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    x = jnp.asarray(np.array([200, 2], np.uint8))
    with pytest.raises(Exception, match="add: x2 is 300"):
        np.asarray(jax.jit(lambda v: xp.add(v, 300))(x))
