"""The kernel of random numbers without a GPU: known answers, and the same bits as on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import GPU, EmulatedEngine, run
from tests.helpers.philox import KNOWN, philox
from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.core.layouts import layout_of
from xpops.engine.cpu import random as cpu_random
from xpops.engine.cpu.engine import CpuEngine
from xpops.engine.cuda.kernels.random import unroll
from xpops.engine.cuda.tuning import tuning_of
from xpops.ops.random import LAWS, Law

ENGINE, HOST = EmulatedEngine(), CpuEngine()
KEY, BRANCH = 0x9D39247E33776D41, 0x2AF7398005AAA5C7

PARAMETERS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "uniform": ((0.0, 1.0), (-3.0, 10.1)),
    "normal": ((0.0, 1.0), (1e4, 0.3)),
    "exponential": ((1.0,), (1e-42,)),
    "bernoulli": ((2**30,), (0,), (2**32,)),
    "integers": ((2**64 - 5, 100), (0, 0), (7, 2**32), (1, 2**63)),
    "wide_integers": ((7, 2**63 + 12345), (2**63, 2**64 - 1), (0, 2**32 + 1)),
}
CASES = [
    (law, dtype)
    for law in LAWS.values()
    for dtype in dt.INFO
    if dtype in dt.CATEGORIES[law.makes] and (law.name != "wide_integers" or dtype.itemsize == 8)
]


def emulated(law: Law, dtype: Any, size: int, key: int, branch: int, position: int, *parameters: Any) -> Any:
    out = layout_of(dtype, (size,), None, GPU)
    (found,) = run(ENGINE, (out,), ENGINE.random(law, out), key, branch, position, *parameters)
    return found


def on_host(law: Law, dtype: Any, size: int, key: int, branch: int, position: int, *parameters: Any) -> Any:
    out = layout_of(dtype, (size,), None, CPU)
    data, _ = HOST.allocate(out)
    HOST.random(law, out)(0, data, key, branch, position, *parameters)
    return data


def joined(low: int, high: int) -> int:
    return low + (high << 32)


@pytest.mark.parametrize(("counter", "key", "wanted"), KNOWN)
def test_known_answers(counter: Any, key: Any, wanted: Any) -> None:
    assert philox(counter, key) == wanted
    call = joined(*key), joined(*counter[2:]), joined(*counter[:2])
    assert tuple(cpu_random.philox(*call, 1)[0]) == wanted
    for draw in (emulated, on_host):
        raw = draw(LAWS["integers"], dt.uint64, 2, *call, 0, 0)
        assert tuple(raw.view(np.uint32)) == wanted


@pytest.mark.parametrize(("law", "dtype"), CASES, ids=str)
def test_same_bits_as_on_the_cpu(law: Law, dtype: Any) -> None:
    pack = 16 // dtype.itemsize
    policy = tuning_of(90).random
    block = policy.block * unroll(law, dtype, policy) * pack
    for parameters in PARAMETERS[law.name]:
        for size in (1, pack - 1, pack + 1, block - 1, block, 2 * block + 3):
            call = law, dtype, size, KEY, BRANCH, 2**32 - 3, *parameters
            assert emulated(*call).tobytes() == on_host(*call).tobytes(), (parameters, size)


@pytest.mark.parametrize(("law", "dtype"), CASES, ids=str)
def test_any_part_is_what_the_whole_has_there(law: Law, dtype: Any) -> None:
    parameters, count = PARAMETERS[law.name][0], law.count(dtype)
    for draw in (emulated, on_host):
        whole = draw(law, dtype, 40 * count, KEY, BRANCH, 2**64 - 20, *parameters)
        for first in (0, 13, 20, 27):
            part = draw(law, dtype, 5 * count, KEY, BRANCH, (2**64 - 20 + first) % 2**64, *parameters)
            assert part.tobytes() == whole[first * count : (first + 5) * count].tobytes()


def test_many_normals_have_the_same_bits() -> None:
    """There are so many that some sums would round to another float if they were rounded to double first."""
    for position in range(3):
        call = LAWS["normal"], dt.float32, 2**18, KEY, BRANCH, position << 20, 0.0, 1.0
        assert emulated(*call).tobytes() == on_host(*call).tobytes()


def test_the_cpu_goes_in_chunks() -> None:
    size = 4 * cpu_random.CHUNK + 5
    call = LAWS["uniform"], dt.float32, size, KEY, BRANCH, 9, 0.0, 1.0
    assert on_host(*call).tobytes() == emulated(*call).tobytes()
