"""The comparison of a sample: results and first gradients, beside torch's own."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from conformance.opinfo.signatures import Call, LeftOutError

# Torch's, and with a factor for gradients, which are sums of many products.
TOLERANCES = {
    torch.float32: (2e-6, 1e-5),
    torch.complex64: (2e-6, 1e-5),
    torch.float64: (1e-7, 1e-9),
    torch.complex128: (1e-7, 1e-9),
}
GRADIENT_FACTOR = 50


def outcome(theirs: Call, ours: Call, sample: Any, hermitian: bool) -> str:
    """What comes of a sample: "agree", "left out: " and why, "differ: " and how, or "" if torch itself refuses it.

    Parameters
    ----------
    theirs, ours : callable
        Torch's operator, and the function of ours that takes its arguments.
    sample : SampleInput
        Its tensors require grad where they can.
    hermitian : bool
        Whether only the Hermitian part of a gradient is defined, since the function reads a triangle.
    """
    arguments, named = (sample.input, *sample.args), sample.kwargs
    try:
        wanted = _tensors(theirs(*arguments, **named))
    except (RuntimeError, IndexError, ValueError, NotImplementedError):
        return ""
    leaves = [x for x in _tensors((arguments, list(named.values()))) if x.requires_grad]
    try:
        found = _tensors(ours(*arguments, **{key: value for key, value in named.items() if _takes(ours, key)}))
        try:
            _compare(found, wanted, 1)
        except AssertionError:  # torch's own results are rounded, too
            _compare(found, _rounded_once(theirs, arguments, named, wanted), 1)
        _compare(*_gradients(found, wanted, leaves, hermitian), GRADIENT_FACTOR)
    except LeftOutError as error:
        return f"left out: {error}"
    except Exception as error:  # whatever it is, the report shows it
        return f"differ: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return "agree"


def _takes(ours: Call, name: str) -> bool:
    """Whether a function has a parameter. Torch's that change no value, such as ``inplace``, are left out."""
    parameters = inspect.signature(ours).parameters
    return name in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def _tensors(values: Any) -> list[torch.Tensor]:
    """All tensors in nested sequences, in order."""

    def walk(value: Any) -> Iterator[torch.Tensor]:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            for each in value:
                yield from walk(each)

    return list(walk(values))


def _compare(found: list[torch.Tensor], wanted: list[torch.Tensor], factor: int) -> None:
    if len(found) != len(wanted):
        raise AssertionError(f"{len(found)} results instead of {len(wanted)}")
    for ours, theirs in zip(found, wanted, strict=True):
        relative, absolute = TOLERANCES.get(theirs.dtype, (0.0, 0.0))
        torch.testing.assert_close(ours, theirs, rtol=factor * relative, atol=factor * absolute, equal_nan=True)


def _rounded_once(theirs: Call, arguments: Any, named: Any, wanted: list[torch.Tensor]) -> list[torch.Tensor]:
    """What torch computes in float64, in the dtypes of what it computed."""
    wide = {torch.float32: torch.float64, torch.complex64: torch.complex128}
    arguments, named = tree_map_only(torch.Tensor, lambda x: x.to(wide.get(x.dtype, x.dtype)), (arguments, named))
    found = _tensors(theirs(*arguments, **named))
    return [each.to(other.dtype) for each, other in zip(found, wanted, strict=True)]


def _gradients(
    found: list[torch.Tensor], wanted: list[torch.Tensor], leaves: list[torch.Tensor], hermitian: bool
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Our gradients and torch's, of random cotangents; an operand without one has zeros."""
    places = [place for place, each in enumerate(wanted) if each.requires_grad]
    if any(each.requires_grad != (place in places) for place, each in enumerate(found)):
        raise AssertionError("another result requires grad")
    if not places or not leaves:
        return [], []
    cotangents = [torch.randn_like(wanted[place]) for place in places]
    ours, theirs = (
        torch.autograd.grad(
            [results[place] for place in places], leaves, cotangents, allow_unused=True, materialize_grads=True
        )
        for results in (found, wanted)
    )
    if hermitian:
        ours, theirs = ([each + each.mH for each in grads] for grads in (ours, theirs))
    return list(ours), list(theirs)
