"""User-defined CUDA C++: modules and their kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from contextlib import suppress
from operator import index
from typing import Any

import numpy as np

from xpops.api.devices import default_device
from xpops.api.kernel.compiled import CompiledKernel, as_capability
from xpops.api.kernel.gpu import require_cuda
from xpops.core.errors import describe
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch import Tensor
from xpops.dispatch.operands import Operands
from xpops.engine import engine_of
from xpops.engine.cuda.runtime import streams
from xpops.engine.cuda.user.arguments import check_array, parameters_of, scalar
from xpops.engine.cuda.user.raw import Function, Module, Shape
from xpops.frameworks.registry import adapter_of

_SCALARS = (
    *SCALAR_TYPES, np.generic, bytes, ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData,
)  # fmt: skip


class RawModule:
    """CUDA C++ source, compiled on this machine. Its kernels are called like functions.

    The source may include the headers of ``xpops/``. It is compiled at the first call on a device. The result is cached
    on disk, unless the source includes other headers.

    Parameters
    ----------
    source : str
    options : sequence of str
        More options for NVRTC: ``"-DN=4"``, ``"--use_fast_math"``, ``"--std=c++20"``.
    name_expressions : sequence of str
        The instances of templates to compile, like ``"scale<float>"``.
    name : str
        The name in errors.

    Raises
    ------
    TypeError
        If `source` is not a str.

    Examples
    --------
    >>> module = xp.kernel.RawModule('''
    ... template <class T> __global__ void scale(T* x, T by, int n) {
    ...   const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...   if (i < n) x[i] *= by;
    ... }
    ... ''', name_expressions=["scale<float>", "scale<double>"])
    >>> module.get_function("scale<float>")
    <kernel scale<float>>
    """

    def __init__(
        self,
        source: str,
        *,
        options: Sequence[str] = (),
        name_expressions: Sequence[str] = (),
        name: str = "module",
    ) -> None:
        if not isinstance(source, str):
            raise TypeError(f"RawModule: source is {describe(source)}; accepted: text")
        given = _texts(options, "options")
        for each in given:
            if each.lstrip("-").startswith(("arch", "gpu-architecture", "gpu-code", "ptx", "dlto", "dc")):
                raise ValueError(f"RawModule: options has {each!r}; accepted: options that keep the result as it is")
        self._module = Module(name, source, given, _texts(name_expressions, "name_expressions"))

    def get_function(self, name: str) -> RawKernel:
        """The kernel of that name: an ``extern "C"`` one, or one of `name_expressions`."""
        return RawKernel._from_module(self._module, name)

    def __repr__(self) -> str:
        return f"<module {self._module.name}>"


class RawKernel:
    """A user-defined kernel in CUDA C++.

    Parameters
    ----------
    source : str
        As for `RawModule`.
    name : str
        The name of an ``extern "C"`` kernel, or an instance of a template like ``"scale<float>"``.
    options : sequence of str
        As for `RawModule`.

    Examples
    --------
    >>> scale = xp.kernel.RawKernel('''
    ... extern "C" __global__ void scale(float* x, float by, int n) {
    ...   const int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...   if (i < n) x[i] *= by;
    ... }
    ... ''', "scale")
    >>> scale((4,), (256,), (xp.zeros(1000, dtype=xp.float32, device="cpu"), 2.0, 1000))
    Traceback (most recent call last):
    xpops.core.errors.DeviceError: scale: the arrays are on cpu; kernels of one's own need a GPU
    """

    def __init__(self, source: str, name: str, *, options: Sequence[str] = ()) -> None:
        template = "<" in name
        module = RawModule(source, options=options, name_expressions=[name] if template else (), name=name)
        self._name, self._module = name, module._module
        self._parameters = parameters_of(source, name)

    @classmethod
    def _from_module(cls, module: Module, name: str) -> RawKernel:
        self = cls.__new__(cls)
        self._name, self._module = name, module
        self._parameters = parameters_of(module.source, name)
        return self

    def __call__(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] = (),
        *,
        shared: int = 0,
        stream: Any = None,
        cooperative: bool = False,
        cluster: int | Sequence[int] | None = None,
    ) -> None:
        """Launch the kernel.

        Parameters
        ----------
        grid, block : int or tuple of int
            The numbers of blocks, and of threads of a block, along up to three axes. A grid with a 0 launches nothing.
        args : sequence
            One for each parameter. An array of any framework, on one GPU, is passed as a pointer to its first element.
            Its dtype must be that of the parameter, or have the same size if the parameter is an unsigned integer. A
            NumPy scalar must have the type of the parameter. A Python scalar is converted to this type, if the source
            names a built-in type. ctypes structures, ctypes numbers and bytes are passed as they are.
        shared : int
            Bytes of dynamic shared memory.
        stream : object, optional
            A stream of any library. By default that of the arrays' framework, or the current stream. The kernel waits
            for earlier work of the arrays' owners.
        cooperative : bool
            Whether all blocks run at the same time, so that they may wait for each other.
        cluster : int or tuple of int, optional
            The numbers of blocks of a cluster along each axis (sm_90 and later).

        Raises
        ------
        TypeError, OverflowError
            If an argument does not fit the parameter.
        ValueError
            If a grid or block is not accepted, a written array is read-only, or the module has no such kernel.
        DeviceError
            If the arrays are on the CPU, or the driver refuses the launch.
        CompileError
            If the source does not compile, in the first call on a device.
        """
        shapes = _shape(grid, "grid", self._name, 0), _shape(block, "block", self._name, 1)
        clusters = None if cluster is None else _shape(cluster, "cluster", self._name, 1)
        arguments = tuple(args)
        arrays = {i: x for i, x in enumerate(arguments) if not isinstance(x, _SCALARS)}
        self._require_count(len(arguments))
        names = tuple(f"args[{i}]" for i in arrays)
        operands = Operands(self._name, names, tuple(arrays.values())) if arrays else None
        device = default_device() if operands is None else operands.device
        engine = require_cuda(engine_of(device), device, self._name)
        try:
            packed = self._pack(arguments, arrays, operands)
            function = self._module.function(engine, self._name)
            self._check_sizes(function, packed)
            usual = engine.current_stream() if operands is None else operands.stream
            chosen = usual if stream is None else streams.handle_of(stream)
            if chosen != usual:
                engine.order(usual, chosen)
            function.launch(*shapes, packed, index(shared), chosen, cooperative, clusters)
            if chosen != usual:
                engine.order(chosen, usual)
        finally:
            if operands is not None:
                operands.release()

    def compile(self, capability: int) -> CompiledKernel:
        """The kernel, compiled for GPUs of a compute capability. Needs no GPU.

        Examples
        --------
        >>> fill = xp.kernel.RawKernel('extern "C" __global__ void fill(float* x) { x[threadIdx.x] = 1; }', "fill")
        >>> made = fill.compile(90)
        >>> made.resources.shared_bytes, made.resources.local_bytes
        (0, 0)
        >>> made.ptx.partition(".target")[2].split()[0]
        'sm_90'
        """
        return CompiledKernel(self._name, self._module, self._name, as_capability(capability, self._name))

    @property
    def registers(self) -> int:
        """The number of registers of a thread, on the default device."""
        return self._loaded_function().registers

    @property
    def shared_bytes(self) -> int:
        """The bytes of static shared memory of a block, on the default device."""
        return self._loaded_function().shared_bytes

    @property
    def max_threads(self) -> int:
        """The most threads that a block may have, on the default device."""
        return self._loaded_function().max_threads

    def occupancy(self, block: int | Sequence[int], *, shared: int = 0) -> int:
        """The number of blocks that a multiprocessor of the default device runs at the same time."""
        x, y, z = _shape(block, "block", self._name, 1)
        return self._loaded_function().occupancy(x * y * z, index(shared))

    def __repr__(self) -> str:
        return f"<kernel {self._name}>"

    def _loaded_function(self) -> Function:
        device = default_device()
        return self._module.function(require_cuda(engine_of(device), device, self._name), self._name)

    def _require_count(self, count: int) -> None:
        if self._parameters is not None and len(self._parameters) != count:
            raise TypeError(f"{self._name}: {count} arguments; accepted: {len(self._parameters)}, as the kernel has")

    def _pack(self, arguments: tuple[Any, ...], arrays: dict[int, Any], operands: Operands | None) -> list[Any]:
        """The arguments as ctypes values for the driver. Tells frameworks which of their arrays the kernel writes."""
        packed: list[Any] = []
        places = {i: place for place, i in enumerate(arrays)}
        for i, argument in enumerate(arguments):
            parameter = self._parameters[i] if self._parameters is not None else None
            what = f"{self._name}: args[{i}]" + (f" ({parameter.name})" if parameter and parameter.name else "")
            if i not in places or operands is None:
                packed.append(scalar(argument, parameter, what))
                continue
            place = places[i]
            check_array(operands.specs[place].dtype, parameter, what)  # type: ignore[union-attr]
            if parameter is not None and not parameter.const:
                if not operands.writable[place]:
                    raise ValueError(f"{what} is read-only; accepted: a writable array, or a pointer to const")
                adapter = None if isinstance(argument, Tensor) else adapter_of(type(argument))
                if adapter is not None:
                    adapter.written(argument)
            packed.append(ctypes.c_uint64(operands.values[place]))
        return packed

    def _check_sizes(self, function: Function, packed: list[Any]) -> None:
        """TypeError if the parameters of the compiled kernel have other sizes."""
        given = tuple(ctypes.sizeof(each) for each in packed)
        if given != function.sizes:
            raise TypeError(
                f"{self._name}: the arguments have {given} bytes; accepted: {function.sizes}, as the kernel has"
            )


def _texts(given: Iterable[str], argument: str) -> tuple[str, ...]:
    found = (given,) if isinstance(given, str) else tuple(given)
    if isinstance(given, str) or not all(isinstance(each, str) for each in found):
        raise TypeError(f"RawModule: {argument} is {given!r}; accepted: a sequence of texts")
    return found


def _shape(given: int | Sequence[int], argument: str, name: str, least: int) -> Shape:
    """One to three lengths as three, after a check. Missing lengths are 1."""
    with suppress(TypeError):
        found = [index(each) for each in (given if isinstance(given, Sequence) else (given,))]
        if 1 <= len(found) <= 3 and all(each >= least for each in found):
            x, y, z = (*found, 1, 1)[:3]
            return x, y, z
    raise ValueError(f"{name}: {argument} is {given!r}; accepted: one to three integers, {least} or more each")
