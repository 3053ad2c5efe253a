"""NVRTC compiles the kernels of random numbers. It needs no GPU."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.test_random_emulated import CASES
from xpops.core import dtypes as dt
from xpops.engine.cuda.kernels.random import random_glue, unroll
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import tuning_of
from xpops.ops.random import LAWS, Law

POLICY = tuning_of(90).random


@pytest.mark.parametrize("capability", [80, 90, 100])
@pytest.mark.parametrize(("law", "dtype"), CASES, ids=str)
def test_every_kernel(law: Law, dtype: Any, capability: int) -> None:
    assert compile_cubin(law.name, random_glue(law, dtype, POLICY), capability)


def test_a_thread_writes_packs_of_whole_counters() -> None:
    assert unroll(LAWS["uniform"], dt.float32, POLICY) == 4
    assert unroll(LAWS["integers"], dt.int8, POLICY) == 1
    assert "random<WideIntegers<int64>, int64, 256, 2>" in random_glue(LAWS["wide_integers"], dt.int64, POLICY)
