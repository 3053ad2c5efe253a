"""The rows of softmax and its logarithm."""

from __future__ import annotations

from dataclasses import dataclass

from xpops.ops.derivatives.elementwise import Derivative
from xpops.ops.derivatives.nn import log_softmax, softmax
from xpops.ops.torch import NARROW
from xpops.ops.torch import TorchFunction as Torch


@dataclass(frozen=True, slots=True, eq=False)
class Softmax:
    """A softmax, as data. Rows hash by identity: they are keys of the plan cache.

    Attributes
    ----------
    name : str
        The public name.
    log : bool
        Whether the result is the logarithm.
    torch : TorchFunction
        What computes it on torch's tensors in the host's memory. It takes the axis, too.
    derivative : callable
    """

    name: str
    log: bool
    torch: Torch
    derivative: Derivative

    def __repr__(self) -> str:
        return f"<{self.name}>"


SOFTMAX = Softmax("softmax", False, Torch("softmax", wide=NARROW), softmax)
LOG_SOFTMAX = Softmax("log_softmax", True, Torch("log_softmax", wide=NARROW), log_softmax)
