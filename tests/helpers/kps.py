"""Small kernels that use the kernel primitives, on arrays, in the emulator or on a GPU."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.helpers.emulator import EMULATOR, FLAGS, Block, KernelError
from tests.helpers.host_compile import build
from xpops.core import dtypes as dt
from xpops.plan.strides.divmod import pack_divmod

NDArray = np.ndarray[Any, Any]
BFLOAT16 = dt.bfloat16
RANDOM = np.random.default_rng(6)
Shape = tuple[int, int, int]

MAX_RANK = 9
EPILOGUE = """
extern "C" const char* emulate_kernel(const void* params, const unsigned* n, int workers) {
  return emulator::emulate(xpops_kernel, params, dim3(n[0], n[1], n[2]), dim3(n[3], n[4], n[5]), workers);
}
"""


@dataclass(frozen=True)
class Case:
    """A kernel, its inputs, and its expected outputs.

    Attributes
    ----------
    name : str
    body : str
        The kernel's statements. They see the arrays as ``in0``, ``in1``, ... and ``out0``, ...
    inputs : tuple of ndarray
    outputs : tuple of ndarray
        The contents of the results' memory before the launch.
    wanted : tuple of ndarray
    block, grid : tuple of int
        Lengths of the three axes.
    preamble : str
        C++ code before the kernel.
    rtol : float
        The allowed relative error; 0 means that results must be equal.
    """

    name: str
    body: str
    inputs: tuple[NDArray, ...]
    outputs: tuple[NDArray, ...]
    wanted: tuple[NDArray, ...]
    block: Shape = (32, 1, 1)
    grid: Shape = (1, 1, 1)
    preamble: str = ""
    rtol: float = 0

    def __str__(self) -> str:
        return self.name

    @property
    def source(self) -> str:
        """The whole kernel. Its parameter is a structure of the arrays' addresses."""
        arrays = [("const ", "in", i, x) for i, x in enumerate(self.inputs)]
        arrays += [("", "out", i, x) for i, x in enumerate(self.outputs)]
        declared = [
            f"  {const}{c_type(x)}* {kind}{i} = reinterpret_cast<{const}{c_type(x)}*>(params.at[{n}]);"
            for n, (const, kind, i, x) in enumerate(arrays)
        ]
        return "\n".join(
            [
                "#include <xpops/kps.cuh>",
                "using namespace xpops;",
                self.preamble,
                f"struct Params {{ uint64 at[{len(arrays)}]; }};",
                'extern "C" __global__ void __launch_bounds__(1024)',
                "xpops_kernel(const __grid_constant__ Params params) {",
                *declared,
                self.body,
                "}",
                "",
            ]
        )

    def check(self, found: tuple[NDArray, ...]) -> None:
        for each, wanted in zip(found, self.wanted, strict=True):
            if each.dtype == dt.bfloat16:  # NumPy does not recognise its NaNs
                each, wanted = each.astype(np.float32), wanted.astype(np.float32)
            if self.rtol:
                np.testing.assert_allclose(each, wanted, rtol=self.rtol)
            else:
                np.testing.assert_array_equal(each, wanted)


def some(dtype: Any, *shape: int, low: int = 0, high: int = 100) -> NDArray:
    """Random whole numbers in any dtype."""
    return RANDOM.integers(low, high, shape).astype(np.float64).astype(dtype)


def zeros(dtype: Any, *shape: int) -> NDArray:
    return np.zeros(shape, dtype)


def c_type(x: NDArray) -> str:
    return dt.INFO[x.dtype].c_type


def emulated(case: Case) -> tuple[NDArray, ...]:
    """The outputs of the case on the emulated GPU."""
    library = build(case.source + EPILOGUE, *FLAGS, first=EMULATOR)
    library.emulate_kernel.restype = ctypes.c_char_p
    blocks = [placed(x) for x in (*case.inputs, *case.outputs)]
    params = (ctypes.c_uint64 * len(blocks))(*(block.address for block in blocks))
    error = library.emulate_kernel(params, (ctypes.c_uint * 6)(*case.grid, *case.block), 1)
    if error:
        raise KernelError(f"{error.decode()}\n{case.source}")
    for block in blocks:
        block.check()
    results = zip(case.outputs, blocks[len(case.inputs) :], strict=True)
    return tuple(taken(block.address, x) for x, block in results)


def placed(x: NDArray) -> Block:
    """A copy of an array's bytes between guards."""
    block, data = Block(x.nbytes), np.ascontiguousarray(x)
    ctypes.memmove(block.address, data.ctypes.data, x.nbytes)
    return block


def taken(address: int, like: NDArray) -> NDArray:
    """A copy of the array at an address, with the shape and dtype of `like`."""
    return np.frombuffer(ctypes.string_at(address, like.nbytes), like.dtype).reshape(like.shape)


def broadcast_config(shape: tuple[int, ...], x: NDArray) -> NDArray:
    """The bytes of a ``BroadcastConfig`` for `x` broadcast to a shape, as the host constructs it."""
    return config_bytes(shape, tuple(stride // x.itemsize for stride in np.broadcast_to(x, shape).strides))


def config_bytes(shape: tuple[int, ...], strides: tuple[int, ...]) -> NDArray:
    """The same for strides in elements; those of broadcast axes are 0."""
    divmods = b"".join(pack_divmod(length, 32) for length in reversed(shape)).ljust(12 * MAX_RANK + 4, b"\0")
    unused = [0] * (MAX_RANK - len(shape))
    return np.frombuffer(divmods + struct.pack("<9qii", *reversed(strides), *unused, len(shape), 0), np.uint8)
