"""Kernels that are compiled without a GPU: their source, machine code and resources."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import index
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from xpops.core.devices import Device
from xpops.core.errors import describe
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch.fusion.programs import MULTIPROCESSORS, SHARED
from xpops.dispatch.operands import Operands
from xpops.engine.cuda.runtime.elf import Resources, resources
from xpops.frameworks.capsule import KIND_CUDA
from xpops.plan.signature import Operand

if TYPE_CHECKING:
    from xpops.engine.cuda.user.raw import Module

# The device of plans that are made without a GPU.
GPU = Device("cuda:0")


class CompiledKernel:
    """A kernel, compiled for GPUs of one compute capability. The ``compile`` of a kernel returns it, and needs no GPU.

    Attributes
    ----------
    name : str
    capability : int
        90 means sm_90.
    source : str
        The CUDA C++ that NVRTC compiled.
    cubin : bytes
        The machine code, an ELF file, which ``cuobjdump`` and ``nvdisasm`` read.
    """

    def __init__(self, name: str, module: Module, symbol: str, capability: int) -> None:
        self.name, self.capability, self.source, self._module = name, capability, module.source, module
        self.cubin, lowered = module.cubin(capability)
        self._symbol = module.symbol(symbol, self.cubin, lowered)

    @cached_property
    def ptx(self) -> str:
        """The PTX, which is compiled when it is read first."""
        module = self._module
        binary, _ = type(module)(
            module.name,
            module.source,
            (*module.options, f"--gpu-architecture=compute_{self.capability}"),
            module.expressions,
        ).cubin(self.capability)
        return binary.rstrip(b"\0").decode()

    @cached_property
    def resources(self) -> Resources:
        """The registers of a thread, and the bytes of shared, local and constant memory."""
        return resources(self.cubin, self._symbol, self.capability)

    def __repr__(self) -> str:
        needs = self.resources
        return (
            f"<kernel {self.name} for sm_{self.capability}: {needs.registers} registers, "
            f"{needs.shared_bytes} B shared, {needs.local_bytes} B local>"
        )


class Planner:
    """What plans of kernels ask of a GPU, without one: it keeps the sources instead of launching them."""

    is_host, dlpack_kind = False, KIND_CUDA

    def __init__(self, capability: int) -> None:
        self.context = SimpleNamespace(capability=capability, multiprocessors=MULTIPROCESSORS, shared=SHARED)
        self.pool, self.sources = self, list[str]()
        self.counters = self.zero = _launch_nothing

    def announce(self, name: str, sources: object) -> None:
        """Nothing is compiled yet."""

    def launcher(self, name: str, source: str, *launch: object) -> Callable[..., None]:
        """Keep a source."""
        self.sources.append(source)
        return _launch_nothing

    def allocator(self, memory: object) -> Callable[..., None]:
        """Nothing is allocated."""
        return _launch_nothing


def _launch_nothing(*arguments: object) -> None:
    raise NotImplementedError  # plans launch nothing


def compile_call(
    capability: Any, name: str, plan: Callable[..., object], *arguments: Any
) -> tuple[CompiledKernel, ...]:
    """The kernels of ``plan(engine, *arguments)`` for GPUs of a compute capability, in the order of their launches."""
    from xpops.engine.cuda.runtime.entry import ENTRY
    from xpops.engine.cuda.user.raw import Module

    planner = Planner(as_capability(capability, name))
    plan(planner, *arguments)
    number = planner.context.capability
    return tuple(CompiledKernel(name, Module(name, each, (), ()), ENTRY, number) for each in planner.sources)


def as_capability(capability: Any, name: str) -> int:
    """A compute capability as an integer.

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If NVRTC does not know it.
    """
    from xpops.engine.cuda.runtime.compile import capabilities, nvrtc_version

    if isinstance(capability, bool | np.bool_) or not hasattr(type(capability), "__index__"):
        raise TypeError(f"{name}: capability is {describe(capability)}; accepted: an integer like 90")
    number = index(capability)
    if number not in capabilities():
        raise ValueError(
            f"{name}: capability is {number}; accepted: {', '.join(map(str, capabilities()))}, which NVRTC "
            f"{nvrtc_version()} knows"
        )
    return number


def specs_on_gpu(name: str, names: tuple[str, ...], arguments: tuple[Any, ...]) -> tuple[Operand, ...]:
    """The layouts of arrays, as if they were on a GPU, and the types of scalars."""
    operands = Operands(name, names, arguments)
    operands.release()
    return tuple(
        layout_of(spec.dtype, spec.shape, spec.strides, GPU, spec.align) if isinstance(spec, Layout) else spec
        for spec in operands.specs
    )
