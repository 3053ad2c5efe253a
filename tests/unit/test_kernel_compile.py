"""User-defined kernels compile for every supported architecture, and errors refer to the user's lines."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from xpops.api.kernel import ElementwiseKernel, ReductionKernel, ScanKernel
from xpops.api.kernel.elementwise import user_call
from xpops.api.kernel.functor import functor_call
from xpops.core import config
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import layout_of
from xpops.engine.cuda.runtime import cache
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.tuning import reduce_policy, scan_policy, tuning_of
from xpops.engine.cuda.user.arguments import Parameter, check_array, parameters_of, scalar
from xpops.engine.cuda.user.elementwise import user_source
from xpops.engine.cuda.user.raw import configuration
from xpops.engine.cuda.user.reduce import in_one_source, mapped, of_nothing, reduce_source, value_of
from xpops.engine.cuda.user.scan import scan_source
from xpops.plan.functor import parse_functor
from xpops.plan.user import bind_dtypes, call_shape

CAPABILITIES = (80, 90, 100)
GPU = Device("cuda")

SCALE = """
#include <xpops/core/types.cuh>

template <class T>
__global__ void scale(T* x, T by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

struct Pair { int first; float second; };

extern "C" __global__ void __launch_bounds__(256) plain(const float* __restrict__ x, /* the result, */ double* y,
                                                        xpops::uint32 n, Pair pair, bool twice, complex<float> z) {
  if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] * WEIGHT + pair.second;
}
"""


def module(source: str, **options: Any) -> Any:
    return xp.kernel.RawModule(source, **options)._module


@pytest.fixture
def cold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache on disk."""
    monkeypatch.setattr(config, "cache_directory", lambda: tmp_path)
    cache.disk.cache_clear()
    yield
    cache.disk.cache_clear()


def test_options_in_two_texts(tmp_path: Path) -> None:
    (tmp_path / "mine.h").write_text("constexpr int kMine = 3;")
    source = "#include <mine.h>\n__global__ void k(int* x) { static_assert(dcq == 1); *x = dcq + kMine; }"
    two = ["-D", "dcq=1", "-I", str(tmp_path), "--std", "c++20", "--ptxas-options=-O2"]
    one = ["-Ddcq=1", f"-I{tmp_path}", "--std=c++20", "--ptxas-options=-O2"]
    assert module(source, options=two).cubin(90) == module(source, options=one).cubin(90)


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_modules(capability: int) -> None:
    source = SCALE.replace("complex<float>", "xpops::complex<float>")
    cubin, names = module(
        source, options=["-DWEIGHT=2", "--std=c++20"], name_expressions=["scale<float>", "scale<double>"]
    ).cubin(capability)
    assert cubin.startswith(b"\x7fELF")
    assert b"plain" in cubin
    assert names["scale<float>"] != names["scale<double>"]
    assert all(name in cubin for name in names.values())


def test_modules_are_kept_on_disk_by_all_that_they_are(cold: None) -> None:
    source = 'extern "C" __global__ void nothing(int* x) { *x = N; }'
    before = cache.compilations
    for options in (["-DN=1"], ["-DN=2"], ["-DN=1"]):
        module(source, options=options).cubin(90)
    assert cache.compilations - before == 2


def test_headers_of_others_are_in_the_key(cold: None, tmp_path: Path) -> None:
    """A module is compiled again if a header has changed that it includes, directly, indirectly or by an option."""
    source = 'extern "C" __global__ void nothing(int* x) { *x = N + M; }'
    (tmp_path / "deep").mkdir()
    (tmp_path / "mine.h").write_text('#define N 1\n#include "deep/more.h"\n')
    (tmp_path / "deep/more.h").write_text('#  include "beside.h"\n')
    (tmp_path / "deep/beside.h").write_text("#define M 1\n")
    for text, option in (('#include "mine.h"\n', "-DX"), ("#include <mine.h>\n", "-DX"), ("", "--pre-include=mine.h")):
        for name, content in (("mine.h", '#define N 2\n#include "deep/more.h"\n'), ("deep/beside.h", "#define M 2\n")):
            before = cache.compilations
            for _ in range(2):
                module(text + source, options=[f"-I{tmp_path}", option]).cubin(90)
            assert cache.compilations - before == 1
            (tmp_path / name).write_text(f"{content}// {text[9:-1]} {option}\n")
    before = cache.compilations
    for _ in range(2):  # what a macro names is not known
        module("#define MINE <mine.h>\n#include MINE\n" + source, options=[f"-I{tmp_path}"]).cubin(90)
    assert cache.compilations - before == 2


