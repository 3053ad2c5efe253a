"""The steady state for torch tensors: a call like an earlier one goes straight to its kernel.

Reading a tensor's dtype, shape, strides and device one by one costs 0.4 us each time. Torch's compiler has the same
need and a C++ answer to it: a guard that says in 0.2 us whether several tensors are still what they were, requires_grad
and the conjugate bit included.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from xpops.core.layouts import MAX_ALIGNMENT, Layout
from xpops.engine.protocol import Kernel
from xpops.frameworks.adapter import spelled_strides
from xpops.ops.operator import Operator
from xpops.plan.cache import BoundedDict
from xpops.plan.overlap import safe_distance
from xpops.plan.signature import Operand

try:
    from torch._C._dynamo import guards as _guards

    TensorGuards: Any = _guards.TensorGuards
except ImportError:  # a torch without its compiler: every call goes the long way
    TensorGuards = None

# It also has a way past the dispatcher to a new tensor on the current device, half a microsecond shorter. Where there
# is none, no device counts as current.
_new_on_current: Any = getattr(_guards, "_empty_strided_cuda", None) if TensorGuards else None
_current_device: Any = getattr(torch._C, "_cuda_getDevice", None) if _new_on_current else lambda: -1

# Torch's autograd refuses a backward pass that would read what was written over. The public function wraps the other.
increment_version: Callable[[Any], None] = getattr(
    torch._C, "_increment_version", torch.autograd.graph.increment_version
)

# An attempt takes the operands and out, and returns the result, or None if they are not what it is for.
Attempt = Callable[[Any, Any, Any], Any]
KEPT = 4
_MISALIGNED = MAX_ALIGNMENT - 1


class InlineCache:
    """The last few calls for each operator, shape and kind of operands.

    Parameters
    ----------
    current_stream : callable
        From a device's index to the handle of torch's current stream.
    """

    def __init__(self, current_stream: Callable[[int], int]) -> None:
        self._stream = current_stream
        self._attempts: BoundedDict[tuple[Any, ...], list[Attempt]] = BoundedDict(8192)
        self._find = self._attempts.get

    def call(self, op: Operator, x1: Any, x2: Any, out: Any) -> Any:
        """The result, or None: then the long way finds out what is new. `x2` is None for one operand."""
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
        """Keep the way of a call that succeeded, if it can be; `like` is its result, in `layout`.

        The kernel has taken the operands themselves, no copies of them.
        """
        tensors = [x for x in (x1, x2, out) if isinstance(x, torch.Tensor)]
        layouts = [spec for spec in specs if isinstance(spec, Layout)]
        if TensorGuards is None or isinstance(specs[0], type) or not isinstance(like, torch.Tensor):
            return False
        if any(spec.align < MAX_ALIGNMENT or not spec.contiguous for spec in (layout, *layouts)):
            return False
        check = _guard(tensors)
        if any(tensor.requires_grad for tensor in tensors):
            check = _without_gradients(check)
        if out is not None:
            attempt = _into(check, kernel, self._stream, layout, layouts)
        else:
            attempt = _fresh(check, kernel, self._stream, layout, layouts, len(specs) > len(layouts), like)
        key = (op, x1.shape, x2.__class__, out.__class__)
        self._attempts[key] = [attempt, *self._attempts.get(key, [])[: KEPT - 1]]
        return True


def _guard(tensors: list[Any]) -> Callable[..., bool]:
    """Whether tensors are what `tensors` were, which ones of them are the same included: a guard takes each once."""
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


def _without_gradients(check: Callable[..., bool]) -> Callable[..., bool]:
    """`check`, which looks at the tensors only, for tensors that are taken under no_grad alone."""
    enabled = torch.is_grad_enabled
    return lambda *tensors: not enabled() and check(*tensors)


def _fresh(
    check: Callable[..., bool],
    kernel: Kernel,
    stream: Callable[[int], int],
    layout: Layout,
    layouts: list[Layout],
    scalar: bool,
    like: Any,
) -> Attempt:
    """The attempt that makes a new tensor like the result `like`."""
    shape, strides, dtype, index = layout.shape, spelled_strides(layout), like.dtype, layout.device.index
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


def _into(
    check: Callable[..., bool],
    kernel: Kernel,
    stream: Callable[[int], int],
    layout: Layout,
    layouts: list[Layout],
) -> Attempt:
    """The attempt that writes `out`, which may be exactly an operand, and must not partly overlap one."""
    index = layout.device.index
    # Spelled out below: two calls of `SafeDistance.holds` would be a tenth of what torch itself needs.
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
