"""NVRTC and nvcc compile the kernel primitives, with all kernels that the emulator runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.helpers.host_compile import NATIVE
from tests.helpers.kps import Case
from tests.helpers.kps_cases import SOURCES
from tests.helpers.kps_examples import ADD, REDUCE
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.plan.strides.divmod import magic

CAPABILITIES = (80, 90, 100)
GUIDE = NATIVE.parent / "docs" / "kps.md"
HEADERS = sorted((NATIVE / "xpops" / "kps").glob("*.cuh"))
NVCC = shutil.which("nvcc")
INSTANCES = """
template __global__ void example::ElementwiseAdd<4, float, double>(const float*, const float*, double*, int);
"""
MAX_LINES = 250
# A host program that constructs configurations from std::vectors, and prints their numbers.
HOST = """
#include <cstdint>
#include <cstdio>
#include <vector>

#include <xpops/kps.cuh>

int main() {
  using namespace xpops::kps;
  const std::vector<int64_t> out{7, 5, 3}, in{7, 1, 3}, strides{-2, 40, 100};
  const BroadcastConfig plain(out, in, 3), strided(out, in, strides, 3);
  for (int i = 0; i < 3; ++i) printf("%lld %lld ", plain.strides[i], strided.strides[i]);
  const FastDivMod large(4000000000u);
  printf("%u %u ", large.multiplier, large.shift);
  printf("%g %g\\n", MaxFunctor<float>().initial(), MinFunctor<double>().initial());
}
"""


# Tuples and vectors of other libraries.
FOREIGN = """
#include <tuple>

#include <xpops/kps.cuh>

struct Sixteenths {
  __device__ float4 operator()(int* state) const { return {*state / 16.0f, 0.25f, 0.5f, 0.75f}; }
};

__global__ void kernel(const double* x, float* y) {
  using namespace xpops::kps;
  using Pair = std::tuple<double, int>;
  Pair pairs[2];
  float numbers[3];
  int state = 1;
  Init<int, Pair, 1, 2>(pairs, 3, 2);
  ReadData<double, 2, 1, Pair, 0>(pairs, x, 64, 2);
  ElementwiseRandom<int, float, 3, Sixteenths>(numbers, Sixteenths(), &state);
  y[threadIdx.x] = std::get<0>(pairs[1]) * std::get<1>(pairs[0]) + numbers[2];
}
"""


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("case", SOURCES, ids=str)
def test_every_kernel(case: Case, capability: int) -> None:
    assert compile_cubin("kps", case.source, capability)


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("source", [ADD + INSTANCES, REDUCE], ids=["add", "reduce"])
def test_every_example(source: str, capability: int) -> None:
    assert compile_cubin("kps", source, capability)


TUPLES = """
#include <xpops/kps/tuple.cuh>

__global__ void kernel(float* y) {
  using namespace xpops::kps;
  Tuple<int, float, double> tuple{1, {2.0f, {3.0}}};
  const auto& constant = tuple;
  get<2>(tuple) = get<0>(constant) + get<1>(constant);
  y[0] = get<2>(constant) + get<1>(tuple);
}
"""


def test_every_value_of_a_tuple() -> None:
    assert compile_cubin("kps", TUPLES, 90)


def test_the_guide() -> None:
    (source,) = re.findall(r"```cuda\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert compile_cubin("kps", source, 90)


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_every_header_alone(header: Path) -> None:
    assert len(header.read_text().splitlines()) <= MAX_LINES
    assert compile_cubin("kps", f'#include <xpops/kps/{header.name}>\nextern "C" __global__ void k() {{}}', 90)


def nvcc(folder: Path, source: str, *options: str) -> Path:
    if NVCC is None:
        pytest.skip("needs nvcc")
    code, made = folder / "kps.cu", folder / "made"
    code.write_text(source)
    command = [NVCC, "-std=c++17", f"-I{NATIVE}", *options, str(code), "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr
    return made


def test_nvcc_takes_every_kernel(tmp_path: Path) -> None:
    """All kernels are in one file, each in its own namespace, for each architecture."""
    parts = ["#include <xpops/kps.cuh>\n#include <xpops/math/complex.cuh>\n"]
    for i, case in enumerate(SOURCES):
        lines = case.source.replace('extern "C" ', "").splitlines()
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        parts.append(f"namespace case{i} {{\n{body}\n}}\n")
    parts += [ADD + INSTANCES, REDUCE]
    gencode = [f"-gencode=arch=compute_{each},code=sm_{each}" for each in CAPABILITIES]
    assert nvcc(tmp_path, "".join(parts), "-c", "--threads=2", *gencode).stat().st_size


def test_nvcc_makes_configurations_on_the_host(tmp_path: Path) -> None:
    program = nvcc(tmp_path, HOST)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)
    wanted = [1, -2, 0, 0, 7, 100, *magic(4_000_000_000, 32), "-inf", "inf"]
    assert done.stdout.split() == [str(each) for each in wanted]


def test_nvcc_takes_tuples_of_the_standard_library(tmp_path: Path) -> None:
    assert nvcc(tmp_path, FOREIGN, "-c", "--expt-relaxed-constexpr").stat().st_size