def test_errors_point_into_the_source() -> None:
    source = 'extern "C" __global__ void f(int* x) {\n  *x = 1;\n  *x = nowhere;\n}\n'
    with pytest.raises(xp.CompileError, match=r"spoiled\.cu\(3\): error: identifier \"nowhere\"") as raised:
        module(source, name="spoiled").cubin(90)
    assert "   3 |   *x = nowhere;" in str(raised.value)


def test_what_a_source_says_of_its_kernels() -> None:
    assert parameters_of(SCALE, "plain") == (
        Parameter("x", True, True, dt.float32),
        Parameter("y", True, False, dt.float64),
        Parameter("n", False, False, dt.uint32),
        Parameter("pair", False, False, None),
        Parameter("twice", False, False, dt.bool),
        Parameter("z", False, False, dt.complex64),
    )
    assert parameters_of(SCALE, "scale<float>") == (
        Parameter("x", True, False, dt.float32, "T"),
        Parameter("by", False, False, dt.float32, "T"),
        Parameter("n", False, False, dt.int32),
    )
    assert parameters_of('extern "C" __global__ void f(void) {}', "f") == ()
    assert parameters_of('extern "C" __global__ void f(float*, unsigned long long) {}', "f") == (
        Parameter("", True, False, dt.float32),
        Parameter("", False, False, dt.uint64),
    )
    assert parameters_of("__global__ void f(const pair<float, int>* x, grid<2, 3> g, int n) {}", "f") == (
        Parameter("x", True, True, None),
        Parameter("g", False, False, None),
        Parameter("n", False, False, dt.int32),
    )
    assert parameters_of("__global__ void f(int n, float (&x)[4]) {}", "f") is None
    assert parameters_of("", "f") is None


SCALARS = [
    (3, dt.int32, np.int32(3)),
    (True, dt.int64, np.int64(1)),
    (3, dt.float16, np.float16(3)),
    (0.1, dt.bfloat16, ml_dtypes.bfloat16(0.1)),
    (2, dt.complex64, np.complex64(2)),
    (np.uint8(7), dt.uint8, np.uint8(7)),
    (False, dt.bool, np.bool_(False)),
]


@pytest.mark.parametrize(("value", "dtype", "wanted"), SCALARS)
def test_scalars_are_what_the_source_says(value: Any, dtype: Any, wanted: Any) -> None:
    assert bytes(scalar(value, Parameter("n", False, False, dtype), "f: args[0]")) == wanted.tobytes()


def test_scalars_that_go_as_they_are() -> None:
    class Pair(ctypes.Structure):
        _fields_ = (("first", ctypes.c_int), ("second", ctypes.c_float))

    pair, unknown = Pair(1, 2.0), Parameter("pair", False, False, None)
    assert scalar(pair, unknown, "f: args[0]") is pair
    assert bytes(scalar(bytes(pair), unknown, "f: args[0]")) == bytes(pair)
    assert bytes(scalar(np.float32(2), None, "f: args[0]")) == np.float32(2).tobytes()


