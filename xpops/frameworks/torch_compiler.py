"""Calls within torch's compiler: each is a call of one operator of torch's library, ``xpops::call``.

Its first argument is the name of the call (`xpops.dispatch.gradients.names`), so that a program can be saved. The
second says what the arguments are: a word for each one. Then come the arrays, and the scalars.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import DynamicOutputShapeException

from xpops.core import symbols
from xpops.core.promotion import SCALAR_TYPES
from xpops.core.symbols import scalar_type
from xpops.engine.shapes import ValueNeeded
from xpops.frameworks import differentiable
from xpops.frameworks.differentiable import Differentiable, Facts
from xpops.frameworks.torch_compiler_sizes import symbolic_shapes
from xpops.frameworks.torch_functions import TORCH_DTYPES
from xpops.frameworks.torch_gradients import Recorded, cotangents_of, facts_of, save

_ARRAY = "array"
_KINDS = {kind.__name__: kind for kind in SCALAR_TYPES}
symbols.kinds |= {torch.SymBool: bool, torch.SymInt: int, torch.SymFloat: float}

torch.library.define(
    "xpops::call",
    "(str call, str arguments, Tensor[] arrays, Scalar[]? scalars) -> Tensor[]",
    tags=(torch.Tag.pt2_compliant_tag, torch.Tag.flexible_layout),
)


def call(recorded: Differentiable, arguments: tuple[Any, ...]) -> Any:
    """The results of a call, as a step of the program that is traced."""
    arguments = tuple([x.item() if isinstance(x, np.generic) else x for x in arguments])
    arrays = [x for x in arguments if isinstance(x, torch.Tensor)]
    scalars = [x for x in arguments if not isinstance(x, torch.Tensor)]
    if None in map(scalar_type, scalars):  # the call itself says what it accepts
        recorded.results(tuple([facts_of(x) if isinstance(x, torch.Tensor) else x for x in arguments]))
    words = " ".join(map(_word, arguments))
    found = torch.ops.xpops.call(recorded.name, words, arrays, scalars or None)  # torch saves no empty lists
    return found[0] if len(found) == 1 else tuple(found)


def _word(x: Any) -> str:
    if isinstance(x, torch.Tensor):
        return _ARRAY
    kind = scalar_type(x)
    assert kind is not None
    return kind.__name__


def _arguments(words: str, arrays: Iterable[Any], scalars: Iterable[Any] | None) -> list[Any]:
    """The arguments of a call, in their places."""
    left, right = iter(arrays), iter(scalars or ())
    return [next(left) if word == _ARRAY else _scalar(word, next(right)) for word in words.split()]


def _scalar(word: str, x: Any) -> Any:
    """A scalar of its own type, which torch may have changed."""
    return x if type(x) in symbols.kinds else _KINDS[word](x)


def _compute(name: str, words: str, arrays: list[torch.Tensor], scalars: list[Any] | None) -> list[torch.Tensor]:
    """The results are contiguous, and share no memory with operands or with each other."""
    found = differentiable.call_named(name).compute(*_arguments(words, arrays, scalars))
    taken, made = {x.untyped_storage().data_ptr() for x in arrays}, []
    for each in found if isinstance(found, tuple) else (found,):
        memory = each.untyped_storage().data_ptr()
        made.append(each.clone(memory_format=torch.contiguous_format) if memory in taken else each.contiguous())
        taken.add(memory)
    return made


def _fake(name: str, words: str, arrays: list[torch.Tensor], scalars: list[Any] | None) -> list[torch.Tensor]:
    recorded = differentiable.call_named(name)
    values = _arguments(words, [None] * len(arrays), map(_hint, scalars or ()))
    places = [place for place, word in enumerate(words.split()) if word == _ARRAY]

    def results(shapes: Iterable[tuple[int, ...]]) -> tuple[Facts, ...]:
        for place, x, shape in zip(places, arrays, shapes, strict=True):
            values[place] = Facts(shape, facts_of(x).dtype)
        found = recorded.results(tuple(values))
        return (found,) if isinstance(found, Facts) else found

    try:
        found = symbolic_shapes(results, [x.shape for x in arrays])
    except ValueNeeded as error:
        raise DynamicOutputShapeException(torch.ops.xpops.call.default) from error  # the compiler knows it
    return [arrays[0].new_empty(shape, dtype=TORCH_DTYPES[dtype]) for shape, dtype in found]


def _hint(x: Any) -> Any:
    """A scalar for a call without memory, which depends on its type only."""
    return x.node.hint or 1 if type(x) in symbols.kinds else x


def _save(ctx: Any, inputs: tuple[Any, ...], output: list[torch.Tensor]) -> None:
    name, words, arrays, scalars = inputs
    needed = iter(ctx.needs_input_grad[2:])  # of name, words, and arrays one by one
    wanted = tuple([word == _ARRAY and next(needed) for word in words.split()])
    ctx.wanted, ctx.words = wanted, words.split()
    arguments = _arguments(words, arrays, scalars)
    save(ctx, differentiable.call_named(name), arguments, wanted, tuple(output), len(output) > 1)


def _backward(ctx: Any, given: list[torch.Tensor]) -> tuple[Any, ...]:
    fused = given[0].is_cuda and not torch.is_grad_enabled()
    found = cotangents_of(ctx.recorded, ctx.saved_tensors, ctx.wanted, tuple(given), fused)
    cotangents = [x for x, word in zip(found, ctx.words, strict=True) if word == _ARRAY]
    return None, None, cotangents, None


def _batch(info: Any, places: tuple[Any, ...], name: str, words: str, arrays: Any, scalars: Any) -> tuple[Any, Any]:
    axes = _arguments(words, places[2], scalars)
    axes = [axis if word == _ARRAY else None for axis, word in zip(axes, words.split(), strict=True)]
    recorded = differentiable.call_named(name)
    found, axis = Recorded.vmap(info, (None, *axes), recorded, *_arguments(words, arrays, scalars))
    return (list(found), list(axis)) if isinstance(found, tuple) else ([found], [axis])


torch.library.impl("xpops::call", "CompositeExplicitAutograd", _compute)
torch.library.register_fake("xpops::call", _fake)
torch.library.register_autograd("xpops::call", _backward, setup_context=_save)
torch.library.register_vmap("xpops::call", _batch)
