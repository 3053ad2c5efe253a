"""The shapes of results for torch's symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from xpops.frameworks.differentiable import Facts

_Shapes = Sequence[Sequence[Any]]
_Results = Callable[[list[tuple[int, ...]]], tuple[Facts, ...]]
# The sizes that one symbol has in trials, beside its next size: the smallest one that torch has symbols for, and a
# large one, so that a minimum of sizes is not taken for one of them.
_EXTREMES = (2, 1009)
# By how much all sizes differ in a last trial.
_STEPS = (2, 3, 5, 7, 11, 13, 17, 19)


def symbolic_shapes(results: _Results, shapes: _Shapes) -> list[tuple[tuple[Any, ...], Any]]:
    """The shapes and dtypes of results, with the symbols of the operands' shapes.

    `results` takes integers only. So it is called with other sizes than those of the example: a size of a result is a
    linear function of the operands' sizes if such trials agree with it. A symbol for which they do not, or without
    which the operands do not fit each other, becomes the integer of the example: other sizes need another program.

    Parameters
    ----------
    results : callable
        Takes shapes of the operands, and returns the facts of the results.
    shapes : sequence of shapes
        Those of the operands.
    """
    trials = _Trials(results, shapes)
    if any(symbol.node.hint is None for symbol in trials.symbols.values()):  # torch raises its own error
        return [(each.shape, each.dtype) for each in results([tuple(map(int, shape)) for shape in shapes])]
    found = trials.at({})
    slopes = {key: slope for key in trials.symbols if (slope := trials.slope(key, found)) is not None}
    steps = {key: _STEPS[number % len(_STEPS)] for number, key in enumerate(slopes)}
    if slopes and trials.at(steps) != _stepped(found, slopes, steps):
        slopes = {}
    for key, symbol in trials.symbols.items():
        if key not in slopes:
            int(symbol)  # torch notes that the program holds for this integer only
    away = {key: trials.symbols[key] - trials.example[key] for key in slopes}
    assert found is not None
    parts = iter(_stepped(found, slopes, away).sizes)
    return [(tuple(next(parts) for _ in range(rank)), dtype) for rank, dtype in found.forms]


class _Found(NamedTuple):
    """The sizes of all results, and their numbers of axes and dtypes."""

    sizes: list[Any]
    forms: list[tuple[int, Any]]


class _Trials:
    """Calls with other sizes than those of the example."""

    def __init__(self, results: _Results, shapes: _Shapes) -> None:
        self._results, self._shapes = results, shapes
        self.symbols = {size.node.expr: size for shape in shapes for size in shape if isinstance(size, torch.SymInt)}
        self.example = {key: symbol.node.hint for key, symbol in self.symbols.items()}

    def at(self, steps: dict[Any, int]) -> _Found | None:
        """What results if symbols differ from the example by `steps`; None if the operands do not fit each other."""
        values = {key: value + steps.get(key, 0) for key, value in self.example.items()}
        try:
            found = self._results(
                [
                    tuple(values[size.node.expr] if isinstance(size, torch.SymInt) else size for size in shape)
                    for shape in self._shapes
                ]
            )
        except (ValueError, IndexError):
            if not steps:
                raise
            return None
        sizes = [size for each in found for size in each.shape]
        return _Found(sizes, [(len(each.shape), each.dtype) for each in found])

    def slope(self, key: Any, found: _Found | None) -> list[int] | None:
        """The slope of each size of the results by a symbol; None if a size is not linear."""
        near = self.at({key: 1})
        if found is None or near is None or near.forms != found.forms:
            return None
        slope = [after - before for before, after in zip(found.sizes, near.sizes, strict=True)]
        leaps = [{key: extreme - self.example[key]} for extreme in _EXTREMES]
        return slope if all(self.at(leap) == _stepped(found, {key: slope}, leap) for leap in leaps) else None


def _stepped(found: _Found | None, slopes: dict[Any, list[int]], steps: dict[Any, Any]) -> _Found:
    """The sizes of results after steps of symbols. A symbol on which a size does not depend is not part of it."""
    assert found is not None
    sizes = [
        sum((slopes[key][place] * step for key, step in steps.items() if slopes[key][place]), size)
        for place, size in enumerate(found.sizes)
    ]
    return _Found(sizes, found.forms)
