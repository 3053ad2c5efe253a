"""Fourier transforms on CUDA, by cuFFT."""

from __future__ import annotations

import threading
from collections import OrderedDict
from math import prod
from typing import TYPE_CHECKING, NamedTuple
from weakref import finalize, ref

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.libraries.loading import Binding, Handle
from xpops.engine.cuda.runtime.native import step_of
from xpops.engine.program import Kernel

if TYPE_CHECKING:
    from xpops.engine.cuda.runtime.memory import Pool
    from xpops.engine.cuda.runtime.runtime import Runtime

# The most plans that a device keeps; each may hold tables in device memory.
PLANS = 64
# The cufftType and the function, by the kind of transform and the dtype of the operand.
_TYPES = {
    ("fft", dt.complex64): (0x29, "exec_c2c"),
    ("fft", dt.complex128): (0x69, "exec_z2z"),
    ("rfft", dt.float32): (0x2A, "exec_r2c"),
    ("rfft", dt.float64): (0x6A, "exec_d2z"),
    ("irfft", dt.complex64): (0x2C, "exec_c2r"),
    ("irfft", dt.complex128): (0x6C, "exec_z2d"),
}
# Both directions of a complex transform have one cufftType; the call takes CUFFT_FORWARD or CUFFT_INVERSE.
_KIND = {"ifft": "fft"}
_DIRECTIONS = {"fft": (-1,), "ifft": (1,)}


class Geometry(NamedTuple):
    """The key of a cuFFT plan: points along each axis, and the shapes and strides of operand and result.

    Attributes
    ----------
    points, before, after : tuple of int
        The lengths of the transform, of the operand's axes, and of the result's axes.
    step : int
        The stride of the last axis.
    strides : tuple of int
        The strides from one transform to the next, in the operand and in the result.
    batch : int
        The number of transforms.
    code : int
        The cufftType.
    """

    points: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    step: int
    strides: tuple[int, int]
    batch: int
    code: int


class _Plan(Handle):
    """A cuFFT plan."""

    def __init__(self, cufft: Binding, pool: Pool, geometry: Geometry) -> None:
        points, before, after, step, strides, batch, code = geometry
        sides = before, step, strides[0], after, step, strides[1]
        with cufft.uncaptured():
            super().__init__(cufft, cufft.function("create")())
            # Not at exit: the library may be unloaded by then, and the driver frees everything anyway.
            finalize(self, _destroy, cufft, self.handle).atexit = False
            self.function("set_auto_allocation")(self.handle, 0)
            space = self.function("make_plan_many64")(self.handle, len(points), points, *sides, code, batch)
        self.allocate = pool.scratch(space)
        self._set_area, self._area = self.function("set_work_area"), -1

    def use(self, area: int) -> None:
        """Make the plan use the scratch memory at `area`. The caller must hold the plan; see `Handle.on`."""
        if area != self._area:
            self._set_area(self.handle, area)
            self._area = area


def _destroy(cufft: Binding, handle: int) -> None:
    with cufft.uncaptured():
        cufft.function("destroy")(handle)


class Plans:
    """The newest plans of one device; the oldest plan is dropped first."""

    def __init__(self, cufft: Binding, pool: Pool) -> None:
        self.cufft, self._pool = cufft, pool
        self._plans: OrderedDict[Geometry, _Plan] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, geometry: Geometry) -> _Plan:
        with self._lock:
            found = self._plans.get(geometry)
            if found is None:
                found = self._plans[geometry] = _Plan(self.cufft, self._pool, geometry)
                if len(self._plans) > PLANS:
                    self._plans.popitem(last=False)
            return found


_devices: dict[int, Plans] = {}
_lock = threading.Lock()


def plans_of(runtime: Runtime) -> Plans:
    """The plans of the device of `runtime`."""
    with _lock:
        index = runtime.context.index
        if index not in _devices:
            _devices[index] = Plans(Binding("cufft", runtime.context), runtime.pool)
        return _devices[index]


def fft(runtime: Runtime, x: Layout, out: Layout, axes: tuple[int, ...], kind: str) -> Kernel:
    """See `xpops.engine.protocol.Engine.fft`."""
    geometry, outer = geometry_of(x, out, axes, kind)
    _, name = _TYPES[_KIND.get(kind, kind), x.dtype]
    direction = _DIRECTIONS.get(kind, ())
    plans, steps = plans_of(runtime), (x.nbytes // outer, out.nbytes // outer)
    # There may be thousands of kernels, so they must not keep plans alive.
    execute, kept = plans.cufft.function(name), ref(plans.get(geometry))

    @step_of
    def kernel(stream: int, out: int, x: int) -> None:
        nonlocal kept
        plan = kept()
        if plan is None:
            plan = plans.get(geometry)
            kept = ref(plan)
        scratch, block = plan.allocate(stream)
        with plan.on(stream) as handle:
            plan.use(scratch)
            for i in range(outer):
                execute(handle, x + i * steps[0], out + i * steps[1], *direction)
        del block  # kept until the kernels were launched

    return kernel


def geometry_of(x: Layout, out: Layout, axes: tuple[int, ...], kind: str) -> tuple[Geometry, int]:
    """The key of the plan for a transform along adjacent axes of C-contiguous arrays, and how often the plan runs.

    A plan of the library handles one batch axis. If the transform has axes behind it, they are the batch, and the plan
    runs once for each index of the axes before. Otherwise the axes before are the batch, and the plan runs once.
    """
    before, after = (tuple(each.shape[axis] for axis in axes) for each in (x, out))
    code, _ = _TYPES[_KIND.get(kind, kind), x.dtype]
    outer, inner = prod(x.shape[: axes[0]]), prod(x.shape[axes[-1] + 1 :])
    points = after if kind == "irfft" else before
    if inner == 1:
        return Geometry(points, before, after, 1, (prod(before), prod(after)), outer, code), 1
    return Geometry(points, before, after, inner, (1, 1), inner, code), outer