REFUSED = [
    (2.5, Parameter("n", False, False, dt.int32), TypeError, "is a Python float; accepted: int32, as the kernel has"),
    (1j, Parameter("n", False, False, dt.float64), TypeError, "is a Python complex; accepted: float64"),
    (2**31, Parameter("n", False, False, dt.int32), OverflowError, "is 2147483648; accepted: what int32 holds"),
    (-1, Parameter("n", False, False, dt.uint8), OverflowError, "is -1; accepted: what uint8 holds"),
    (np.float64(1), Parameter("n", False, False, dt.float32), TypeError, "is a NumPy float64; accepted: float32"),
    (1, Parameter("n", False, False, None), TypeError, "the source does not say its type; accepted: a NumPy scalar"),
    (1, None, TypeError, "the source does not say its type"),
    (1, Parameter("x", True, False, dt.float32), TypeError, "is 1; the kernel takes a pointer; accepted: an array"),
]


@pytest.mark.parametrize(("value", "parameter", "error", "message"), REFUSED)
def test_scalars_that_are_refused(value: Any, parameter: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        scalar(value, parameter, "f: args[0]")


def test_arrays_are_of_the_dtype_that_the_source_has() -> None:
    pointer = Parameter("x", True, False, dt.float32)
    check_array(dt.float32, pointer, "f: args[0]")
    check_array(dt.float16, Parameter("x", True, True, dt.uint16), "f: args[0]")
    check_array(dt.float16, Parameter("x", True, True, None), "f: args[0]")
    check_array(dt.float16, None, "f: args[0]")
    with pytest.raises(TypeError, match="is an array of float64; accepted: float32, as the kernel has it"):
        check_array(dt.float64, pointer, "f: args[0]")
    for dtype, bits in ((dt.float32, dt.uint16), (dt.float16, dt.uint32), (dt.complex64, dt.uint8)):
        with pytest.raises(TypeError, match=f"is an array of {dtype}; accepted: {bits}, as the kernel has it"):
            check_array(dtype, Parameter("x", True, True, bits), "f: args[0]")
    with pytest.raises(TypeError, match="is an array of float16; accepted: int16"):
        check_array(dt.float16, Parameter("x", True, True, dt.int16), "f: args[0]")
    with pytest.raises(TypeError, match="is an array; the kernel takes int32; accepted: a scalar"):
        check_array(dt.int32, Parameter("n", False, False, dt.int32), "f: args[0]")


def test_raw_refusals() -> None:
    x = xp.zeros(4, dtype=xp.float32, device="cpu")
    kernel = xp.kernel.RawKernel('extern "C" __global__ void f(float* x, int n) {}', "f")
    with pytest.raises(xp.DeviceError, match="f: the arrays are on cpu; kernels of one's own need a GPU"):
        kernel(1, 32, (x, 4))
    with pytest.raises(TypeError, match="f: 1 arguments; accepted: 2, as the kernel has"):
        kernel(1, 32, (x,))
    with pytest.raises(ValueError, match=r"f: grid is \(1, 2, 3, 4\); accepted: one to three integers, 0 or more each"):
        kernel((1, 2, 3, 4), 32, (x, 4))
    with pytest.raises(ValueError, match="f: block is 0; accepted: one to three integers, 1 or more each"):
        kernel(1, 0, (x, 4))
    with pytest.raises(ValueError, match=r"f: cluster is 1\.5; accepted"):
        kernel(1, 1, (x, 4), cluster=1.5)
    with pytest.raises(TypeError, match=r"f: args\[0\] is a list; accepted: an array"):
        kernel(1, 1, ([1.0], 4))
    with pytest.raises(TypeError, match="RawModule: source is a bytes; accepted: text"):
        xp.kernel.RawModule(b"")
    with pytest.raises(TypeError, match="RawModule: options is '-G'; accepted: a sequence of texts"):
        xp.kernel.RawModule("", options="-G")
    for given in (["N=1"], ["-DA", "B"], ["-DA=1", "B"], ["--std=c++20", "B"]):
        with pytest.raises(ValueError, match=f"RawModule: options has '{given[-1]}'; accepted: options, which begin"):
            xp.kernel.RawModule("", options=given)
    for given in (["-arch", "sm_90"], ["--relocatable-device-code=true"], ["-dc"], ["-ptx"]):
        with pytest.raises(ValueError, match=f"RawModule: options has '{given[0]}.*'; accepted: options that keep"):
            xp.kernel.RawModule("", options=given)
    with pytest.raises(ValueError, match="RawModule: options has '-arch=sm_90'"):
        xp.kernel.RawModule("", options=["-arch=sm_90"])
    assert repr(kernel) == "<kernel f>"
    assert repr(xp.kernel.RawModule("")) == "<module module>"


def vector(dtype: Any, *shape: int, strides: Any = None) -> Any:
    return layout_of(dtype, shape or (1 << 20,), strides, GPU)


def source_of(kernel: ElementwiseKernel, *specs: Any, size: int | None = None, given: bool = False) -> str:
    return user_source(user_call(kernel._operation, specs, size, given, GPU), tuning_of(90).elementwise).source


AXPY = ElementwiseKernel("T a, T x, T y", "T z", "z = a * x + y", "axpy")
SQUARE, TURNED = (512, 512), (1, 512)
OPERATIONS: dict[str, str] = {
    "halves": source_of(AXPY, float, vector(dt.float16), vector(dt.float16)),
    "bytes": source_of(AXPY, int, vector(dt.uint8), vector(dt.uint8)),
    "rows": source_of(AXPY, float, vector(dt.float32, 1 << 20, 3), vector(dt.float32, 3)),
    "transposed": source_of(AXPY, float, vector(dt.float32, *SQUARE), vector(dt.float32, *SQUARE, strides=TURNED)),
    "boxed": source_of(
        AXPY, float, vector(dt.int16, 4, 12, 999, 3), vector(dt.int16, 4, 12, 999, 3, strides=(3, 12, 144, 1))
    ),
    "complex": source_of(
        ElementwiseKernel("T x, float32 a", "T y, bool b", "y = 2 * exp(x) / a; y *= 3; b = x == y"),
        vector(dt.complex64),
        vector(dt.float32),
    ),
    "raw": source_of(
        ElementwiseKernel("raw T x, U y", "T z", "z = x[n - 1 - i] + y + sqrt(float(_ind.size()))"),
        vector(dt.bfloat16, *SQUARE, strides=TURNED),
        vector(dt.int8, 7, 11),
    ),
    "places": source_of(
        ElementwiseKernel("T x, raw T y", "T z", "z = x + y[_ind.get()] + T(y.strides()[0] / _ind.size())"),
        vector(dt.float16, *SQUARE, strides=TURNED),
        vector(dt.float16, *SQUARE),
    ),
    "around": source_of(
        ElementwiseKernel(
            "T x, raw T y", "T z", "if (x < 0) continue; z = x * first",
            loop_prep="T first = y[0]", after_loop="if (first > 2) z += first",
        ),
        vector(dt.float32, 9, 9, strides=(1, 9)),
        vector(dt.float32, 7),
    ),
    "atomics": source_of(
        ElementwiseKernel("int64 place, T x", "raw T y", "atomicAdd(&y[place], x)"),
        vector(dt.int64),
        vector(dt.float32),
        vector(dt.float32, 64),
        given=True,
    ),
    "given": source_of(
        ElementwiseKernel("T x", "T y, T z", "y += x; z = i"), *[vector(dt.float32)] * 3, given=True
    ),
    "names of ours": source_of(
        ElementwiseKernel("T run", "T y", "y = run * A", preamble="enum Mode { A, B };\nstruct Operand { Mode m; };"),
        vector(dt.float32),
    ),
    "truth": source_of(ElementwiseKernel("bool x", "raw bool y", "y[i] |= x"), *[vector(dt.bool)] * 2, given=True),
    "scalars": source_of(ElementwiseKernel("T a, complex64 b", "T y", "y = a + i + b.re"), float, complex, size=9),
}  # fmt: skip


def test_code_with_shared_memory_is_not_transposed() -> None:
    body = "__shared__ float kept[12000]; kept[threadIdx.x] = x; z = kept[threadIdx.x] + y"
    kernel = ElementwiseKernel("float32 x, float32 y", "float32 z", body)
    for shape, strides in ((SQUARE, TURNED), ((4, 12, 999, 3), (1, 4, 48, 47952))):
        source = source_of(kernel, vector(dt.float32, *shape), vector(dt.float32, *shape, strides=strides))
        assert compile_cubin("kept", source, 90)


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str, capability: int) -> None:
    assert ("tiled<" in OPERATIONS[name]) == (name == "transposed")
    assert ("boxed<" in OPERATIONS[name]) == (name == "boxed")
    assert compile_cubin(name, OPERATIONS[name], capability)


