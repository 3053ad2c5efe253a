"""The kernel primitives in the emulator, and the arguments that they reject."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from tests.helpers import kps_examples
from tests.helpers.emulator import FLAGS, KernelError
from tests.helpers.host_compile import build
from tests.helpers.kps import Case, config_bytes, emulated
from tests.helpers.kps_cases import CASES
from tests.helpers.kps_examples import EXAMPLES, Example


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    case.check(emulated(case))


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example(example: Example) -> None:
    np.testing.assert_array_equal(kps_examples.emulated(example), example.wanted)


@pytest.mark.parametrize("block", [(513, 1, 1), (4, 2, 1), (4, 1, 2)], ids=str)
@pytest.mark.parametrize(
    "call",
    [
        "kps::Cumsum<float, float>(x, x, kps::AddFunctor<float>());",
        "kps::Sort<float, float>(x, x, 2, 1);",
        "kps::Sort<float, float, int>(x, i, x, i, 2, 0);",
    ],
)
def test_blocks_that_are_refused(call: str, block: tuple[int, int, int]) -> None:
    case = Case("refused", f"float x[2] = {{1, 2}}; int i[2] = {{1, 2}};\n{call}\nout0[0] = x[0] + i[0];", (),
                (np.zeros(1, np.float32),), (np.zeros(1, np.float32),), block=block)  # fmt: skip
    with pytest.raises(KernelError, match="__trap"):
        emulated(case)


CONFIGURATIONS = [
    ((5,), (5,), (1,)),
    ((2**31 + 5,), (1,), (0,)),
    ((3, 2**32 - 1), (3, 1), (1, 0)),
    ((2, 3, 4), (2, 1, 4), (4, 0, 1)),
    ((6, 2**20, 2**20), (6, 2**20, 2**20), (2**40, 2**20, 1)),
    ((), (), ()),
]


@pytest.mark.parametrize(("shape", "lengths", "strides"), CONFIGURATIONS, ids=str)
def test_configurations_are_the_same_from_c_and_from_python(
    shape: tuple[int, ...], lengths: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    source = """
    #include "emulator.hpp"
    #include <xpops/kps/config.cuh>
    using Config = xpops::kps::BroadcastConfig;
    extern "C" int make(const long* out, const long* in, const long* strides, int rank, void* plain, void* strided) {
      *static_cast<Config*>(plain) = Config(out, in, rank);
      *static_cast<Config*>(strided) = Config(out, in, strides, rank);
      return sizeof(Config);
    }
    """
    library, rank = build(source, *FLAGS), len(shape)
    wanted = config_bytes(shape, strides)
    found = np.zeros((2, wanted.size), np.uint8)
    given = [(ctypes.c_long * rank)(*reversed(each)) for each in (shape, lengths, strides)]
    assert library.make(*given, rank, *(ctypes.c_void_p(each.ctypes.data) for each in found)) == wanted.size
    for part in (slice(0, 12 * rank), slice(112, 112 + 8 * rank), slice(184, 188)):
        np.testing.assert_array_equal(found[:, part], [wanted[part]] * 2)
