"""Calls on JAX arrays like an earlier one: they read the array's memory, on the host without DLPack."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

import xpops as xp  # noqa: E402
from tests.helpers.fake_cuda import on_gpu, pretend  # noqa: E402
from xpops.frameworks.jax import adapter  # noqa: E402

CPU = jax.devices("cpu")[0]


def put(x: Any) -> Any:
    return jax.device_put(x, CPU)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.bool_, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (7,), (64, 65)])
def test_later_calls_compute_new_values(dtype: Any, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def call(seed: int) -> tuple[Any, np.ndarray[Any, Any]]:
        random = np.random.default_rng(seed)
        x, y = (random.integers(0, 9, shape).astype(dtype) for _ in range(2))
        expected = np.maximum(x, y) if dtype is not np.bool_ else x | y
        return (xp.maximum if dtype is not np.bool_ else xp.logical_or)(put(x), put(y)), expected

    call(0)
    monkeypatch.setattr(adapter, "dlpack_view", lambda *_, **__: pytest.fail("a call like an earlier one is planned"))
    for seed in range(1, 4):
        result, expected = call(seed)
        assert isinstance(result, jax.Array)
        assert result.dtype == dtype
        np.testing.assert_array_equal(np.asarray(result), expected)


def test_results_live_without_their_operands() -> None:
    x = put(np.arange(1000, dtype=np.float32))
    results = [xp.add(x, float(number)) for number in range(20)]
    copies = [xp.reshape(x, (10, 100)) for _ in range(3)]
    del x
    for number, result in enumerate(results):
        np.testing.assert_array_equal(np.asarray(result), np.arange(1000, dtype=np.float32) + number)
    for copy in copies:
        np.testing.assert_array_equal(np.asarray(copy), np.arange(1000, dtype=np.float32).reshape(10, 100))


class Producer:
    """Stands for a JAX array on a GPU: it lends the memory of an ndarray."""

    sharding = jax.sharding.SingleDeviceSharding(CPU)

    def __init__(self, host: np.ndarray[Any, Any], order: str = "C") -> None:
        self.host, self.streams = np.asarray(host, order=order), list[int]()
        self.aval = jax.core.ShapedArray(host.shape, host.dtype)

    def is_deleted(self) -> bool:
        return False

    def devices(self) -> set[Any]:
        return {CPU}

    def __dlpack__(self, *, stream: int, max_version: tuple[int, int]) -> Any:
        self.streams.append(stream)
        return self.host.__dlpack__()


@pytest.mark.parametrize("stream", [0, 5])
def test_memory_of_a_gpu_is_kept_until_work_is_done(stream: int, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = pretend(monkeypatch)
    fake.stream = stream
    host = np.arange(12.0).reshape(3, 4)
    x, layout = Producer(host), on_gpu(host)._layout
    learnt = adapter.ADAPTER.learn(x, layout)
    assert learnt is not None
    assert learnt.layout is layout
    for number in range(2, 5):
        found, lent = adapter.ADAPTER.read(x)
        assert (found, lent) == (learnt, x)
        data = adapter.ADAPTER.lend(lent)
        assert data == host.ctypes.data
        assert x.streams == [stream or 1] * number, "in DLPack 1 is the legacy default stream"
        assert len(fake.retained) == number - 1
        del data
        assert [each for _, each in fake.retained] == [stream] * number
    for other in (host[:, :2], host.astype(np.float32), host.reshape(4, 3)):
        assert adapter.ADAPTER.read(Producer(other))[0] is not learnt


def test_memory_in_another_order_is_copied(lender: tuple[Any, Producer], monkeypatch: pytest.MonkeyPatch) -> None:
    """A user may choose the order of the elements of an array on a GPU."""
    _, x = lender
    other = Producer(x.host, "F")
    monkeypatch.setattr(adapter.jnp, "copy", lambda given: x if given is other else pytest.fail("it was copied before"))
    assert adapter.ADAPTER.lend(other) == x.host.ctypes.data
    assert adapter.ADAPTER.lend(x) == x.host.ctypes.data


@pytest.fixture
def lender(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Producer]:
    """A pretended GPU, and an array of JAX on it that is known."""
    fake = pretend(monkeypatch)
    host = np.arange(12.0).reshape(3, 4)
    x = Producer(host)
    adapter.ADAPTER.learn(x, on_gpu(host)._layout)
    fake.retained.clear()
    return fake, x


def test_one_event_is_for_all_arrays_of_a_call(lender: tuple[Any, Producer]) -> None:
    fake, x = lender
    values = [adapter.ADAPTER.lend(x) for _ in range(3)]
    del values[1]
    assert fake.retained == [], "the others may have work to come"
    values.clear()
    assert [len(capsules) for capsules, _ in fake.retained] == [3]
    fake.stream = 5
    values = [adapter.ADAPTER.lend(x)]
    fake.stream = 6
    values.append(adapter.ADAPTER.lend(x))
    values.clear()
    assert sorted((len(capsules), stream) for capsules, stream in fake.retained[1:]) == [(1, 5), (1, 6)]


def test_a_kept_address_keeps_few_others(lender: tuple[Any, Producer]) -> None:
    fake, x = lender
    kept = adapter.ADAPTER.lend(x)
    for _ in range(100):
        adapter.ADAPTER.lend(x)
    assert 101 - sum(len(capsules) for capsules, _ in fake.retained) <= 8
    del kept
    assert sum(len(capsules) for capsules, _ in fake.retained) == 101


def test_a_loan_that_ends_takes_no_other_array(lender: tuple[Any, Producer], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its event is recorded, and says nothing of work to come."""
    fake, x = lender
    retain, others = fake.retain, []

    def borrow_meanwhile(owner: Any, stream: int) -> None:
        retain(list(owner), stream)
        if not others:
            others.append(adapter.ADAPTER.lend(x))

    monkeypatch.setattr(fake, "retain", borrow_meanwhile)
    adapter.ADAPTER.lend(x)
    assert [len(capsules) for capsules, _ in fake.retained] == [1]
    others.clear()
    assert [len(capsules) for capsules, _ in fake.retained] == [1, 1]


