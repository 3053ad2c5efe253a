"""What a drawn call is, and how operands are drawn for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NamedTuple

from benchmarks.drawn.operands import LAYOUTS, Layout, Operand, Shape, draw_operand
from xpops.ops.operator import Operator

Function = Callable[..., Any]


class Call(NamedTuple):
    """One call, of every library.

    Attributes
    ----------
    family : str
    name : str
        The function.
    operands : tuple of Operand
    parameters : mapping
        What else was drawn: axes, dtypes, lengths.
    ours, theirs, cupys : callable
        The call of xpops, torch and cupy: a function of the arrays. None where a library has no such function.
    moved : callable, optional
        For functions that move elements: `theirs` of the operands that are moved. It tells which elements must be read.
    row : Operator, optional
        The operator's row, if arithmetic may limit the call.
    waits : bool
        Whether the host waits for the GPU in the call.
    tolerance : float
        The largest error allowed, in units of the result dtype's epsilon, relative to the largest result. 0: equal.
    """

    family: str
    name: str
    operands: tuple[Operand, ...]
    parameters: Mapping[str, Any]
    ours: Function
    theirs: Function
    cupys: Function | None = None
    moved: Function | None = None
    row: Operator | None = None
    waits: bool = False
    tolerance: float = 0

    @property
    def layout(self) -> str:
        """The layouts of the operands, as one word; "mixed" if there are several besides contiguous ones."""
        found = {operand.layout for operand in self.operands} - {"contiguous"}
        return "mixed" if len(found) > 1 else found.pop() if found else "contiguous"


def cupy_function(name: str) -> Function | None:
    """cupy's function of a name, if cupy is installed and has it."""
    try:
        import cupy
    except ImportError:
        return None
    found: Function | None = getattr(cupy, name, None)
    return found


def draw_layout(random: Random) -> Layout:
    """One of the layouts; a quarter of them are contiguous."""
    return "contiguous" if random.random() < 0.25 else random.choice(LAYOUTS)


def draw_layouts(random: Random, count: int) -> tuple[Layout, ...]:
    """The layouts of several operands: in half of the calls the same one."""
    if random.random() < 0.5:
        return (draw_layout(random),) * count
    return tuple(draw_layout(random) for _ in range(count))


def draw_broadcast_shapes(random: Random, shape: Shape, count: int) -> list[Shape]:
    """Shapes that broadcast to `shape`: each axis keeps its length in at least one of them."""
    shapes = [list(shape) for _ in range(count)]
    for axis in range(len(shape)):
        if random.random() < 0.5:
            for each in random.sample(shapes, random.randint(0, count - 1)):
                each[axis] = 1
    return [tuple(each) for each in shapes]


def draw_operands(
    random: Random, shape: Shape, dtypes: tuple[str, ...], domains: tuple[str, ...]
) -> tuple[Operand, ...]:
    """Operands of an elementwise call with a result of `shape`."""
    layouts = draw_layouts(random, len(dtypes))
    shapes = [shape] * len(dtypes)
    if len(dtypes) > 1 and "broadcast" in layouts:
        shapes = draw_broadcast_shapes(random, shape, len(dtypes))
    operands = []
    for dtype, domain, layout, each in zip(dtypes, domains, layouts, shapes, strict=True):
        if layout == "broadcast" and len(dtypes) > 1:
            operands.append(draw_operand(random, dtype, each, "contiguous", domain)._replace(layout=layout))
        else:
            operands.append(draw_operand(random, dtype, each, layout, domain))
    return tuple(operands)