def test_errors_point_into_an_operation() -> None:
    preamble = "__device__ float half_of(float x) {\n  return x / nothing;\n}"
    kernel = ElementwiseKernel("T x", "T y", "T z = x;\ny = z + nowhere;", "spoiled", preamble=preamble)
    with pytest.raises(xp.CompileError) as raised:
        compile_cubin("spoiled", source_of(kernel, vector(dt.float32)), 90)
    assert 'spoiled.operation(2): error: identifier "nowhere"' in raised.value.log
    assert 'spoiled.preamble(2): error: identifier "nothing"' in raised.value.log
    assert "   2 | y = z + nowhere;" in str(raised.value)
    assert "   2 |   return x / nothing;" in str(raised.value)


def test_behind_an_operation_lines_are_those_of_the_source() -> None:
    source = source_of(ElementwiseKernel("T x", "T y", "y = x;\nT more = y;"), vector(dt.float32))
    with pytest.raises(xp.CompileError) as raised:
        compile_cubin("kernel", source.replace("run(x, y)", "run(x, nowhere)"), 90)
    number = next(i for i, line in enumerate(source.splitlines(), 1) if "run(x, y)" in line)
    assert f'kernel.cu({number}): error: identifier "nowhere"' in raised.value.log
    assert f"{number:4} |     XpopsOperation::run(x, nowhere);" in str(raised.value)


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_functors(capability: int) -> None:
    text = "struct Sum {\n  template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x + y; }\n};"
    for specs in ((vector(dt.float16), vector(dt.float16)), (vector(dt.complex64), float), (vector(dt.int8), int)):
        call = functor_call(parse_functor(text, None, ""), specs, None, GPU)
        assert compile_cubin("Sum", user_source(call, tuning_of(capability).elementwise).source, capability)
    call = functor_call(parse_functor(text, None, ""), specs[:1], None, GPU)
    source = user_source(call, tuning_of(capability).elementwise).source
    with pytest.raises(xp.CompileError, match=r"Sum\.preamble\(2\)"):
        compile_cubin("Sum", source.replace("return x + y;", "return x + nowhere;"), capability)


