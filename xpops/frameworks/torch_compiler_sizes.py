"""The shapes of results for torch's symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from xpops.frameworks.differentiable import Facts

_Shapes = Sequence[Sequence[Any]]
_Results = Callable[[list[tuple[int, ...]]], tuple[Facts, ...]]
# By how much the sizes differ from those of the example in two trials: primes, so that no rounded quotient passes.
_STEPS = ((2, 3, 5, 7, 11, 13), (17, 19, 23, 29, 31, 37))


def symbolic_shapes(results: _Results, shapes: _Shapes) -> list[tuple[tuple[Any, ...], Any]]:
    """The shapes and dtypes of results, with the symbols of the operands' shapes.

    `results` takes integers only. So each size of a result is taken for a linear function of the operands' sizes: its
    slopes come from shapes that differ in one symbol, and two more trials must confirm it. If the sizes are no such
    functions, or the operands' sizes depend on each other, the symbols become the integers of the example, and other
    sizes need another program.

    Parameters
    ----------
    results : callable
        Takes shapes of the operands, and returns the facts of the results.
    shapes : sequence of shapes
        Those of the operands.
    """
    symbols = {_key(size): size for shape in shapes for size in shape if isinstance(size, torch.SymInt)}
    keys = list(symbols)
    if all(symbol.node.hint is not None for symbol in symbols.values()):
        example = [int(symbol.node.hint) for symbol in symbols.values()]

        def at(changes: Sequence[int]) -> tuple[list[int], list[tuple[int, Any]]]:
            """All sizes of results, and the ranks and dtypes, if the symbols differ from the example's."""
            values = {key: value + change for key, value, change in zip(keys, example, changes, strict=False)}
            found = results([tuple(_value(size, values) for size in shape) for shape in shapes])
            return [size for each in found for size in each.shape], [(len(each.shape), each.dtype) for each in found]

        found, forms = at([0] * len(keys))
        slopes = _slopes(at, found, forms, len(keys)) if keys else []
        if slopes is not None:
            steps = [symbols[key] - value for key, value in zip(keys, example, strict=True)]
            parts = iter(_stepped(found, slopes, steps))
            return [(tuple(next(parts) for _ in range(rank)), dtype) for rank, dtype in forms]
    return [(each.shape, each.dtype) for each in results([tuple(map(int, shape)) for shape in shapes])]


def _slopes(at: Any, found: list[int], forms: Any, count: int) -> list[list[int]] | None:
    """By how much each size of a result grows with each symbol; None if they are no linear functions."""
    try:
        slopes = []
        for number in range(count):
            other, same = at([int(number == each) for each in range(count)])
            if same != forms:
                return None
            slopes.append([b - a for a, b in zip(found, other, strict=True)])
        for steps in _STEPS:
            changes = [steps[number % len(steps)] for number in range(count)]
            other, same = at(changes)
            if same != forms or other != _stepped(found, slopes, changes):
                return None
    except (TypeError, ValueError, IndexError):  # the operands' sizes depend on each other
        return None
    return slopes


def _stepped(found: list[int], slopes: list[list[int]], steps: Sequence[Any]) -> list[Any]:
    """Sizes of results after steps of the symbols. A symbol on which a size does not depend is not part of it."""
    return [
        sum((slope[place] * step for slope, step in zip(slopes, steps, strict=True) if slope[place]), size)
        for place, size in enumerate(found)
    ]


def _key(size: torch.SymInt) -> Any:
    return size.node.expr


def _value(size: Any, values: dict[Any, int]) -> int:
    return values[_key(size)] if isinstance(size, torch.SymInt) else size
