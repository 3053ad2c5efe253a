"""Calls that torch's autograd records, each as one node of its graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from xpops.frameworks.differentiable import Differentiable, Facts
from xpops.frameworks.torch_functions import TORCH_DTYPES

_DTYPES = {theirs: ours for ours, theirs in TORCH_DTYPES.items()}
_has_transforms: Callable[[], bool] = torch._C._are_functorch_transforms_active


class Recorded(torch.autograd.Function):  # type: ignore[misc]
    """The node of a call: ``Recorded.apply(call, *arguments)`` returns its results."""

    @staticmethod
    def forward(call: Differentiable, *arguments: Any) -> Any:
        return call.compute(*[x.detach() if isinstance(x, torch.Tensor) else x for x in arguments])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        call, *arguments = inputs
        places, needs_results = call.saved(ctx.needs_input_grad[1:])
        facts: list[tuple[Any, Any] | None] = []
        tensors: list[Any] = []
        for place, x in enumerate(arguments):
            if isinstance(x, torch.Tensor):
                facts.append((x.shape, x.dtype))
                arguments[place] = None
                if place in places:
                    tensors.append(x)
            else:
                facts.append(None)
        several = isinstance(output, tuple)
        if needs_results:
            tensors += output if several else (output,)
        ctx.save_for_backward(*tensors)
        ctx.recorded = call, places, arguments, facts, several

    @staticmethod
    def backward(ctx: Any, *given: Any) -> tuple[Any, ...]:
        call, places, scalars, known, several = ctx.recorded
        facts = tuple([None if each is None else Facts(each[0], _DTYPES[each[1]]) for each in known])
        arguments, saved = list(scalars), list(ctx.saved_tensors)
        for place in places:
            if facts[place] is not None:
                arguments[place] = saved.pop(0)
        found = call.cotangents(
            ctx.needs_input_grad[1:],
            given if several else given[0],
            facts,
            arguments,
            tuple(saved) if several else saved[0] if saved else None,
            fused=given[0].is_cuda and not torch.is_grad_enabled(),
        )
        return None, *found

    @staticmethod
    def jvp(ctx: Any, *given: Any) -> Any:
        raise NotImplementedError(
            "xpops has no forward-mode derivatives; accepted: the reverse mode, as of torch.func.grad and backward()"
        )

    @staticmethod
    def vmap(info: Any, places: tuple[int | None, ...], call: Differentiable, *arguments: Any) -> tuple[Any, Any]:
        """An elementwise call gets one more axis in front; others run in a loop over the batch."""
        batched = [x if place is None else x.movedim(place, 0) for x, place in zip(arguments, places[1:], strict=True)]
        if call.broadcasts:
            count = max(
                x.ndim - (place is not None)
                for x, place in zip(batched, places[1:], strict=True)
                if isinstance(x, torch.Tensor)
            )
            aligned = [
                x if place is None else x.reshape(x.shape[:1] + (1,) * (count - x.ndim + 1) + x.shape[1:])
                for x, place in zip(batched, places[1:], strict=True)
            ]
            return record(call, tuple(aligned)), 0
        rows = [
            record(call, tuple(x if place is None else x[row] for x, place in zip(batched, places[1:], strict=True)))
            for row in range(info.batch_size)
        ]
        if isinstance(rows[0], tuple):
            return tuple(map(torch.stack, zip(*rows, strict=True))), (0,) * len(rows[0])
        return torch.stack(rows), 0


# The method of the class in C++. The one of `torch.autograd.Function` examines the signature of `forward` in each call,
# which takes 15 us and is of use to transforms only.
_apply = super(torch.autograd.Function, Recorded).apply


def is_within_transform(x: Any) -> bool:
    """Whether `x` is a tensor of a transform such as `torch.func.grad`, which must take it apart first."""
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(x))


def facts_of(x: Any) -> Facts:
    """The shape and the dtype of a tensor."""
    return Facts(x.shape, _DTYPES[x.dtype])


def record(call: Differentiable, arguments: tuple[Any, ...]) -> Any:
    """The results of a call, as tensors with a gradient."""
    return Recorded.apply(call, *arguments) if _has_transforms() else _apply(call, *arguments)
