"""Calls that torch's autograd records, each as one node of its graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._C._functorch import TransformType, peek_interpreter_stack
from torch._subclasses import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.autograd import forward_ad

from xpops.frameworks.differentiable import Differentiable, Facts
from xpops.frameworks.torch_functions import TORCH_DTYPES

_DTYPES = {theirs: ours for ours, theirs in TORCH_DTYPES.items()}
# The classes of tensors in a program that torch's compiler is tracing.
OF_COMPILER = (FakeTensor, FunctionalTensor)
_has_transforms: Callable[[], bool] = torch._C._are_functorch_transforms_active


class Recorded(torch.autograd.Function):  # type: ignore[misc]
    """The node of a call: ``Recorded.apply(call, *arguments)`` returns its results."""

    @staticmethod
    def forward(call: Differentiable, *arguments: Any) -> Any:
        return call.compute(*[x.detach() if isinstance(x, torch.Tensor) else x for x in arguments])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        call, *arguments = inputs
        is_several, is_forward = isinstance(output, tuple), _has_tangents()
        # Torch does not say which arguments have tangents.
        wanted = tuple(map(_is_inexact, arguments)) if is_forward else ctx.needs_input_grad[1:]
        save(ctx, call, arguments, wanted, output if is_several else (output,), is_several, is_forward)

    @staticmethod
    def backward(ctx: Any, *given: Any) -> tuple[Any, ...]:
        fused = given[0].is_cuda and not torch.is_grad_enabled()
        return None, *cotangents_of(ctx.recorded, ctx.saved_tensors, ctx.needs_input_grad[1:], given, fused)

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: Any) -> Any:
        with forward_ad._set_fwd_grad_enabled(True):  # torch disables it, and tangents of an outer jvp would get lost
            saved = tuple([forward_ad.unpack_dual(x, level=0).primal for x in ctx.saved_tensors])
            return _tangents_of(ctx.recorded, saved, tangents)

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
            return call.compute(*aligned), 0
        if not info.batch_size:
            raise ValueError("vmap: the batch is empty; accepted, but for elementwise calls: one row or more")
        rows = [
            call.compute(*[x if place is None else x[row] for x, place in zip(batched, places[1:], strict=True)])
            for row in range(info.batch_size)
        ]
        if isinstance(rows[0], tuple):
            return tuple(map(torch.stack, zip(*rows, strict=True))), (0,) * len(rows[0])
        return torch.stack(rows), 0


def save(
    ctx: Any,
    call: Differentiable,
    arguments: list[Any],
    wanted: tuple[bool, ...],
    outputs: tuple[Any, ...],
    is_several: bool,
    is_forward: bool = False,
) -> None:
    """Save in `ctx` what the cotangents of `wanted` arguments need; all results if there are tangents, too."""
    places, needs_results = call.saved(wanted)
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
    if needs_results or is_forward:
        tensors += outputs
    ctx.save_for_backward(*tensors)
    if is_forward:
        ctx.save_for_forward(*tensors)
    ctx.recorded = call, places, arguments, facts, len(outputs) if is_several else 0


def cotangents_of(
    recorded: tuple[Any, ...], tensors: tuple[Any, ...], wanted: tuple[bool, ...], given: tuple[Any, ...], fused: bool
) -> tuple[Any, ...]:
    """The cotangents of the arguments of a call, from what `save` saved."""
    call, places, scalars, known, count = recorded
    facts = tuple([None if each is None else Facts(each[0], _DTYPES[each[1]]) for each in known])
    arguments, saved = list(scalars), list(tensors)
    for place in places:
        if facts[place] is not None:
            arguments[place] = saved.pop(0)
    results = tuple(saved) if count else saved[0] if saved else None
    found: tuple[Any, ...] = call.cotangents(wanted, given if count else given[0], facts, arguments, results, fused)
    return found


def _tangents_of(recorded: tuple[Any, ...], saved: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The tangents of results. The cotangents of arguments are linear in those of results; this is the transpose."""
    wanted, count = tuple(map(_is_inexact, tangents)), recorded[-1]
    outputs = saved[-(count or 1) :]
    along: list[Any] = []

    def cotangents(*given: Any) -> Any:
        rest = iter(given)
        every = tuple([next(rest) if _is_inexact(each) else torch.zeros_like(each) for each in outputs])
        found = cotangents_of(recorded, saved, wanted, every, False)
        along[:] = [tangent for tangent, each in zip(tangents, found, strict=True) if each is not None]
        return tuple([each for each in found if each is not None]) or given  # constant: any linear function

    zeros = [torch.zeros_like(each) for each in outputs if _is_inexact(each)]
    transpose = torch.func.vjp(cotangents, *zeros)[1] if zeros else None
    made = iter(transpose(tuple(along)) if transpose and along else zeros)
    results = tuple([next(made) if _is_inexact(each) else None for each in outputs])
    return results if count else results[0]


def _has_tangents() -> bool:
    """Whether arguments may have tangents: within `torch.func.jvp`, or `torch.autograd.forward_ad`.

    The programs of torch's compiler run the transform without `forward_ad`, which has no level then.
    """
    transform = peek_interpreter_stack()
    if transform is None:
        return bool(forward_ad._current_level >= 0)
    return bool(transform.key() == TransformType.Jvp)


def _is_inexact(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())


# The method of the class in C++. The one of `torch.autograd.Function` examines the signature of `forward` in each call,
# which takes 15 us and is of use to transforms only.
_apply = super(torch.autograd.Function, Recorded).apply


def is_traced(x: Any) -> bool:
    """Whether `x` has no memory: within `torch.compile`, or a transform such as `torch.func.grad`."""
    return type(x) in OF_COMPILER or bool(torch._C._functorch.is_functorch_wrapped_tensor(x))


def facts_of(x: Any) -> Facts:
    """The shape and the dtype of a tensor."""
    return Facts(x.shape, _DTYPES[x.dtype])


def constant(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """A tensor that a program may contain, if `like` is one of a program, or a transform's wrapper of one."""
    while torch._C._functorch.is_functorch_wrapped_tensor(like):
        like = torch._C._functorch.get_unwrapped(like)
    if type(like) not in OF_COMPILER:
        return x
    lifted: torch.Tensor = torch.ops.aten.lift_fresh_copy(x)
    return lifted


def record(call: Differentiable, arguments: tuple[Any, ...]) -> Any:
    """The results of a call, as tensors with a gradient."""
    return Recorded.apply(call, *arguments) if _has_transforms() else _apply(call, *arguments)
