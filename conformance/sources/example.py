"""An example: code that a document prints, what had to change in it, and how it is called and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

NDArray = np.ndarray[Any, Any]
# The arrays of a call by the names of its arguments, as float64.
Arrays = dict[str, NDArray]
# Elements of the arrays of examples that have no shape of their own.
COUNT = 64
ALL = np.arange(COUNT)
TYPES = ("float", "double", "xpops::float16", "int")


class Change(NamedTuple):
    """A change to a printed text: a line before it if `old` is empty, else `old` becomes `new`."""

    new: str
    old: str = ""

    def __str__(self) -> str:
        if not self.old:
            return f"`{self.new}`"
        return f"`{self.old.strip()}` becomes `{self.new.strip()}`" if self.new else f"without `{self.old.strip()}`"


class Example(NamedTuple):
    """Printed definitions that are compiled and run together.

    Attributes
    ----------
    name : str
    takes : tuple of str
        The names of the definitions, in order; ``details::f`` puts f into a namespace.
    changes : tuple of Change
    driver : str
        Our kernel that calls what is not a kernel itself: ``template <class T> __global__ void example(const T* x,
        const T* y, T* out, int n)``.
    kernel : str
        The name of the kernel.
    types : tuple of str
        The arguments of the kernel's template, one text for each instance, whose first type is that of the arrays.
    arrays : callable
        Returns the arrays of a call: ``x``, ``y``, ..., and ``out``. Whole numbers, so that every dtype is exact.
    call : callable
        Launches the kernel on arrays of a GPU.
    wanted : callable
        What ``out`` becomes, from the arrays before the call.
    """

    name: str
    takes: tuple[str, ...]
    wanted: Callable[[Arrays], NDArray]
    changes: tuple[Change, ...] = ()
    driver: str = ""
    kernel: str = "example"
    types: tuple[str, ...] = ("float",)
    arrays: Callable[[], Arrays] = lambda: numbers(x=(COUNT,), y=(COUNT,), out=(COUNT,))
    call: Callable[..., None] = lambda kernel, x, y, out: kernel(1, COUNT, (x, y, out, COUNT))

    def source(self, printed: Mapping[str, str]) -> str:
        """The source of a module, from the texts of the definitions by their names."""
        texts = []
        for name in self.takes:
            *spaces, own = name.split("::")
            text = printed[own]
            for change in self.changes:
                text = text.replace(change.old, change.new) if change.old else text
            texts.append("".join(f"namespace {each} {{ " for each in spaces) + text + " }" * len(spaces))
        lines = [change.new for change in self.changes if not change.old]
        return "\n".join([*lines, *texts, self.driver])


def numbers(**shapes: tuple[int, ...]) -> Arrays:
    """Small whole numbers other than 0 in arrays of these shapes, and zeros in ``out``."""
    random = np.random.default_rng(4)
    found = {name: random.integers(1, 6, shape).astype(np.float64) for name, shape in shapes.items()}
    return {**found, "out": np.zeros(shapes["out"])}


def driver(statements: str, before: str = "") -> str:
    """A kernel with these statements for element ``i`` of ``n``."""
    return (
        f"{before}\ntemplate <class T> __global__ void example(const T* x, const T* y, T* out, int n) {{\n"
        f"  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  {statements}\n}}\n"
    )
