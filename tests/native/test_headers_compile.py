"""NVRTC compiles every header alone, and every functor at its dtypes, for all supported architectures."""

import re
from pathlib import Path

import pytest
from functor_table import FUNCTORS, HEADERS, PAIRED, cpp, include

nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
NATIVE = Path(__file__).resolve().parents[2] / "native"
ARCHITECTURES = (80, 90, 100)
# Of a header and all that it includes, comments aside. 1650 lines take NVRTC about as long as an empty kernel. A limit
# on the time failed at random: the ratio is between 0.9 and 1.6, depending on the machine.
MAX_PARSED = 1750
MAX_LINES = 250
KINDS = {"bool": "bool", "int8": "int", "uint64": "int", "float32": "f32", "float64": "f64", "complex64": "c64"}


def compile_cubin(source: str, arch: int) -> bytes:
    status, program = nvrtc.nvrtcCreateProgram(source.encode(), b"test.cu", 0, [], [])
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS
    options = [f"-arch=sm_{arch}", "-std=c++17", f"-I{NATIVE}"]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
    size = nvrtc.nvrtcGetProgramLogSize(program)[1]
    log = bytes(size + 2)  # NVRTC writes to it, so not of length 1: Python shares those
    nvrtc.nvrtcGetProgramLog(program, log)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, log.decode()
    assert b"warning" not in log, log.decode()
    image = b" " * nvrtc.nvrtcGetCUBINSize(program)[1]
    nvrtc.nvrtcGetCUBIN(program, image)
    nvrtc.nvrtcDestroyProgram(program)
    return image


EMPTY = 'extern "C" __global__ void k() {}\n'


def kernel(header: str, uses: list[tuple[str, int, str]]) -> str:
    source = include(header, [d for _, _, d in uses]) + "using namespace xpops;\n"
    for i, (name, arity, dtype) in enumerate(uses):
        t = cpp(dtype)
        args = ["x[i]", "y[i]", "z[i]"][:arity] if name != "Where" else ["i < 7", "y[i]", "z[i]"]
        result = f"decltype({name}()({', '.join(a.replace('[i]', '[0]').replace('i < 7', 'true') for a in args)}))"
        source += (
            f'extern "C" __global__ void k{i}(const {t}* x, const {t}* y, const {t}* z, void* o) {{\n'
            f"  int i = threadIdx.x;\n  static_cast<{result}*>(o)[i] = {name}()({', '.join(args)});\n}}\n"
        )
    return source


def included(path: Path) -> set[Path]:
    """A header, and all headers that it includes."""
    found, rest = set(), [path]
    while rest:
        each = rest.pop()
        if each not in found:
            found.add(each)
            names = re.findall(r'^\s*#include ["<]xpops/(.+)[">]', each.read_text(), re.MULTILINE)
            rest += [NATIVE / "xpops" / name for name in names]
    return found


@pytest.mark.parametrize("header", HEADERS)
def test_header_alone(header):
    path = NATIVE / "xpops" / f"{header}.cuh"
    assert len(path.read_text().splitlines()) <= MAX_LINES
    lines = [line.strip() for each in included(path) for line in each.read_text().splitlines()]
    assert sum(bool(line) and not line.startswith("//") for line in lines) <= MAX_PARSED
    compile_cubin(f'#include "xpops/{header}.cuh"\n' + EMPTY, 90)


def test_no_header_is_missing_from_the_table():
    found = {str(p.relative_to(NATIVE / "xpops").with_suffix("")) for p in (NATIVE / "xpops" / "math").rglob("*.cuh")}
    assert found <= set(HEADERS)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("header", sorted({h for h, _, _ in FUNCTORS.values()}))
def test_every_functor(header, arch):
    uses = [(n, k, d) for n, (h, k, dtypes) in FUNCTORS.items() if h == header for d in dtypes if d in KINDS]
    if arch != 90:  # one architecture sees all dtypes, the others one of each functor
        uses = [u for u in uses if u[2] in ("bool", "int8", "float32")]
    compile_cubin(kernel(header, uses), arch)


@pytest.mark.parametrize("arch", [75, *ARCHITECTURES])
def test_paired_functors(arch):
    source = '#include "xpops/math/arithmetic.cuh"\nusing namespace xpops;\n'
    for pair in ("float16x2", "bfloat16x2"):
        for name, arity in PAIRED.items():
            args = ", ".join(["x[0]", "x[1]"][:arity])
            source += (
                f'extern "C" __global__ void {name}_{pair}(const {pair}* x, {pair}* o) '
                f"{{ o[0] = {name}().apply2({args}); }}\n"
            )
    compile_cubin(source, arch)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_casts(arch):
    types = [
        "bool",
        "int8",
        "int64",
        "uint32",
        "uint64",
        "float16",
        "bfloat16",
        "float8_e4m3fn",
        "float8_e5m2",
        "float",
        "double",
    ]
    types += ["complex<float>", "complex<double>"]
    source = '#include "xpops/core/cast.cuh"\nusing namespace xpops;\nextern "C" __global__ void k(void** p) {\n'
    for n, (a, b) in enumerate((a, b) for a in types for b in types):
        if arch == 90 or "16" in a + b:
            source += f"  static_cast<{b}*>(p[{n}])[1] = cast<{b}>(static_cast<{a}*>(p[{n}])[0]);\n"
    compile_cubin(source + "}\n", arch)