def reduction_source(kernel: ReductionKernel, x: Any, axis: int, strides: tuple[int, ...]) -> str:
    (text,) = kernel._plan.args
    return reduce_source(text, bind_dtypes(text.map, (x,), ()), x, (axis,), strides, True, reduce_policy(90, 132))[1]


PAIR = "struct Pair { float low, high; };"


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_reductions(capability: int) -> None:
    norm = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0")
    for dtype in (dt.float16, dt.float32, dt.float64):
        for shape, axis, strides in (((1 << 22,), 0, (0,)), ((64, 1 << 16), 0, (0, 1)), ((1 << 16, 33), 1, (1, 0))):
            assert compile_cubin("norm", reduction_source(norm, vector(dtype, *shape), axis, strides), capability)
    total = ReductionKernel("T x", "complex128 y", "x", "a + b", "y = a * 2", "0")
    assert compile_cubin("total", reduction_source(total, vector(dt.complex64, 999), 0, (0,)), capability)
    text = ("Pair{x, x}", "Pair{min(a.low, b.low), max(a.high, b.high)}", "y = a.high - a.low", "Pair{1e30f, -1e30f}")
    spread = ReductionKernel("T x", "T y", *text, reduce_type="Pair", preamble=PAIR)
    assert compile_cubin("spread", reduction_source(spread, vector(dt.float32), 0, (0,)), capability)
    for dtype in (dt.int8, dt.bfloat16, dt.float64):
        first = ReductionKernel("T x", "T y", "x", "a", "y = a", None)
        for shape, axis, strides in (((1 << 22,), 0, (0,)), ((64, 1 << 16), 0, (0, 1)), ((1 << 16, 33), 1, (-1, 0))):
            assert compile_cubin("first", reduction_source(first, vector(dtype, *shape), axis, strides), capability)
    for identity, size in (("Large{}", 33), ("", 32)):
        large = f"struct Large {{ char bytes[{size}]; }};"
        text = ("Large{}", "a", "y = a.bytes[0]", identity)
        kernel = ReductionKernel("T x", "T y", *text, reduce_type="Large", preamble=large)
        with pytest.raises(xp.CompileError, match="states of up to 32 bytes"):
            compile_cubin("large", reduction_source(kernel, vector(dt.float32), 0, (0,)), capability)


