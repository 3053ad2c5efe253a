"""Torch's modes and transforms, which take its functions over, on calls of tensors that they do not mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.utils._python_dispatch import _disable_current_modes

from xpops.frameworks.adapter import R

# The number of modes that take torch's functions over.
_mode_count: Callable[[], int] = getattr(torch._C, "_len_torch_dispatch_stack", int)

# Whether a transform of `torch.func` is active.
has_transforms: Callable[[], bool] = torch._C._are_functorch_transforms_active


def outside_modes(function: Callable[..., R]) -> Callable[..., R]:
    """`function`, outside of all modes and transforms."""

    def call(*given: Any) -> R:
        if _mode_count():  # such as FakeTensorMode, in which torch's functions do not compute
            with _disable_current_modes():
                return function(*given)
        if has_transforms():  # of other tensors: those of `torch.func` itself are recorded
            with temporarily_clear_interpreter_stack():
                return function(*given)
        return function(*given)

    return call
