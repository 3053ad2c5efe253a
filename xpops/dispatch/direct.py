"""Functions of arrays that users wrote, called as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import Tensor, steady
from xpops.dispatch.fusion.results import results_of
from xpops.dispatch.primitives import copier
from xpops.engine.program import Data, Program
from xpops.plan.signature import Operand


def arrays_on(specs: tuple[Operand, ...], values: tuple[Any, ...]) -> list[Any]:
    """Read-only xpops arrays of layouts on given data. Scalars stay what they are."""
    return [
        steady.array_class(spec, value, None, False) if isinstance(spec, Layout) else value
        for spec, value in zip(specs, values, strict=True)
    ]


def run_directly(
    name: str, function: Callable[..., Any], specs: tuple[Operand, ...], stream: int, *values: Any
) -> Program:
    """Call a function on arrays of these layouts and data. The program copies its results to C-contiguous arrays."""
    results = results_of(name, function(*arrays_on(specs, values)), Tensor)
    given = [result._layout for result in results]
    layouts = tuple(layout_of(each.dtype, each.shape, None, each.device) for each in given)
    copies = [copier(*each) for each in zip(given, layouts, strict=True)]

    def copy_all(stream: int, *data: Data) -> None:
        for copy, out, result in zip(copies, data, results, strict=False):
            copy(stream, out, result._data)

    return Program(layouts, copy_all)
