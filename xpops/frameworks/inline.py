"""The inline cache, the steady state for torch tensors: a call like an earlier one goes straight to its kernel.

To read a tensor's dtype, shape, strides and device one by one takes 0.4 us. Torch's compiler needs the same check, and
has it in C++: a guard checks in 0.2 us that several tensors have the properties of earlier tensors, including
requires_grad and the conjugate bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from xpops.core.layouts import MAX_ALIGNMENT, Layout
from xpops.engine.program import Kernel
from xpops.frameworks.adapter import exported_strides
from xpops.ops.operator import Operator
from xpops.plan.cache import BoundedDict
from xpops.plan.signature import Operand
from xpops.plan.strides.overlap import safe_distance

try:
    from torch._C._dynamo import guards as _guards

    TensorGuards: Any = _guards.TensorGuards
except ImportError:  # this torch has no compiler: every call takes the slow path
    TensorGuards = None

# Torch's compiler can also make a tensor on the current device without the dispatcher, which saves half a microsecond.
# If this torch cannot, -1 is the current device: no device has this index.
_new_on_current: Any = getattr(_guards, "_empty_strided_cuda", None) if TensorGuards else None
_current_device: Any = getattr(torch._C, "_cuda_getDevice", None) if _new_on_current else lambda: -1

# Torch counts writes, so that autograd can refuse a backward pass that would read overwritten values. The public
# function only wraps the private one.
increment_version: Callable[[Any], None] = getattr(
    torch._C, "_increment_version", torch.autograd.graph.increment_version
)

# A remembered call: takes the operands and `out`; returns the result, or None if they do not match the call.
Attempt = Callable[[Any, Any, Any], Any]
KEPT = 4
_MISALIGNED = MAX_ALIGNMENT - 1


class InlineCache:
    """The last calls for each operator, shape of the first operand, and classes of the others.

    At most `KEPT` calls are remembered for each.

    Parameters
    ----------
    current_stream : callable
        Takes a device's index, and returns the handle of torch's current stream.
    """

    def __init__(self, current_stream: Callable[[int], int]) -> None:
        self._stream = current_stream
        self._attempts: BoundedDict[tuple[Any, ...], list[Attempt]] = BoundedDict(8192)
        self._find = self._attempts.get

    def call(self, op: Operator, x1: Any, x2: Any, out: Any) -> Any:
        """The result, or None if no remembered call matches. `x2` is None for one operand."""
        try:
            key = (op, x1.shape, x2.__class__, out.__class__)
        except RuntimeError:  # a nested tensor has no shape
            return None
        for attempt in self._find(key, ()):
            result = attempt(x1, x2, out)
            if result is not None:
                return result
        return None

    def remember(
        self,
        op: Operator,
        x1: Any,
        x2: Any,
        out: Any,
        specs: tuple[Operand, ...],
        layout: Layout,
        kernel: Kernel,
        like: Any,
    ) -> bool:
        """Remember a call that succeeded, if it qualifies. Returns whether it did.

        `like` is the result, and `layout` its layout. The kernel must have taken the operands themselves, not copies.
        """
        tensors = [x for x in (x1, x2, out) if isinstance(x, torch.Tensor)]
        layouts = [spec for spec in specs if isinstance(spec, Layout)]
        if TensorGuards is None or isinstance(specs[0], type) or not isinstance(like, torch.Tensor):
            return False
        if any(spec.align < MAX_ALIGNMENT or not spec.contiguous for spec in (layout, *layouts)):
            return False
        check = _guard(tensors)
        if any(tensor.requires_grad for tensor in tensors):
            check = _guard_without_gradients(check)
        if out is not None:
            attempt = _attempt_with_out(check, kernel, self._stream, layout, layouts)
        else:
            attempt = _attempt_with_new(check, kernel, self._stream, layout, layouts, len(specs) > len(layouts), like)
        key = (op, x1.shape, x2.__class__, out.__class__)
        self._attempts[key] = [attempt, *self._attempts.get(key, [])[: KEPT - 1]]
        return True


def _guard(tensors: list[Any]) -> Callable[..., bool]:
    """A function that checks other tensors: they match `tensors`, and the same of them are one object.

    Torch's guard takes each tensor only once, so identical tensors are checked here.
    """
    firsts = [next(i for i, other in enumerate(tensors) if other is tensor) for tensor in tensors]
    places = sorted(set(firsts))
    once = [tensors[i] for i in places]
    sizes, strides = [list(tensor.shape) for tensor in once], [list(tensor.stride()) for tensor in once]
    check: Callable[..., bool] = TensorGuards(*once, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides).check
    if len(once) == len(tensors):
        return check

    def check_repeated(*given: Any) -> bool:
        same = all(given[i] is given[first] for i, first in enumerate(firsts))
        return same and check(*(given[i] for i in places))

    return check_repeated


def _guard_without_gradients(check: Callable[..., bool]) -> Callable[..., bool]:
    """`check` for tensors that require grad, which xpops takes under no_grad: False if gradients are enabled."""
    enabled = torch.is_grad_enabled
    return lambda *tensors: not enabled() and check(*tensors)


# An attempt is a remembered call: it returns the result, or None if the operands do not match.
def _attempt_with_new(
    check: Callable[..., bool],
    kernel: Kernel,
    stream: Callable[[int], int],
    layout: Layout,
    layouts: list[Layout],
    scalar: bool,
    like: Any,
) -> Attempt:
    """The attempt that writes to a new tensor, which is made like the result `like`."""
    shape, strides, dtype, index = layout.shape, exported_strides(layout), like.dtype, layout.device.index
    elsewhere = partial(torch.empty_strided, shape, strides, dtype=dtype, device=like.device)
    new, current = _new_on_current, _current_device

    def two(x1: Any, x2: Any, out: None) -> Any:
        if not check(x1, x2):
            return None
        p1, p2 = x1.data_ptr(), x2.data_ptr()
        if (p1 | p2) & _MISALIGNED:
            return None
        result = new(shape, strides, dtype) if current() == index else elsewhere()
        kernel(stream(index), result.data_ptr(), p1, p2)
        return result

    def one(x1: Any, x2: None, out: None) -> Any:
        if not check(x1) or (p1 := x1.data_ptr()) & _MISALIGNED:
            return None
        result = new(shape, strides, dtype) if current() == index else elsewhere()
        kernel(stream(index), result.data_ptr(), p1)
        return result

    def with_scalar(x1: Any, scalar: Any, out: None) -> Any:
        if not check(x1) or (p1 := x1.data_ptr()) & _MISALIGNED:
            return None
        result = new(shape, strides, dtype) if current() == index else elsewhere()
        kernel(stream(index), result.data_ptr(), p1, scalar)
        return result

    return two if len(layouts) == 2 else with_scalar if scalar else one


def _attempt_with_out(
    check: Callable[..., bool],
    kernel: Kernel,
    stream: Callable[[int], int],
    layout: Layout,
    layouts: list[Layout],
) -> Attempt:
    """The attempt that writes to `out`, which may be exactly an operand's memory, but must not partly overlap it."""
    index = layout.device.index
    # Inlined below: two calls of `SafeDistance.holds` would take a tenth of the time of torch's own operation.
    above1, below1, same1 = safe_distance(layout, layouts[0])
    above2, below2, same2 = safe_distance(layout, layouts[-1])

    def two(x1: Any, x2: Any, out: Any) -> Any:
        if not check(x1, x2, out):
            return None
        p1, p2, p = x1.data_ptr(), x2.data_ptr(), out.data_ptr()
        d1, d2 = p1 - p, p2 - p
        if (p1 | p2 | p) & _MISALIGNED or not (d1 >= above1 or d1 <= below1 or (same1 and d1 == 0)):
            return None
        if not (d2 >= above2 or d2 <= below2 or (same2 and d2 == 0)):
            return None
        kernel(stream(index), p, p1, p2)
        increment_version((out,))
        return out

    def one(x1: Any, scalar: Any, out: Any) -> Any:
        if not check(x1, out):
            return None
        p1, p = x1.data_ptr(), out.data_ptr()
        d1 = p1 - p
        if (p1 | p) & _MISALIGNED or not (d1 >= above1 or d1 <= below1 or (same1 and d1 == 0)):
            return None
        kernel(stream(index), p, p1, *(() if scalar is None else (scalar,)))
        increment_version((out,))
        return out

    return two if len(layouts) == 2 else one
