"""Calls that torch's autograd records, each as one node of its graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._C._functorch import TransformType, peek_interpreter_stack
from torch._subclasses import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.autograd import forward_ad

from xpops.frameworks.differentiable import Backward, Differentiable, Facts
from xpops.frameworks.torch_functions import TORCH_DTYPES
from xpops.frameworks.torch_modes import has_transforms

_DTYPES = {theirs: ours for ours, theirs in TORCH_DTYPES.items()}
# The classes of tensors in a program that torch's compiler is tracing.
OF_COMPILER = (FakeTensor, FunctionalTensor)


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
        return None, *cotangents_of(ctx.recorded, ctx.saved_tensors, ctx.needs_input_grad[1:], given, is_fused(given))

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


class Remembered(torch.autograd.Function):  # type: ignore[misc]
    """The node of a call like an earlier one, outside of transforms: ``_apply_remembered(saving, *arguments)``."""

    @staticmethod
    def forward(ctx: Any, saving: Saving, *arguments: Any) -> Any:
        results = saving.call.compute(*arguments)
        tensors = [arguments[place] for place in saving.places]
        if saving.needs_results:
            tensors += results if saving.count else (results,)
        ctx.save_for_backward(*tensors)
        ctx.recorded = saving, saving.scalars_of(arguments)
        return results

    @staticmethod
    def backward(ctx: Any, *given: Any) -> tuple[Any, ...]:
        return None, *cotangents_of(ctx.recorded, ctx.saved_tensors, ctx.needs_input_grad[1:], given, is_fused(given))


class Saving:
    """What the node of a call saves, and its backward passes, for arguments of some shapes, dtypes and needs.

    Parameters
    ----------
    call : Differentiable
    arguments : sequence
    wanted : tuple of bool
        The arguments that may need a cotangent.
    count : int
        The number of results; 0 if there is one that is no tuple.

    Attributes
    ----------
    places : tuple of int
        Those of the tensors that are saved.
    needs_results : bool
    """

    def __init__(self, call: Differentiable, arguments: Sequence[Any], wanted: tuple[bool, ...], count: int) -> None:
        self.call, self.count = call, count
        places, self.needs_results = call.saved(wanted)
        self.places = tuple([place for place in places if isinstance(arguments[place], torch.Tensor)])
        self._facts = tuple([facts_of(x) if isinstance(x, torch.Tensor) else None for x in arguments])
        self._no_scalars = None if None in self._facts else (None,) * len(arguments)
        self._backwards: dict[tuple[tuple[bool, ...], bool], Backward] = {}

    def scalars_of(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """The arguments with None for tensors."""
        return self._no_scalars or [None if isinstance(x, torch.Tensor) else x for x in arguments]

    def backward(self, wanted: tuple[bool, ...], given: Any, fused: bool) -> Backward:
        """The function that computes the cotangents of `wanted` arguments."""
        found = self._backwards.get((wanted, fused))
        if found is None:
            found = self._backwards[wanted, fused] = self.call.backward(wanted, given, self._facts, fused)
        return found


def save(
    ctx: Any,
    call: Differentiable,
    arguments: Sequence[Any],
    wanted: tuple[bool, ...],
    outputs: tuple[Any, ...],
    is_several: bool,
    is_forward: bool = False,
) -> None:
    """Save in `ctx` what the cotangents of `wanted` arguments need; all results if there are tangents, too."""
    saving = Saving(call, arguments, wanted, len(outputs) if is_several else 0)
    tensors = [arguments[place] for place in saving.places]
    if saving.needs_results or is_forward:
        tensors += outputs
    ctx.save_for_backward(*tensors)
    if is_forward:
        ctx.save_for_forward(*tensors)
    ctx.recorded = saving, saving.scalars_of(arguments)


def is_fused(given: tuple[Any, ...]) -> bool:
    """Whether a backward pass is fused: on GPUs, if no second derivative is recorded."""
    return given[0].is_cuda and not torch.is_grad_enabled()


def cotangents_of(
    recorded: tuple[Saving, Sequence[Any]],
    tensors: tuple[Any, ...],
    wanted: tuple[bool, ...],
    given: tuple[Any, ...],
    fused: bool,
) -> tuple[Any, ...]:
    """The cotangents of the arguments of a call, from what was saved."""
    saving, scalars = recorded
    arguments = list(scalars)
    for place, x in zip(saving.places, tensors, strict=False):
        arguments[place] = x
    results = tensors[len(saving.places) :]
    cotangents = given if saving.count else given[0]
    backward = saving.backward(wanted, cotangents, fused)
    return backward(cotangents, arguments, results if saving.count else results[0] if results else None)


def _tangents_of(recorded: tuple[Saving, Sequence[Any]], saved: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The tangents of results. The cotangents of arguments are linear in those of results; this is the transpose."""
    wanted, count = tuple(map(_is_inexact, tangents)), recorded[0].count
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
_apply_remembered = super(torch.autograd.Function, Remembered).apply


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
    return Recorded.apply(call, *arguments) if has_transforms() else _apply(call, *arguments)


def recorder(call: Differentiable, arguments: tuple[Any, ...], results: Any) -> Callable[..., Any] | None:
    """What `record` does, for arguments like these."""
    if any(isinstance(x, torch.Tensor) and is_traced(x) for x in arguments):
        return None
    wanted = tuple([isinstance(x, torch.Tensor) and x.requires_grad for x in arguments])
    saving = Saving(call, arguments, wanted, len(results) if isinstance(results, tuple) else 0)

    def record_remembered(*given: Any) -> Any:
        if has_transforms() or forward_ad._current_level >= 0:
            return Recorded.apply(call, *given)
        return _apply_remembered(saving, *given)

    return record_remembered
