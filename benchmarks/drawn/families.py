"""The families of calls, and how often each is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from benchmarks.drawn.call import Call
from benchmarks.drawn.collective import draw_activation, draw_reduction, draw_scan, draw_sort
from benchmarks.drawn.elementwise import draw_cast, draw_operator, draw_where
from benchmarks.drawn.movement import draw_move
from benchmarks.drawn.operands import LARGEST

_FAMILIES: dict[Callable[[Random, int], Call], int] = {
    lambda random, cap: draw_operator(random, 2, cap): 5,
    lambda random, cap: draw_operator(random, 1, cap): 3,
    draw_cast: 2,
    draw_where: 1,
    draw_reduction: 5,
    draw_scan: 2,
    draw_sort: 2,
    draw_move: 6,
    draw_activation: 2,
}


def draw_calls(seed: int, cap: int = 2**28) -> Iterator[Call]:
    """The calls of a seed, without end. No operand has many more than `cap` elements, or more than `LARGEST` bytes."""
    random = Random(seed)
    while True:
        call = random.choices(tuple(_FAMILIES), tuple(_FAMILIES.values()))[0](random, cap)
        if all(operand.extent * operand.itemsize <= LARGEST for operand in call.operands):
            yield call
