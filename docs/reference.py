"""A Sphinx extension that writes the reference: a page for each public function, with the facts of its row.

Nothing here knows a function by its name: names come from the namespaces' ``__all__``, facts from the rows.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import singledispatch
from pathlib import Path
from types import ModuleType
from typing import Any

import xpops as xp
from xpops.core import dtypes as dt
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import OPERATORS
from xpops.ops.operator import Operator
from xpops.ops.reduction import REDUCTIONS, Reduction
from xpops.ops.scan import SCANS, Scan
from xpops.ops.softmax import LOG_SOFTMAX, SOFTMAX, Softmax
from xpops.ops.special import SPECIAL

FOLDER = Path(__file__).parent / "reference"
# The namespaces, and what their pages say first.
NAMESPACES: dict[str, tuple[ModuleType, str]] = {
    "xpops": (xp, "The functions of the array API standard, and some that it lacks."),
    "xpops.linalg": (xp.linalg, "Linear algebra."),
    "xpops.fft": (xp.fft, "Discrete Fourier transforms."),
    "xpops.nn": (xp.nn, "Functions of neural networks: activations, scattering, counting, upsampling."),
    "xpops.special": (xp.special, "Special functions, with the names and arguments of scipy.special."),
    "xpops.random": (xp.random, "Random numbers, the same on every device."),
    "xpops.testing": (xp.testing, "What tests of code on xpops need: comparisons, and blocks without copies or waits."),
    "xpops.kernel": (xp.kernel, "Operators and kernels of your own, from CUDA C++."),
    "xpops.numpy": (xp.numpy, "NumPy's names and signatures, for arrays of any framework."),
    "xpops.numpy.linalg": (xp.numpy.linalg, "NumPy's linear algebra."),
    "xpops.numpy.fft": (xp.numpy.fft, "NumPy's Fourier transforms."),
    "xpops.numpy.random": (xp.numpy.random, "NumPy's generators of random numbers."),
}
# Public function -> its row, for functions that are one.
ROWS: dict[Any, Any] = {
    **{getattr(xp.special, row.public): row for row in SPECIAL.values()},
    **{
        getattr(xp, name, None) or getattr(xp.nn, name): row
        for row in (
            *OPERATORS.values(),
            *ACTIVATIONS.values(),
            *REDUCTIONS.values(),
            *SCANS.values(),
            SOFTMAX,
            LOG_SOFTMAX,
        )
        for name in (row.name,)
        if hasattr(xp, name) or hasattr(xp.nn, name)
    },
}
RESULTS = {
    "promoted": "the dtype to which the operands promote",
    "bool": "bool",
    "real": "the real counterpart of the promoted dtype",
    "given": "the dtype of the operand, or the one that the call names",
}
REDUCED = {
    "sum": "int64 or uint64 for integers and bool, else the dtype of the operand",
    "own": "the dtype of the operand",
    "real": "the real counterpart of the dtype of the operand",
    "bool": "bool",
    "index": "int64",
}
DEVICES = "CPU, CUDA; CUDA graphs can capture it"
LIMITS = {"memory": "memory", "divisions": "a division or a root", "transcendental": "arithmetic"}


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", lambda _: write_pages())
    return {"parallel_read_safe": True}


def write_pages() -> None:
    """Write all pages, and the index of each namespace. Files that do not change keep their time."""
    wanted = {FOLDER / "index.md": _index()}
    first: dict[int, str] = {}  # an object of two namespaces is in the index of names once
    for name, (namespace, words) in NAMESPACES.items():
        members = [member for member in namespace.__all__ if is_documented(vars(namespace).get(member))]
        wanted[FOLDER / f"{name}.md"] = _namespace_page(name, words, members)
        for member in members:
            found = getattr(namespace, member)
            is_first = first.setdefault(id(found), f"{name}.{member}") == f"{name}.{member}"
            wanted[FOLDER / name / f"{member}.md"] = _page(name, member, found, is_first)
    FOLDER.mkdir(exist_ok=True)
    for path in set(FOLDER.rglob("*.md")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def is_documented(member: object) -> bool:
    """Whether a public name is a function or a class of ours."""
    is_ours = str(getattr(member, "__module__", "")).startswith("xpops")
    return is_ours and (inspect.isroutine(member) or inspect.isclass(member))


def _index() -> str:
    lines = ["# Reference", "", "Every public function has a page, with its dtypes, its result and its accuracy.", ""]
    lines += ["```{toctree}", ":maxdepth: 1", "", *NAMESPACES, "```", ""]
    return "\n".join(lines)


def _namespace_page(name: str, words: str, members: list[str]) -> str:
    lines = [f"# {name}", "", words, "", "```{toctree}", ":maxdepth: 1", ":titlesonly:", ""]
    return "\n".join([*lines, *(f"{name}/{member}" for member in members), "```", ""])


def _page(name: str, member: str, found: object, is_first: bool) -> str:
    directive = "autoclass" if inspect.isclass(found) else "autofunction"
    options = [":members:"] if inspect.isclass(found) and not issubclass(found, Exception) else []
    options += [] if is_first else [":no-index:"]
    lines = [f"# {name}.{member}", "", "```{eval-rst}", f".. {directive}:: {name}.{member}"]
    lines += [f"   {option}" for option in options] + ["```", ""]
    row = ROWS.get(found)
    if row is not None:
        lines += ["| | |", "|---|---|", *(f"| {fact} | {value} |" for fact, value in facts(row)), ""]
    return "\n".join(lines)


@singledispatch
def facts(row: Any) -> Iterator[tuple[str, str]]:
    """What a row says, in words."""
    raise TypeError(f"{type(row).__name__} is no kind of row")


@facts.register
def _(row: Operator) -> Iterator[tuple[str, str]]:
    yield "dtypes", row.accepts + (", bool and integers as float64" if row.floating else "")
    yield "result", RESULTS[row.result]
    errors = {dtype: row.error(dtype) for dtype in _accepted(row)}
    if any(errors.values()):
        yield "largest error on CUDA", ", ".join(f"{dtype} {error:g} ulp" for dtype, error in errors.items())
    else:
        yield "largest error on CUDA", "none: exact, or rounded once"
    yield "limited by", LIMITS[row.cost]
    yield "gradient", _gradient(bool(row.derivatives), row.is_constant and row.result == "bool")
    yield "devices", f"{DEVICES}; `xp.fuse` takes it"


@facts.register
def _(row: Reduction) -> Iterator[tuple[str, str]]:
    yield "dtypes", row.accepts
    yield "result", REDUCED[row.result]
    yield "accuracy", _accuracy(row.share)
    yield "gradient", _gradient(row.derivative is not None, row.is_constant)
    fused = "" if row.positional else "; `xp.fuse` takes it"
    yield "devices", DEVICES + fused


@facts.register
def _(row: Scan) -> Iterator[tuple[str, str]]:
    yield "dtypes", row.accepts
    yield "result", REDUCED["sum"]
    yield "accuracy", _accuracy(row.share)
    yield "gradient", _gradient(row.derivative is not None, False)
    yield "devices", DEVICES


@facts.register
def _(row: Softmax) -> Iterator[tuple[str, str]]:
    yield "dtypes", "real floating-point"
    yield "result", REDUCED["own"]
    yield "gradient", _gradient(row.derivative is not None, False)
    yield "devices", DEVICES


def _gradient(is_there: bool, is_constant: bool) -> str:
    if is_constant:
        return "none: results are booleans or integers"
    return "yes" if is_there else "refused"


def _accuracy(share: Any) -> str:
    """The share of the size of a result, of 1024 elements and of a million (`xpops.ops.accuracy`)."""
    if share is None:
        return "exact"
    words = [
        ", ".join(f"{dtype} {share(dtype, count):.1e}" for dtype in (dt.float16, dt.float32, dt.float64))
        for count in (2**10, 2**20)
    ]
    return f"1 ulp, and of the [size](../../accuracy.md): {words[0]}; of a million elements {words[1]}"


def _accepted(operator: Operator) -> list[Any]:
    floating = (dt.float16, dt.bfloat16, dt.float32, dt.float64, *dt.COMPLEX_FLOATS)
    return [dtype for dtype in floating if dtype in dt.CATEGORIES[operator.accepts]]
