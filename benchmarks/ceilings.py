"""The limits of the machine: its bandwidths and its launch overhead, measured in the same run."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.timing import device_times

SIZE = 2**30


def ceilings(rounds: int) -> dict[str, float]:
    """Bandwidths in bytes per microsecond: ``copy`` (read and written), ``write`` (a fill), ``read`` (a maximum)."""
    source = torch.randn(SIZE // 4, device="cuda")
    target = torch.empty_like(source)
    times = device_times(
        {"copy": lambda: target.copy_(source), "write": lambda: target.fill_(1.0), "read": lambda: source.max()}, rounds
    )
    return {"copy": 2 * SIZE / times["copy"], "write": SIZE / times["write"], "read": SIZE / times["read"]}


def bare_launch() -> Any:
    """A function that launches an empty kernel with the least overhead in Python: the lower bound of every call."""
    import ctypes

    from cuda.bindings import driver

    from xpops.core.devices import Device
    from xpops.engine.cuda.runtime.compile import compile_cubin
    from xpops.engine.cuda.runtime.driver import DeviceContext
    from xpops.engine.cuda.runtime.launch import Function

    context = DeviceContext(Device("cuda"))
    source = 'extern "C" __global__ void xpops_kernel(const float* x) {}\n'
    function = Function(compile_cubin("empty", source, context.capability), context, False)
    argument = ctypes.c_void_p(0)
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    address, handle, launch = ctypes.addressof(pointers), function.handle, driver.cuLaunchKernel

    def bare() -> None:
        launch(handle, 1, 1, 1, 32, 1, 1, 0, 0, address, 0)

    bare.keep = (argument, pointers, function)  # type: ignore[attr-defined]
    return bare
