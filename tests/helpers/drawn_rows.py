"""Functions drawn at random, of elements, of reductions along rows and of values that rows share."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

NDArray = np.ndarray[Any, Any]
# Groups of a part of a warp, of a warp and of a block; rows that no thread holds in whole packs.
SHAPES = ((37, 24), (70, 64), (20, 96), (9, 333), (70, 130), (20, 512), (18, 1536))


class _Body:
    """The statements of a function, and the names of what has an element for each element, or for each row."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.lines: list[str] = []
        self.elements, self.rows = ["x", "y"], ["r"]

    def element(self) -> str:
        return self._draw.choice(self.elements)

    def row(self) -> str:
        return self._draw.choice(self.rows)

    def add(self) -> None:
        """Add a statement."""
        name, number = f"v{len(self.lines)}", self._draw.choice(("4", "3.0", "-0.5"))
        reduction = self._draw.choice(("sum", "sum", "sum", "mean", "max", "min"))
        of_elements = (
            f"{self.element()} * {self.row()}",
            f"{self.element()} / (m.abs({self.row()}) + 0.5)",
            f"{self.element()} + {self.element()}",
            f"{self.element()} - {self.element()}",
            f"{self.element()} * {self.element()}",
            f"-{self.element()}",
            f"m.where({self.element()} > 0.1, {self.element()}, {self.element()} * 0.5)",
            f"m.tanh({self.element()})",
            f"{self.element()} / {number}",
        )
        of_rows = (
            f"m.{reduction}({self.element()}, axis=-1, keepdims=True) / 50",
            f"m.{reduction}({self.element()}, axis=-1, keepdims=True)",
            f"m.sqrt(m.abs({self.row()}) + 1) + {self.row()}",
        )
        if self._draw.random() < 0.3:
            self.lines.append(f"{name} = {self._draw.choice(of_rows)}")
            self.rows.append(name)
        else:
            self.lines.append(f"{name} = {self._draw.choice(of_elements)}")
            self.elements.append(name)


def drawn_function(seed: int) -> tuple[Callable[..., tuple[Any, ...]], str]:
    """A function ``(m, x, y, r)`` in the namespace `m`, of two arrays of elements and one of rows, and its source.

    Its results have an element for each element, for each row, or for each column. The first has one for each element.
    """
    draw = random.Random(seed)
    body = _Body(draw)
    for _ in range(draw.randint(5, 11)):
        body.add()
    last = f"m.sum({body.element()} * {body.row()}, axis=-1, keepdims=True) + {body.element()} * {body.row()}"
    results = [last, f"m.sum({body.element()}, axis=0)", f"{body.element()} + 0", f"{body.row()} * 1"]
    kept = [results[0], *(each for each in results[1:] if draw.random() < 0.5)]
    lines = [*body.lines, f"return ({', '.join(kept)},)"]
    source = "\n".join(["def drawn(m, x, y, r):", *(f"    {line}" for line in lines)])
    scope: dict[str, Any] = {}
    exec(source, scope)
    return scope["drawn"], source


def drawn_operands(seed: int) -> tuple[NDArray, NDArray, NDArray]:
    """The operands x, y and r."""
    values = np.random.default_rng(seed)
    rows, length = SHAPES[seed % len(SHAPES)]
    return values.normal(size=(rows, length)), values.normal(size=(rows, length)), values.normal(size=(rows, 1))


def assert_near(got: NDArray, wanted: NDArray, source: str) -> None:
    """Errors are small beside the largest result."""
    largest = abs(wanted).max() + np.finfo(np.float64).tiny
    np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-9 * largest, err_msg=source)
