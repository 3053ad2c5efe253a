"""Gradients of user-defined operators, by functions that users write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.core.errors import describe
from xpops.dispatch.gradients.rules import differentiable


def set_backward(
    plan: Callable[..., Any], name: str, backward: Callable[..., Any] | None, parameters: tuple[str, ...] = ()
) -> None:
    """Make a kernel differentiable by ``backward(cotangents, *operands, **parameters)``.

    Parameters
    ----------
    plan : callable
        The plan function of the kernel.
    name : str
        The kernel, for errors.
    backward : callable or None
        Returns the cotangent of each operand, or a tuple of them; None for an operand without a gradient.
    parameters : tuple of str
        The names of the last operands, which `backward` takes by name and which have no gradient.
    """
    if backward is None:
        return
    if not callable(backward):
        raise TypeError(f"{name}: backward is {describe(backward)}; accepted: a function")

    def cotangents(xp: object, g: Any, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        count = len(operands) - len(parameters)
        made = backward(g, *operands[:count], **dict(zip(parameters, operands[count:], strict=True)))
        found = made if isinstance(made, tuple) else (made,)
        if len(found) != count:
            raise ValueError(f"{name}: backward returns {len(found)} arrays; accepted: {count}, one for each operand")
        return (*found, *(None,) * len(parameters))

    differentiable(whole=cotangents)(plan)
