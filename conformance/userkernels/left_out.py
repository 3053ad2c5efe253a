"""Tests of cupy that ask for something that xpops decides otherwise, as patterns of ``file::test``.

Brackets are round in these names. The report lists the patterns.
"""

from __future__ import annotations

_CORE = "the test calls cupy's private functions, not a user-defined kernel"
_CODES = "the test reads cupy's private table of compiled codes"
_JITIFY = "jitify is an option of cupy; xpops finds the standard's headers itself"
_NVCC = "the backend is nvcc; xpops compiles with NVRTC only, and the same test runs with the backend nvrtc"
_CACHE = "the test counts the entries of cupy's own cache; tests/unit/test_cache.py tests that of xpops"
_FILE = "the test loads a cubin or PTX from a file; xpops compiles source"
_ERROR = "the test wants an error type of cupy; xpops raises ValueError or CompileError"
_COMPLEX = "translate_cucomplex replaces names in the source; xpops compiles it as it is"

LEFT_OUT = {
    "test_elementwise.py::TestElementwise::*": _CORE,
    "test_elementwise.py::TestElementwiseType::*": "the test is of cupy.array and its dtypes",
    "test_reduction.py::TestSimpleReductionFunction*": _CORE,
    "test_reduction.py::TestArgumentTypes::*": _CORE,
    "test_reduction.py::*test_simple_cached_code": _CORE,
    "test_reduction.py::*test_cached_code": _CODES,
    "test_userkernel.py::*test_cached_code": _CODES,
    "test_userkernel.py::TestElementwiseKernelTexture*": "a parameter is a texture object, which has no dtype",
    "test_raw.py::* (jitify)*": _JITIFY,
    "test_raw.py::*, jitify)*": _JITIFY,
    "test_raw.py::TestRawJitify::*": _JITIFY,
    "test_raw.py::test_jitify*": _JITIFY,
    "test_raw.py::TestRaw::*NVCC*": _NVCC,
    "test_raw.py::TestCachePayload::*": _CACHE,
    "test_raw.py::TestRawNameExpressionCache::*": _CACHE,
    "test_raw.py::*test_load_*": _FILE,
    "test_raw.py::*test_module_load_failure*": _FILE,
    "test_raw.py::*test_context_switch_RawModule3*": _FILE,
    "test_raw.py::*test_context_switch_RawModule4*": _FILE,
    "test_raw.py::*test_cu*Complex*": _COMPLEX,
    "test_raw.py::*test_get_function_failure*": _ERROR,
    "test_raw.py::*test_invalid_compiler_flag*": _ERROR,
    "test_raw.py::*test_template_failure*": _ERROR,
    "test_raw.py::*test_dynamical_parallelism*": "kernels that launch kernels need linked device code",
    "test_raw.py::*test_const_memory*": "get_global: xpops gives no address of a module's variable",
    "test_raw.py::*test_raw_pointer*": "an argument is cupy's MemoryPointer; xpops takes arrays, whose dtype it checks",
    "test_raw.py::*test_kernel_attributes*": "attributes of the driver; xpops has registers, shared_bytes, max_threads",
    "test_raw.py::*test_compile_*": "compile(log_stream=) writes warnings; xpops' compile takes a capability",
    "test_raw.py::TestRawPicklable::*": "kernels of xpops are not pickled; their source is",
}