def in_one(kernel: ReductionKernel, ins: tuple[Any, ...], axis: int, strides: tuple[int, ...]) -> str:
    """The source for several operands."""
    (text,) = kernel._plan.args
    types, value = bind_dtypes(text.map, ins, ()), value_of(ins, call_shape(text.map, ins, (), None))
    return in_one_source(text, types, ins, value, (axis,), strides, reduce_policy(90, 132)).source


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_reductions_of_several_operands(capability: int) -> None:
    dot = ReductionKernel("T x, U y, T s", "T z", "x * T(y) + s", "a + b", "z = a", "0")
    for first, second in ((dt.float16, dt.bfloat16), (dt.float32, dt.float32), (dt.complex64, dt.int8)):
        for shape, other, axis, strides in (
            ((1 << 22,), (1 << 22,), 0, (0,)),
            ((64, 1 << 16), (1 << 16,), 0, (0, 1)),
            ((1 << 16, 33), (1 << 16, 1), 1, (1, 0)),
        ):
            ins = (vector(first, *shape), vector(second, *other), float)
            assert compile_cubin("dot", in_one(dot, ins, axis, strides), capability)
    text = ("Pair{x, y}", "Pair{min(a.low, b.low), max(a.high, b.high)}", "z = a.high - a.low")
    for identity in ("Pair{1e30f, -1e30f}", None):
        spread = ReductionKernel("T x, T y", "T z", *text, identity, reduce_type="Pair", preamble=PAIR)
        ins = (vector(dt.float32, 999, 33), vector(dt.float32, 33))
        assert compile_cubin("spread", in_one(spread, ins, 1, (1, 0)), capability)


PARTS = ("map_expr", "reduce_expr", "post_map_expr", "identity")


@pytest.mark.parametrize("operands", [1, 2])
@pytest.mark.parametrize("part", PARTS)
def test_errors_point_into_a_reduction(part: str, operands: int) -> None:
    texts = dict(zip(PARTS, ("x", "a + b", "y = a", "0"), strict=True))
    texts[part] += "\n + nowhere"
    kernel = ReductionKernel("T x, T w"[: 5 * operands - 2], "T y", *texts.values(), name="spoiled")
    x = vector(dt.float32)
    source = reduction_source(kernel, x, 0, (0,)) if operands == 1 else in_one(kernel, (x, x), 0, (0,))
    with pytest.raises(xp.CompileError) as raised:
        compile_cubin("spoiled", source, 90)
    assert f'spoiled.{part}(2): error: identifier "nowhere"' in raised.value.log
    assert "   2 |  + nowhere" in str(raised.value)


class Sources(list[str]):
    """An engine that records sources."""

    context = SimpleNamespace(capability=90)

    def launcher(self, name: str, source: str, *_: Any) -> None:
        self.append(source)


