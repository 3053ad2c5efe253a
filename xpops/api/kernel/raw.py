"""User-defined CUDA C++: modules and their kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from xpops.api.devices import default_device
from xpops.api.kernel.compiled import CompiledKernel, as_capability
from xpops.api.kernel.gpu import require_cuda
from xpops.api.kernel.launching import grid_of, options_of, shape_of, template_text, texts_of
from xpops.api.kernel.packing import pack_arguments, require_sizes, template_dtypes
from xpops.api.kernel.remembered import Prepared, RememberedLaunches
from xpops.core.errors import describe
from xpops.core.layouts import Layout
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch.operands import Operands
from xpops.engine import engine_of
from xpops.engine.cuda.runtime import streams
from xpops.engine.cuda.user.arguments import parameters_of
from xpops.engine.cuda.user.raw import Function, Module
from xpops.engine.cuda.user.templates import deduced, template_of
from xpops.plan.text import without_comments

_SCALARS = (
    *SCALAR_TYPES, np.generic, bytes, ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData,
)  # fmt: skip


class RawModule:
    """CUDA C++ source, compiled on this machine. Its kernels are called like functions.

    The source may include the headers of ``xpops/``, CUDA's and others. It is compiled at the first call on a device,
    and the result is cached on disk with a digest of all headers.

    Parameters
    ----------
    source : str
    options : sequence of str
        More options for NVRTC: ``"-DN=4"``, ``"--use_fast_math"``, ``"--std=c++20"``. An option and its value may be
        two texts: ``"-D", "N=4"``.
    name_expressions : sequence of str
        The instances of templates to compile, like ``"scale<float>"``.
    name : str
        The name in errors.

    Raises
    ------
    TypeError
        If `source` is not a str.
    ValueError
        If an option changes what kind of code NVRTC returns, or does not begin with ``-``.

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
        self._module = Module(name, source, options_of(options), texts_of(name_expressions, "name_expressions"))

    def get_function(self, name: str) -> RawKernel:
        """The kernel of that name in the source, one of `name_expressions`, a mangled name, or a template."""
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
        The kernel's name in the source, an instance of a template like ``"scale<float>"``, or the name of a template. A
        kernel in a namespace needs no namespace in `name`. A template's instance is chosen by the dtypes of the
        arguments, or by brackets: ``scale[xp.float32]``.
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
        expressions = [name] if "<" in name else ()
        self._read(RawModule(source, options=options, name_expressions=expressions, name=name)._module, name)

    @classmethod
    def _from_module(cls, module: Module, name: str) -> RawKernel:
        self = cls.__new__(cls)
        self._read(module, name)
        return self

    def _read(self, module: Module, name: str) -> None:
        self._name, self._module = name, module
        self._parameters = parameters_of(module.source, name)
        self._template = () if "<" in name else template_of(without_comments(module.source), name)
        self._instances: dict[tuple[object, ...], RawKernel] = {}
        self._remembered = RememberedLaunches()

    def __getitem__(self, arguments: Any) -> RawKernel:
        """The instance of a template with these arguments.

        Parameters
        ----------
        arguments : dtype, int, bool, str or tuple
            The template's arguments in order: dtypes of any library, numbers, or C++ text. Those at the end that have
            defaults may be missing.

        Raises
        ------
        TypeError
            If the kernel is not a template, has fewer parameters, or an argument has another type.
        """
        given = arguments if isinstance(arguments, tuple) else (arguments,)
        if not (self._template and 0 < len(given) <= len(self._template)):
            accepted = ", ".join(each.name for each in self._template) or "none, as the kernel is no template"
            raise TypeError(f"{self._name}: {len(given)} template arguments; accepted: {accepted}")
        name = f"{self._name}<{', '.join(template_text(each, self._name) for each in given)}>"
        if (name,) not in self._instances:
            module = Module(name, self._module.source, self._module.options, (name,))
            self._instances[(name,)] = RawKernel._from_module(module, name)
        return self._instances[(name,)]

    def __call__(
        self,
        grid: int | str | Sequence[int],
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
        grid : int, tuple of int or "elements"
            The numbers of blocks along up to three axes; with a 0, nothing is launched. "elements": as many blocks as
            give each element of the largest array a thread.
        block : int or tuple of int
            The numbers of threads of a block.
        args : sequence
            One for each parameter. An array of any framework, on one GPU, is passed as a pointer to its first element,
            or as an accessor (``xpops/index/accessor.cuh``), which has its shape and strides.
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
        how = grid, block, shared, cooperative, cluster
        if stream is None and self._remembered.launch(how, args):
            return
        threads = shape_of(block, "block", self._name, 1)
        clusters = None if cluster is None else shape_of(cluster, "cluster", self._name, 1)
        arguments = tuple(args)
        arrays = {i: x for i, x in enumerate(arguments) if not isinstance(x, _SCALARS)}
        self._require_count(len(arguments))
        names = tuple(f"args[{i}]" for i in arrays)
        operands = Operands(self._name, names, tuple(arrays.values())) if arrays else None
        layouts = [] if operands is None else [each for each in operands.specs if isinstance(each, Layout)]
        blocks = grid_of(grid, threads, (each.size for each in layouts), self._name)
        device = default_device() if operands is None else operands.device
        engine = require_cuda(engine_of(device), device, self._name)
        by_place = dict(zip(arrays, layouts, strict=True))
        try:
            kernel = self._instance_for(arguments, by_place) if self._template else self
            packed, written = pack_arguments(kernel._name, kernel._parameters, arguments, by_place, operands)
            function = kernel._module.function(engine, kernel._name)
            require_sizes(kernel._name, function, packed)
            usual = engine.current_stream() if operands is None else operands.stream
            chosen = usual if stream is None else streams.handle_of(stream)
            if chosen != usual:
                engine.order(usual, chosen)
            launch = Prepared(
                kernel._name, function, kernel._parameters, by_place, written, blocks, threads, index(shared),
                cooperative, clusters,
            )  # fmt: skip
            function.launch(blocks, threads, packed, launch.shared, chosen, cooperative, clusters)
            if chosen != usual:
                engine.order(chosen, usual)
        finally:
            if operands is not None:
                operands.release()
        if operands is not None:
            self._remembered.remember(how, arguments, operands, launch)

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
        x, y, z = shape_of(block, "block", self._name, 1)
        return self._loaded_function().occupancy(x * y * z, index(shared))

    def __repr__(self) -> str:
        return f"<kernel {self._name}>"

    def _loaded_function(self) -> Function:
        device = default_device()
        return self._module.function(require_cuda(engine_of(device), device, self._name), self._name)

    def _require_count(self, count: int) -> None:
        if self._parameters is not None and len(self._parameters) != count:
            raise TypeError(f"{self._name}: {count} arguments; accepted: {len(self._parameters)}, as the kernel has")

    def _instance_for(self, arguments: tuple[Any, ...], layouts: dict[int, Layout]) -> RawKernel:
        """The instance of the template for a call's arguments."""
        found = template_dtypes(self._name, self._parameters or (), arguments, layouts)
        key = tuple(found.items())
        if key not in self._instances:
            self._instances[key] = self[deduced(self._template, found, self._name)]
        return self._instances[key]
