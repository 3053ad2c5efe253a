"""The kernel primitives on a GPU, against NumPy."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.kps import Case, Shape
from tests.helpers.kps_cases import CASES
from tests.helpers.kps_examples import EXAMPLES, Example
from xpops.engine import engine_of
from xpops.engine.cuda.runtime.compile import compile_cubin, options_for
from xpops.engine.cuda.runtime.driver import check
from xpops.engine.cuda.runtime.headers import headers_of
from xpops.engine.cuda.runtime.launch import Function


@cache
def function(source: str, device: Any) -> Function:
    context = engine_of(device).context  # type: ignore[attr-defined]  # the CUDA engine's
    return Function(compile_cubin("kps", source, context.capability), context, False)


def launch(handle: Any, device: Any, grid: Shape, block: Shape, arguments: list[Any]) -> None:
    """Run a kernel on ctypes arguments, and wait."""
    from cuda.bindings import driver

    pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(each) for each in arguments))
    with engine_of(device).context:  # type: ignore[attr-defined]  # the CUDA engine's
        check(driver.cuLaunchKernel(handle, *grid, *block, 0, 0, ctypes.addressof(pointers), 0), "launching")
        check(driver.cuCtxSynchronize(), "running")


def address(x: Any) -> int:
    return engine_of(x.device).address(x._data)


def on(device: Any, host: Any) -> Any:
    """An array's copy on the GPU; of a 0-d array or an empty one, too."""
    return xp.asarray(np.ascontiguousarray(host), device=device, copy=True)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, cuda: Any) -> None:
    arrays = [on(cuda, each) for each in (*case.inputs, *case.outputs)]
    params = (ctypes.c_uint64 * len(arrays))(*map(address, arrays))
    launch(function(case.source, cuda).handle, cuda, case.grid, case.block, [params])
    case.check(tuple(each.to_numpy() for each in arrays[len(case.inputs) :]))


@cache
def instance(source: str, name: str, capability: int) -> tuple[bytes, bytes]:
    """The cubin of one instance of a kernel template, and the name that it bears there."""
    from cuda.bindings import nvrtc

    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"example.cu", 0, None, None)
    nvrtc.nvrtcAddNameExpression(program, name.encode())
    options = [option.encode() for option in options_for(capability, headers_of(source))]
    (error,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert error == nvrtc.nvrtcResult.NVRTC_SUCCESS
    _, lowered = nvrtc.nvrtcGetLoweredName(program, name.encode())
    cubin = bytes(nvrtc.nvrtcGetCUBINSize(program)[1])
    nvrtc.nvrtcGetCUBIN(program, cubin)
    lowered = bytes(lowered)  # before the program goes
    nvrtc.nvrtcDestroyProgram(program)
    return cubin, lowered


def test_instances_compile() -> None:
    for example in EXAMPLES:
        cubin, name = instance(example.source, example.instance, 90)
        assert name.startswith(b"_Z")
        assert name in cubin


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example(example: Example, cuda: Any) -> None:
    from cuda.bindings import driver

    context = engine_of(cuda).context  # type: ignore[attr-defined]  # the CUDA engine's
    cubin, name = instance(example.source, example.instance, context.capability)
    with context:
        handle = check(driver.cuModuleGetFunction(check(driver.cuModuleLoadData(cubin)), name))
    arrays = {i: on(cuda, value) for i, (_, _, value) in enumerate(example.arguments) if isinstance(value, np.ndarray)}
    values = [
        kind(address(arrays[i]) if i in arrays else value) for i, (_, kind, value) in enumerate(example.arguments)
    ]
    launch(handle, cuda, example.grid, example.block, values)
    np.testing.assert_array_equal(arrays[example.out].to_numpy(), example.wanted)
