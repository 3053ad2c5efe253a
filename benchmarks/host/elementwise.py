"""The rows of elementwise functions, drawn up from the operators' own rows in `xpops.ops`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.host.row import Row, row
from benchmarks.names import NUMPY, TORCH
from xpops.ops.elementwise import INTERNAL, OPERATORS
from xpops.ops.operator import Operator

# Operands by the words of a row's domain.
NUMBERS = {"any": "xy", "finite": "xy", "positive": "pp", "nonzero": "pp", "unit": "uu"}


def rows() -> Iterator[Row]:
    """Every elementwise function, then scalars, broadcasting, other layouts, and `out`."""
    for op in OPERATORS.values():
        if op not in INTERNAL and op.name not in ("clip", "where"):
            arguments = ", ".join(_operands(op))
            torch, numpy = TORCH.get(op.name, op.name), NUMPY.get(op.name, op.name)
            yield row(f"xp.{op.name}({arguments})", f"torch.{torch}({arguments})", f"np.{numpy}({arguments})")
    yield row("xp.clip(x, -0.5, 0.5)")
    yield row("xp.where(b, x, y)")
    yield row("xp.where(b, x, 0.0)")
    yield row("xp.where(b)")
    yield row("xp.add(x, 2.0)")
    yield row("xp.subtract(2.0, x)", "2.0 - x")  # torch.subtract takes no number first
    yield row("xp.add(x, row)")
    yield row("xp.add(x, i)")
    yield row("xp.pow(x, 2)", numpy="np.power(x, 2)")
    for call in ("add(x, y", "add(x, 2.0", "exp(x", "clip(x, -0.5, 0.5"):
        yield row(f"xp.{call}, out=o)", jax="")
    yield row("xp.where(b, x, y, out=o)", numpy="")
    yield row("xp.less(x, y, out=ob)", jax="")


def _operands(op: Operator) -> list[str]:
    if op.name in ("conj", "imag", "real"):
        return ["c"]
    if op.accepts in ("integer", "integer or boolean"):
        return ["i", "j"][: op.arity]
    return [NUMBERS[word][place] for place, word in enumerate(op.domain.split())]
