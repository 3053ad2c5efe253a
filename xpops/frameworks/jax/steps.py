"""Steps of programs that XLA compiled: functions that it calls with the memory of arrays."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from xpops.core.devices import CPU, Device
from xpops.core.layouts import MAX_ALIGNMENT, Layout, alignment, layout_of
from xpops.core.operands import Scalar
from xpops.engine.program import Kernel
from xpops.frameworks import capsule as dl
from xpops.frameworks.differentiable import Differentiable
from xpops.plan.cache import BoundedDict

_libm = ctypes.PyDLL("ucrtbase" if sys.platform == "win32" else None)
# The settings of the processor's floating-point unit, as Python has them.
_usual = ctypes.create_string_buffer(64)
_libm.fegetenv(_usual)


class _UsualNumbers:
    """A context with Python's floating-point settings. With those of XLA on the host, subnormal numbers are zeros."""

    def __enter__(self) -> None:
        self._given = ctypes.create_string_buffer(64)
        _libm.fegetenv(self._given)
        _libm.fesetenv(_usual)

    def __exit__(self, *error: object) -> None:
        _libm.fesetenv(self._given)


class Step:
    """A step that computes a call, as `jax.experimental.buffer_callback` takes it.

    The shapes may differ from call to call, because `jax.vmap` may add an axis after the call was traced.

    Parameters
    ----------
    call : Differentiable
    scalars : tuple of scalar or None
        The arguments; None for arrays.
    failed : callable, optional
        Hears that the step failed on the host, which then does not raise: JAX would raise again when the process ends.
    """

    def __init__(
        self, call: Differentiable, scalars: tuple[Scalar | None, ...], failed: Callable[[], None] | None = None
    ) -> None:
        self._call, self._scalars, self._failed = call, scalars, failed
        # What the arrays are, but for their memory -> the kernel.
        self._kernels: BoundedDict[tuple[Any, ...], Kernel] = BoundedDict(64)

    def __call__(self, context: Any, outs: Any, *buffers: Any) -> None:
        kind, index = outs[0].__dlpack_device__()
        if kind == dl.KIND_CPU:
            try:
                self._run_on_host(len(outs), list(map(np.asarray, (*outs, *buffers))))
            except Exception:
                if self._failed is None:
                    raise
                self._failed()
        else:
            self._run_on_gpu(index, context.stream, len(outs), (*outs, *buffers))

    def _run_on_host(self, count: int, arrays: list[np.ndarray[Any, Any]]) -> None:
        key = tuple([(x.shape, x.dtype) for x in arrays])  # kernels on the host take any alignment
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels[key] = self._kernel(count, arrays, CPU, MAX_ALIGNMENT)
        with _UsualNumbers():
            kernel(0, *arrays)

    def _run_on_gpu(self, index: int, stream: int, count: int, buffers: tuple[Any, ...]) -> None:
        kinds, addresses = zip(*[dl.contents(x.__dlpack__()) for x in buffers], strict=True)
        align = alignment(reduce(or_, addresses))
        key = (align, kinds)
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels[key] = self._kernel(count, buffers, Device(f"cuda:{index}"), align)
        kernel(stream, *addresses)

    def _kernel(self, count: int, arrays: Sequence[Any], device: Device, align: int) -> Kernel:
        """The kernel of the call. The first `count` arrays are its results, the others its operands."""
        layouts = [layout_of(np.dtype(x.dtype), x.shape, None, device, align) for x in arrays]
        rest = iter(layouts[count:])
        arguments: tuple[Layout | Scalar, ...] = tuple([next(rest) if x is None else x for x in self._scalars])
        return self._call.kernel(arguments, tuple(layouts[:count]), device)
