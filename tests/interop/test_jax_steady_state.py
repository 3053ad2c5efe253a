"""Calls on JAX arrays like an earlier one: they read the array's memory at once, without DLPack."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import Any

import ml_dtypes
import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

import xpops as xp  # noqa: E402
from xpops.frameworks import jax as adapter  # noqa: E402

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
    import jax, numpy as np, xpops as xp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    x = np.arange(8, dtype=np.float32)
    sharding = NamedSharding(Mesh(np.array(jax.devices()), ("i",)), PartitionSpec("i"))
    single, second, split = jax.device_put(x), jax.device_put(x, jax.devices()[1]), jax.device_put(x, sharding)
    for each in (single, second) * 2:
        assert np.array_equal(np.asarray(xp.add(each, each)), x + x)
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


def test_a_tracer_is_refused_by_views() -> None:
    with pytest.raises(TypeError, match="reshape: x is a JAX tracer"):
        jax.jit(lambda x: xp.reshape(x, (-1,)))(put(np.ones((2, 3), np.float32)))