def test_threads_share_no_loan(lender: tuple[Any, Producer]) -> None:
    fake, x = lender
    values = [adapter.ADAPTER.lend(x)]
    thread = threading.Thread(target=lambda: values.append(adapter.ADAPTER.lend(x)))
    thread.start()
    thread.join()
    values.clear()
    assert [len(capsules) for capsules, _ in fake.retained] == [1, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.int32, ml_dtypes.bfloat16])
def test_later_calls_on_a_gpu(dtype: Any, cuda: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if jax.default_backend() != "gpu":
        pytest.skip("JAX has no GPU")
    results = []
    for seed in range(6):
        random = np.random.default_rng(seed)
        hosts = [random.integers(0, 9, (64, 65)).astype(dtype) for _ in range(2)]
        x, y = (jnp.asarray(host) + jnp.asarray(0, dtype) for host in hosts)  # JAX may still be computing them
        results.append((xp.add(x, y), hosts[0] + hosts[1]))
        y.delete()
        del x, y
        if seed == 0:
            monkeypatch.setattr(adapter, "dlpack_view", lambda *_, **__: pytest.fail("a later call is planned"))
    for result, wanted in results:
        assert isinstance(result, jax.Array)
        np.testing.assert_array_equal(np.asarray(result), wanted)


def test_a_deleted_array_is_refused() -> None:
    x, y = put(np.ones((3, 5), np.float32)), put(np.ones((3, 5), np.float32))
    xp.add(x, y)
    y.delete()
    with pytest.raises(ValueError, match="add: x2 is a JAX array that was deleted"):
        xp.add(x, y)


def test_jax_arrays_are_not_written() -> None:
    x = put(np.ones((3, 5), np.float32))
    for _ in range(2):
        with pytest.raises(ValueError, match="read-only"):
            xp.add(x, x, out=x)


def test_arrays_on_several_devices_are_refused_as_before() -> None:
    program = """
    import jax, numpy as np, xpops as xp, xpops.numpy
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    x = np.arange(8, dtype=np.float32)
    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("i",)), PartitionSpec("i"))
    single, second, split = jax.device_put(x), jax.device_put(x, jax.devices()[1]), jax.device_put(x, sharding)
    for each in (single, second) * 2:
        assert np.array_equal(np.asarray(xp.add(each, each)), x + x)
        found = xpops.numpy.add(each, [*range(len(x))])
        assert np.array_equal(np.asarray(found), x + np.arange(len(x)))
        try:
            xp.add(split, split)
        except Exception as error:
            print(type(error).__name__)
    """
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    shown = subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout
    assert len(shown.split()) == 4


@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 3, 0), (5, 1, 2)])
def test_views_are_jax_arrays_of_the_same_elements(shape: tuple[int, ...]) -> None:
    for seed in range(2):
        x = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
        given = put(x)
        pairs = [
            (xp.reshape(given, (shape[0] * shape[1], shape[2])), x.reshape(shape[0] * shape[1], shape[2])),
            (xp.permute_dims(given, (2, 0, 1)), x.transpose(2, 0, 1)),
            (xp.broadcast_to(given, (2, *shape)), np.broadcast_to(x, (2, *shape))),
            (xp.flip(given, axis=(0, -1)), x[::-1, :, ::-1]),
            (xp.linalg.diagonal(given, offset=1), x.diagonal(1, -2, -1)),
            *zip(xp.unstack(given, axis=1), np.unstack(x, axis=1), strict=True),
        ]
        for result, expected in pairs:
            assert isinstance(result, jax.Array)
            np.testing.assert_array_equal(np.asarray(result), expected)


