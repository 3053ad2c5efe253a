"""Tensors without memory of their own."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import DynamicOutputShapeException

from xpops.frameworks.torch_gradients import OF_COMPILER


class ValueRead(TypeError, DynamicOutputShapeException):  # type: ignore[misc]
    """A call needs values of a tensor of a program that torch's compiler traces.

    The compiler then ends the program before the call, and makes the call outside of programs; or it raises an error.
    """

    func = "xpops::call"


def require_plain(cls: type[Any], function: str, argument: str) -> None:
    """Refuse subclasses that are wrappers. Others, such as parameters, are plain tensors."""
    if cls.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise (ValueRead if cls in OF_COMPILER else TypeError)(
            f"{function}: {argument} is a {cls.__qualname__}, which has no memory of its own; accepted: a plain tensor"
        )


def reason_of(x: Any) -> str:
    """The reason why a tensor has no address or no strides, for errors."""
    if x.is_nested or x.layout is not torch.strided:
        kind = "nested" if x.is_nested else str(x.layout)
        return f"is a {kind} tensor; accepted: a dense one, such as x.to_dense()"
    return "has no memory, as within torch.func transforms; accepted: a tensor with a value"