@pytest.mark.parametrize("part", ["map_expr", "identity", "post_map_expr"])
def test_errors_point_into_what_reductions_do_before_and_instead(part: str) -> None:
    texts = dict(zip(PARTS, ("x * i", "a + b", "y = a", "0"), strict=True))
    texts[part] = f"nowhere +\n nothing + {texts[part]} // and so on"
    (text,), x = ReductionKernel("T x", "T y", *texts.values(), name="spoiled")._plan.args, vector(dt.float32)
    types, engine = bind_dtypes(text.map, (x,), ()), Sources()
    if part == "map_expr":
        mapped(engine, text, types, (x,), x)  # type: ignore[arg-type]
    else:
        of_nothing(engine, text, types, x)  # type: ignore[arg-type]
    with pytest.raises(xp.CompileError) as raised:
        compile_cubin("spoiled", *engine, 90)
    for line, name in ((1, "nowhere"), (2, "nothing")):
        assert f'spoiled.{part}({line}): error: identifier "{name}"' in raised.value.log
    assert f"   1 | {texts[part].splitlines()[0]}" in str(raised.value)
    assert "spoiled.operation" not in str(raised.value)


def test_launches_with_attributes() -> None:
    from cuda.bindings import driver

    assert hasattr(driver, "cuFuncGetParamInfo")
    wish = configuration((8, 2, 1), (32, 1, 1), 1024, 7, True, (2, 1, 1))
    assert (wish.gridDimX, wish.gridDimY, wish.blockDimX, wish.sharedMemBytes, int(wish.hStream)) == (8, 2, 32, 1024, 7)
    cooperative, cluster = wish.attrs
    assert cooperative.value.cooperative == 1
    assert (cluster.value.clusterDim.x, cluster.value.clusterDim.z) == (2, 1)
    assert configuration((1, 1, 1), (1, 1, 1), 0, 0, False, None).numAttrs == 0


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_functors_of_pairs(capability: int) -> None:
    text = """
    struct Sum {
      template <class T> XPOPS_DEVICE T operator()(T x, T y) const { return x + y; }
      template <class P> XPOPS_DEVICE P apply2(P x, P y) const { return xpops::packed::add(x, y); }
    };
    """
    for dtype, paired in ((dt.float16, True), (dt.bfloat16, True), (dt.float32, False)):
        specs = (vector(dtype), vector(dtype))
        source = user_source(
            functor_call(parse_functor(text, None, ""), specs, None, GPU), tuning_of(90).elementwise
        ).source
        assert ("Pairs<" in source) == paired
        assert compile_cubin("Sum", source, capability)


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_scans(capability: int) -> None:
    (highest,) = ScanKernel("T x", "T y", "x", "a > b ? a : b", "y = a")._plan.args
    for dtype in (dt.float16, dt.float64):
        for shape, axis in (((1 << 22,), 0), ((1 << 16, 64), 1), ((1 << 16, 64), 0)):
            x = vector(dtype, *shape)
            source = scan_source(highest, bind_dtypes(highest.map, (x,), ()), x, axis, x, scan_policy(90, 132))[1]
            assert compile_cubin("highest", source, capability)
    (extremes,) = ScanKernel(
        "T x", "T y", "Pair{x, x}", "Pair{min(a.low, b.low), max(a.high, b.high)}", "y = a.high - a.low",
        scan_type="Pair", preamble=PAIR,
    )._plan.args  # fmt: skip
    for shape, axis in (((1 << 22,), 0), ((1 << 16, 64), 1), ((1 << 16, 64), 0)):
        x = vector(dt.float32, *shape)
        source = scan_source(extremes, bind_dtypes(extremes.map, (x,), ()), x, axis, x, scan_policy(90, 132))[1]
        assert compile_cubin("extremes", source, capability)
    (spoiled,) = ScanKernel("T x", "T y", "x", "a +\n nowhere", "y = a", "spoiled")._plan.args
    source = scan_source(spoiled, bind_dtypes(spoiled.map, (x,), ()), x, 0, x, scan_policy(90, 132))[1]
    with pytest.raises(xp.CompileError, match=r"spoiled\.scan_expr\(2\): error: identifier"):
        compile_cubin("spoiled", source, capability)
