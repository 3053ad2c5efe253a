"""Kernels of torch's own functions, for tensors in the host's memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.cpu import reduce, scan, softmax
from xpops.engine.program import Kernel
from xpops.frameworks.torch_elementwise import elementwise_kernel
from xpops.frameworks.torch_functions import BLOCK, TORCH_DTYPES, faster_of, function_of, widened
from xpops.ops.fft import Transform
from xpops.ops.operator import Operator
from xpops.ops.reduction import Reduction
from xpops.ops.scan import Scan
from xpops.ops.softmax import Softmax
from xpops.ops.torch import HALVES, TorchFunction, casts_alike
from xpops.plan.result import reduced_layout
from xpops.plan.signature import Operand
from xpops.plan.strides.views import axis_of


def torch_kernel(
    specs: tuple[Operand, ...], way: Any, layouts: tuple[Layout, ...], host: Callable[..., Any]
) -> Callable[..., Any] | None:
    """The kernel of a call on tensors by torch's own function; None if NumPy computes it.

    Parameters
    ----------
    specs, way, layouts
        See `xpops.frameworks.adapter.Adapter.host_kernel`.
    host : callable
        The kernel of the host's engine on tensors.
    """
    if isinstance(way, Operator):
        return elementwise_kernel(way, specs, None, layouts[0], host)
    first, second = way[:2]
    if isinstance(first, Operator):
        return elementwise_kernel(first, specs, second, layouts[0], host)
    # The parameters of plan functions with a row: the row, then those of the functions below.
    x, (row, *parameters) = specs[0] if len(specs) == 1 else None, second or (None,)
    if not isinstance(x, Layout) or x.size == 0:
        return None
    if isinstance(row, Reduction):
        return _reduction(row, x, layouts[0], *parameters)
    if isinstance(row, Transform):
        return _transform(row, x, layouts[0], *parameters)
    if isinstance(row, Scan):
        return _scan(row, x, layouts[0], host, *parameters)
    return _softmax(row, x, layouts[0], host, *parameters) if isinstance(row, Softmax) else None


def _reduction(
    op: Reduction, x: Layout, out: Layout, axis: Any, keepdims: bool, dtype: DType | None, correction: float
) -> Kernel | None:
    axes, loop, _, _ = reduced_layout(x, op, axis, keepdims, dtype)
    # The host adds large arrays block by block, without a copy in float64; `widened` takes the others as one block.
    if not axes or (op.share is not None and x.size > BLOCK) or reduce.is_compiled(op, x, loop):
        return None
    return _kernel(op.torch, (axes, bool(keepdims)), x, loop, out)


def _scan(
    op: Scan, x: Layout, out: Layout, host: Kernel, axis: Any, dtype: DType | None, initial: bool
) -> Kernel | None:
    along = axis_of(0 if axis is None else axis, x.ndim, op.name)
    by_core = scan.is_compiled(op, x, out)
    # Along other axes torch takes longer than the compiled core, and than NumPy, which takes longest for halves.
    if initial or (x.strides[along] != 1 and x.size > BLOCK and (by_core or x.dtype not in HALVES)):
        return None
    kernel = _kernel(op.torch, (along,), x, out.dtype, out, along)
    return faster_of(host, kernel, x) if kernel is not None and by_core else kernel


def _softmax(op: Softmax, x: Layout, out: Layout, host: Kernel, axis: int, dtype: DType | None) -> Kernel | None:
    along = axis_of(axis, x.ndim, op.name)
    kernel = _kernel(op.torch, (along,), x, x.dtype, out, along)
    return kernel if kernel is None or not softmax.is_compiled(x, out) else faster_of(host, kernel, x)


def _transform(op: Transform, x: Layout, out: Layout, lengths: Any, axes: Any, norm: str) -> Kernel | None:
    """The kernel of a Fourier transform. Torch has none along no axes."""
    function = function_of(op.torch.name) if op.torch is not None and x.dtype in op.torch.dtypes else None
    if function is None or axes == () or x.ndim == 0:
        return None

    def kernel(stream: int, out: torch.Tensor, x: torch.Tensor) -> None:
        function(x, lengths, axes, norm, out=out)

    return kernel


def _kernel(
    same: TorchFunction | None,
    arguments: tuple[Any, ...],
    x: Layout,
    loop: DType,
    out: Layout,
    along: int | None = None,
) -> Kernel | None:
    """The kernel of a function of one operand in the dtype `loop`. `along`: see `widened`."""
    function = None if same is None else function_of(same.name)
    if same is None or function is None or out.dtype != loop or not casts_alike(x.dtype, loop):
        return None
    if loop in same.wide:
        return widened(function, arguments, x, along) if x.dtype == loop else None
    if loop not in same.dtypes:
        return None

    def kernel(stream: int, out: torch.Tensor, x: torch.Tensor) -> None:
        function(x, *arguments, out=out)

    def convert_and_launch(stream: int, out: torch.Tensor, x: torch.Tensor) -> None:
        function(x.to(theirs), *arguments, out=out)

    theirs = TORCH_DTYPES[loop]
    return kernel if x.dtype == loop else convert_and_launch
