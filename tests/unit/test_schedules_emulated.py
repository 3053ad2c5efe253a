"""Blocks that take turns in random order, without a GPU: unpublished and half-written states, missing fences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.emulator import STREAM, EmulatedEngine, KernelError
from tests.helpers.host_compile import COMPILER
from tests.unit.conftest import PretendedEngine
from tests.unit.test_emulator import TEMPLATE
from xpops.engine.cuda.tuning import tuning_of

pytestmark = pytest.mark.skipif("g++" not in str(COMPILER), reason="other compilers report volatile accesses otherwise")
NDArray = np.ndarray[Any, Any]
SEEDS = range(1, 4)


def launched(body: str, seed: int, blocks: int = 2, threads: int = 32, shuffled: bool = False) -> Any:
    """Run a kernel on 256 integers that are 0, with all blocks resident. Returns them."""
    data = np.zeros(256, np.int32)
    source = TEMPLATE.format(body=body, threads=threads, attributes="")
    engine = EmulatedEngine(workers=blocks, seed=seed, shuffled=shuffled)
    engine.launcher("test", source, blocks, threads, "Q", b"")(STREAM, data.ctypes.data)
    return data


HALVES = """volatile int* both = data;
if (threadIdx.x == 0) {
  if (blockIdx.x == 0) both[0] = 1, both[1] = 1;
  else data[2] = both[1] * 10 + both[0];
}"""


def test_every_order_of_two_blocks_is_seen() -> None:
    """Block 1 reads the second word, then the first. It may see nothing, both, or only the first."""
    assert {int(launched(HALVES, seed)[2]) for seed in range(1, 40)} == {0, 1, 11}


def test_blocks_start_in_any_order() -> None:
    orders = {
        tuple(
            launched("if (threadIdx.x == 0) data[1 + atomicAdd(data, 1)] = blockIdx.x;", seed, 5, shuffled=True)[
                1:6
            ].tolist()
        )
        for seed in range(1, 9)
    }
    assert len(orders) > 4
    assert all(sorted(order) == [0, 1, 2, 3, 4] for order in orders)


FENCED = """if (threadIdx.x == 0) {{
  if (blockIdx.x == 0) {{
    data[4] = 7;
    {fence}
    atomicExch(data, 1);
  }} else {{
    while (*static_cast<volatile int*>(data) == 0) __nanosleep(10);
    data[5] = data[4];
  }}
}}"""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_missing_fence_is_an_error(seed: int) -> None:
    assert launched(FENCED.format(fence="__threadfence();"), seed)[5] == 7
    with pytest.raises(KernelError, match="block 1, thread 0: reads another block's unfenced write"):
        launched(FENCED.format(fence=""), seed)


def test_a_missing_barrier_is_a_wrong_number() -> None:
    body = "__shared__ int x[64]; x[threadIdx.x] = threadIdx.x; {} data[threadIdx.x] = x[63 - threadIdx.x];"
    wanted = list(range(63, -1, -1))
    for seed in SEEDS:
        assert launched(body.format("__syncthreads();"), seed, 1, 64)[:64].tolist() == wanted
    assert any(launched(body.format(""), seed, 1, 64)[:64].tolist() != wanted for seed in SEEDS)


def numbers(*shape: int) -> NDArray:
    return (np.random.default_rng(shape).integers(-8, 9, shape)).astype(np.float32)


# Calls of kernels whose blocks communicate: the operand, and the call in NumPy and xpops.
CALLS: dict[str, tuple[NDArray, Callable[[Any, Any], Any]]] = {
    "scan of a row": (numbers(2500), lambda ns, x: ns.cumulative_sum(x)),
    "scan of rows": (numbers(3, 900), lambda ns, x: ns.cumulative_sum(x, axis=1)),
    "scan of columns": (numbers(700, 9), lambda ns, x: ns.cumulative_sum(x, axis=0)),
    "complex products": (
        np.array([1, 1j, -1, -1j] * 300, np.complex64),
        lambda ns, x: ns.cumulative_prod(x),
    ),
    "sum": (numbers(9000), lambda ns, x: ns.sum(x)),
    "argmax": (numbers(9000), lambda ns, x: ns.argmax(x)),
    "sum of columns": (numbers(3000, 3), lambda ns, x: ns.sum(x, axis=0)),
    "sort": (numbers(2500), lambda ns, x: ns.sort(x)),
    "argsort": (numbers(3000), lambda ns, x: ns.argsort(x, stable=True)),
    "mask": (numbers(3000), lambda ns, x: x[x > 2]),
    "nonzero": (numbers(3000), lambda ns, x: ns.nonzero(x)[0]),
    "unique": (numbers(3000), lambda ns, x: ns.unique_values(x)),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tiles, so that there are many."""
    policy = tuning_of(90).scan._replace(rows=4224, tile_block=64, packs=1, column_warps=2)
    monkeypatch.setattr("xpops.engine.cuda.kernels.scan.scan_policy", lambda *_: policy)


# In these, blocks wait for others, so they must start in the order of their numbers.
IN_ORDER = ("scan of a row", "scan of rows", "scan of columns", "complex products")


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("small")
def test_blocks_that_take_turns(name: str, pretended: PretendedEngine) -> None:
    host, call = CALLS[name]
    x, wanted = pretended.array(host), call(np, host)
    pretended._workers = 6
    for pretended.seed in SEEDS:
        pretended.shuffled = name not in IN_ORDER and pretended.seed % 2 == 0
        np.testing.assert_array_equal(call(xp, x).to_numpy(), wanted)


@pytest.mark.usefixtures("small")
def test_a_row_of_many_tiles(pretended: PretendedEngine) -> None:
    """The warps that compute prefixes reuse their shared memory: there are 5 runs of 32 tiles and 2 warps."""
    host = numbers(160 * 64 + 1)
    x = pretended.array(host)[1:]
    pretended._workers = 6
    for pretended.seed in (1, 2):
        np.testing.assert_array_equal(xp.cumulative_sum(x).to_numpy(), np.cumsum(host[1:]))