def test_views_of_tracers_are_jaxs_own() -> None:
    found = jax.jit(lambda x: xp.reshape(x, (-1,)))(put(np.ones((2, 3), np.float32)))
    assert found.shape == (6,)


def test_expressions_are_one_call() -> None:
    """They are fused functions for JAX's arrays on the host, too: each result would be exported."""
    x = np.random.default_rng(3).normal(size=(5, 7))
    x = x.astype(np.float32)
    holes = np.where(x > 1, np.float32(np.nan), x)
    calls = [
        (lambda each: xp.linalg.vector_norm(each, axis=[1]), np.linalg.vector_norm(x, axis=1), x),
        (lambda each: xp.linalg.vector_norm(each, ord=3.5), np.linalg.vector_norm(x, ord=3.5), x),
        (lambda each: xp.linalg.vector_norm(each, ord=-1.5), np.linalg.vector_norm(x, ord=-1.5), x),
        (lambda each: xp.linalg.matrix_norm(each, ord=1), np.linalg.matrix_norm(x, ord=1), x),
        (lambda each: xp.nansum(each, axis=0), np.nansum(holes, axis=0), holes),
        (lambda each: xp.nanvar(each, ddof=1), np.nanvar(holes, ddof=1), holes),
        (lambda each: xp.nanmedian(each, axis=1), np.nanmedian(holes, axis=1), holes),
        (lambda each: xp.quantile(each, 0.3, axis=1), np.quantile(x, 0.3, axis=1), x),
    ]
    for _ in range(3):
        for call, wanted, host in calls:
            found = call(put(host))
            assert isinstance(found, jax.Array)
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-5)
    for wrong in (put(np.arange(3)), [1.0]):
        with pytest.raises(TypeError, match=r"vector_norm: x (has dtype int|is a list)"):
            xp.linalg.vector_norm(wrong)


@pytest.mark.parametrize("take", [xp.asarray, xp.from_dlpack])
def test_views_are_read_only_and_copies_are_not(take: Any) -> None:
    x = put(np.arange(3.0, dtype=np.float32))
    with pytest.raises(ValueError, match="read-only"):
        take(x)[0] = 5
    copied = take(x, copy=True)
    copied[0] = 5
    assert x.tolist() == [0, 1, 2]
    assert copied.to_numpy().tolist() == [5, 1, 2]
