"""The functions of torch that rows name (`xpops.ops.torch.TorchFunction`), and those that torch lacks."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter

import torch

# function(*operands, out=tensor)
Function = Callable[..., object]


def function_of(name: str) -> Function | None:
    """The function that rows call `name`; None if this version of torch does not have it."""
    try:
        found: Function = _OWN.get(name) or attrgetter(name)(torch)
    except AttributeError:
        return None
    return found


def _copy(x: torch.Tensor, *, out: torch.Tensor) -> None:
    out.copy_(x)


def _gelu(x: torch.Tensor, *, out: torch.Tensor) -> None:
    """``x * erfc(-x / sqrt(2)) / 2``, without the difference in which torch's loses the negative tail."""
    torch.mul(x, -math.sqrt(0.5), out=out).erfc_().mul_(x).mul_(0.5)


def _gelu_tanh(x: torch.Tensor, *, out: torch.Tensor) -> None:
    """``x * sigmoid(2 * sqrt(2 / pi) * (x + 0.044715 * x**3))``, without that difference."""
    torch.mul(x, x, out=out).mul_(0.044715).add_(1).mul_(x).mul_(2 * math.sqrt(2 / math.pi)).sigmoid_().mul_(x)


_OWN: dict[str, Function] = {"copy": _copy, "gelu": _gelu, "gelu_tanh": _gelu_tanh}
