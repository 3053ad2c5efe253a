"""The example of a PyTorch extension: nvcc compiles its kernel, or else NVRTC does, and the emulator runs it."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from tests.helpers.kps_examples import Example, emulated

KERNEL = Path(__file__).parents[2] / "docs" / "examples" / "extension" / "matmul.cuh"
TYPES = {
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
    np.dtype(np.float16): "xpops::float16",
    np.dtype(ml_dtypes.bfloat16): "xpops::bfloat16",
}
CAPABILITIES = (80, 90, 100, 120)


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_nvcc_compiles_the_kernel(tmp_path: Path, standard: str) -> None:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("needs nvcc")
    operands = "const xpops::Accessor32<T, 4>, const xpops::Accessor32<T, 4>, xpops::Accessor32<T, 4>"
    lines = [f'#include "{KERNEL}"']
    lines += [
        f"template __global__ void example::product({operands});".replace("<T,", f"<{kind},") for kind in TYPES.values()
    ]
    (tmp_path / "matmul.cu").write_text("\n".join(lines))
    command = [nvcc, f"-std={standard}", f"-I{xp.get_include()}", "-arch=sm_90", "-c", "matmul.cu", "-o", "matmul.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("kind", TYPES.values())
def test_nvrtc_compiles_the_kernel(kind: str, capability: int) -> None:
    kernel = xp.kernel.RawKernel(KERNEL.read_text(), f"example::product<{kind}>")
    assert kernel.compile(capability).resources.local_bytes == 0


CALL = """
template <class T>
void multiply(T* x, T* y, T* out, int heads, int rows, int inner, int columns) {
  using Operand = xpops::Accessor32<T, 4>;
  example::product<T>(Operand{x, {2, heads, rows, inner}, {heads * rows * inner, rows * inner, inner, 1}},
                      Operand{y, {2, heads, inner, columns}, {heads * inner * columns, inner * columns, columns, 1}},
                      Operand{out, {2, heads, rows, columns}, {heads * rows * columns, rows * columns, columns, 1}});
}
"""


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 1, 1), (16, 32, 16), (17, 5, 33)])
def test_products(rows: int, inner: int, columns: int, dtype: Any) -> None:
    random = np.random.default_rng(4)
    x, y = (random.integers(-3, 4, shape).astype(np.float64) for shape in ((2, 3, rows, inner), (2, 3, inner, columns)))
    wanted = (x @ y).astype(dtype)
    arrays = (x.astype(dtype), y.astype(dtype), np.zeros_like(wanted))
    arguments = (
        *((f"{TYPES[dtype]}*", ctypes.c_uint64, each) for each in arrays),
        *(("int", ctypes.c_int, each) for each in (3, rows, inner, columns)),
    )
    blocks = (-(-columns // 16), -(-rows // 16), 2)
    made = Example(
        "product", KERNEL.read_text() + CALL, f"multiply<{TYPES[dtype]}>", arguments, wanted, 2, blocks, (16, 16, 1)
    )
    np.testing.assert_array_equal(emulated(made).astype(np.float64), wanted.astype(np.float64))
