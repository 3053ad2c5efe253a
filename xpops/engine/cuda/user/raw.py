"""A user's own CUDA C++ kernels: load modules on a device, and launch kernels."""

from __future__ import annotations

import ctypes
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from xpops.core import config
from xpops.engine.cuda.runtime.cache import Once, cubin_for
from xpops.engine.cuda.runtime.compile import PRELUDE
from xpops.engine.cuda.runtime.driver import DeviceContext, check
from xpops.engine.cuda.runtime.elf import kernels
from xpops.engine.cuda.user.symbols import symbol_of

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.runtime import Runtime

Shape = tuple[int, int, int]

# The most dynamic shared memory of a block without the attribute that allows more.
_SHARED_BYTES = 48 << 10


class Module:
    """A source, and its compiled and loaded module for each device.

    Parameters
    ----------
    name : str
        For errors.
    source : str
    options, expressions : tuple of str
        See `compile_cubin`.
    """

    def __init__(self, name: str, source: str, options: tuple[str, ...], expressions: tuple[str, ...]) -> None:
        self.name, self.source, self.options, self.expressions = name, source, options, expressions
        self._loaded, self._functions = Once(), Once()

    def cubin(self, capability: int) -> tuple[bytes, dict[str, bytes]]:
        """The cubin, and the lowered name of each expression."""
        options = (f"--pre-include={PRELUDE}", *self.options)
        compiled = cubin_for(self.name, self.source, capability, options, self.expressions)
        *names, cubin = compiled.split(b"\0", len(self.expressions))
        return cubin, dict(zip(self.expressions, names, strict=True))

    def function(self, runtime: Runtime, name: str) -> Function:
        """The kernel `name` on the device of `runtime`.

        Raises
        ------
        ValueError
            If no kernel has this name, or if several have it.
        """
        context = runtime.context
        return self._functions.get((context.device, name), lambda: self._find(context, name))

    def symbol(self, name: str, cubin: bytes, lowered: dict[str, bytes]) -> str:
        """The symbol of the kernel `name` in what `cubin` returned.

        Raises
        ------
        ValueError
            If no kernel has this name, or if several have it.
        """
        try:
            return symbol_of(name, kernels(cubin), lowered)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def _find(self, context: DeviceContext, name: str) -> Function:
        handle, cubin, lowered = self._loaded.get(context.device, lambda: self._load(context))
        return Function(handle, self.symbol(name, cubin, lowered), name, context)

    def _load(self, context: DeviceContext) -> tuple[Any, bytes, dict[str, bytes]]:
        from cuda.bindings import driver

        from xpops.engine.cuda.runtime.capture import uncaptured

        cubin, lowered = self.cubin(context.capability)
        with uncaptured(context):
            return check(driver.cuModuleLoadData(cubin), f"loading {self.name}"), cubin, lowered


class Function:
    """A kernel of a module on one device.

    Attributes
    ----------
    registers : int
        The registers of a thread.
    shared_bytes : int
        The static shared memory of a block; a launch may add dynamic shared memory.
    max_threads : int
        The most threads of a block.
    sizes : tuple of int
        The bytes of each parameter.
    """

    def __init__(self, module: Any, symbol: str, name: str, context: DeviceContext) -> None:
        from cuda.bindings import driver

        self.name, self._context = name, context
        with context:
            self._handle = check(driver.cuModuleGetFunction(module, symbol.encode()), f"looking for {name}")
        self.registers, self.shared_bytes, self.max_threads = (
            self._attribute(each) for each in ("NUM_REGS", "SHARED_SIZE_BYTES", "MAX_THREADS_PER_BLOCK")
        )

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        from cuda.bindings import driver

        found: list[int] = []
        while True:
            with self._context:
                error, _offset, size = driver.cuFuncGetParamInfo(self._handle, len(found))
            if error == driver.CUresult.CUDA_ERROR_INVALID_VALUE:  # there are no more parameters
                return tuple(found)
            check((error,), f"looking at {self.name}")
            found.append(size)

    def occupancy(self, block: int, shared: int) -> int:
        """The most blocks of `block` threads that are resident on a multiprocessor at once."""
        from cuda.bindings import driver

        with self._context:
            found = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(self._handle, block, shared)
        return int(check(found, f"the occupancy of {self.name}"))

    def launch(
        self,
        grid: Shape,
        block: Shape,
        arguments: list[Any],
        shared: int,
        stream: int,
        cooperative: bool,
        cluster: Shape | None,
    ) -> None:
        """Launch with ctypes values as arguments, one for each parameter."""
        from cuda.bindings import driver

        from xpops.engine.cuda.runtime.capture import is_capturing

        if prod(block) > self.max_threads:
            raise ValueError(
                f"{self.name}: block is {block}, {prod(block)} threads; accepted: up to {self.max_threads} for this "
                f"kernel, which has {self.registers} registers"
            )
        if not prod(grid):
            return
        pointers = (ctypes.c_void_p * max(len(arguments), 1))(*map(ctypes.addressof, arguments))
        address, doing = ctypes.addressof(pointers), f"launching {self.name}"
        with self._context:
            if shared > _SHARED_BYTES:
                wanted = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                check(driver.cuFuncSetAttribute(self._handle, wanted, shared), f"{doing} with {shared} shared bytes")
            if not cooperative and cluster is None:
                check(driver.cuLaunchKernel(self._handle, *grid, *block, shared, stream, address, 0), doing)
            else:
                wish = configuration(grid, block, shared, stream, cooperative, cluster)
                check(driver.cuLaunchKernelEx(wish, self._handle, address, 0), doing)
        if config.debug and not is_capturing(stream):
            from xpops.engine.cuda.runtime.launch import synchronise  # imports the bindings, which may be missing

            synchronise(self.name, self._context)

    def _attribute(self, name: str) -> int:
        from cuda.bindings import driver

        attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        with self._context:
            return int(check(driver.cuFuncGetAttribute(attribute, self._handle)))


def configuration(grid: Shape, block: Shape, shared: int, stream: int, cooperative: bool, cluster: Shape | None) -> Any:
    """The driver's configuration of a launch with attributes."""
    from cuda.bindings import driver

    wish = driver.CUlaunchConfig()
    wish.gridDimX, wish.gridDimY, wish.gridDimZ = grid
    wish.blockDimX, wish.blockDimY, wish.blockDimZ = block
    wish.sharedMemBytes, wish.hStream = shared, driver.CUstream(stream)
    attributes = []
    if cooperative:
        each = driver.CUlaunchAttribute()
        each.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        each.value.cooperative = 1
        attributes.append(each)
    if cluster is not None:
        each = driver.CUlaunchAttribute()
        each.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        each.value.clusterDim.x, each.value.clusterDim.y, each.value.clusterDim.z = cluster
        attributes.append(each)
    wish.attrs, wish.numAttrs = attributes, len(attributes)
    return wish
