"""The accuracy that rows promise, measured; `docs/accuracy.md` shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops as xp
from conformance.references import reference_of
from tests.helpers.rows import COMPUTED, allowed_error, function_of, parameters
from tests.helpers.values import HALVES, WIDE
from xpops.core import dtypes as dt
from xpops.ops.operator import Operator
from xpops.testing import generator, random_bits, ulp_error

NDArray = np.ndarray[Any, Any]
PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
SIZE = 1 << 16
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references overflow and meet NaN on purpose


def table() -> dict[tuple[str, Any], float]:
    """The bound for each function and dtype: the first table of the page."""
    page = PAGE.read_text().partition("\n## ")[0]
    rows = [line.strip("| \n").split("|") for line in page.splitlines() if line.startswith("|")]
    names = [name.strip() for name in rows[0][1:]]
    found = {}
    for function, *bounds in rows[2:]:
        for name, bound in zip(names, bounds, strict=False):
            if bound.strip():
                found[function.strip(), np.dtype(getattr(xp, name))] = float(bound)
    return found


# Without floor_divide: the error of a floor cannot be measured in units in the last place.
ROWS = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in COMPUTED
    for dtype in (*dt.REAL_FLOATS, *dt.COMPLEX_FLOATS)
    if dtype in dt.CATEGORIES[op.accepts] and op.error(dtype) and op.name != "floor_divide"
]


def real_operand(dtype: Any, seed: str) -> NDArray:
    if dtype in HALVES and seed == "x":
        return np.arange(1 << 16, dtype=np.uint16).view(dtype)
    random = generator(dtype, seed)
    parts = [random_bits(dtype, SIZE, seed), 3 * random.normal(size=SIZE)]
    parts += [random.uniform(*ends, SIZE) for ends in ((-1, 1), (-100, 100), (0.5, 2))]
    return np.concatenate([part.astype(dtype) for part in parts])


def complex_operand(dtype: Any, seed: str) -> NDArray:
    random, powers = generator(dtype, seed), (-8, 4) if seed == "x" else (-3, 2)
    modulus = np.exp2(random.uniform(*powers, SIZE))
    return np.asarray(modulus * np.exp(1j * random.uniform(-np.pi, np.pi, SIZE))).astype(dtype)


@pytest.mark.parametrize(("op", "dtype"), ROWS)
def test_promise(op: Operator, dtype: Any, device: Any) -> None:
    make = complex_operand if dtype.kind == "c" else real_operand
    operands = [make(dtype, seed) for seed in "xy"[: op.arity - op.parameters]]
    if len({x.size for x in operands}) > 1:
        operands = [np.resize(x, max(other.size for other in operands)) for x in operands]
    (numbers, *_), reference = parameters(op, dtype), reference_of(op)
    bound = allowed_error(op, dtype, device)
    got = function_of(op)(*(xp.asarray(x, device=device) for x in operands), *map(float, numbers)).to_numpy()
    if dtype.kind == "c":
        wide = np.complex128 if dtype == dt.complex64 else np.clongdouble
        wanted = reference(*(x.astype(wide) for x in operands))
        error = np.abs(got.astype(wide) - wanted) / (np.abs(wanted) * float(np.finfo(dtype).eps))
    else:
        wanted = reference(*(x.astype(WIDE[dtype]) for x in operands), *numbers)
        error = ulp_error(got, wanted)
        if op.name.startswith("logaddexp"):
            larger = np.maximum(*(np.abs(x.astype(WIDE[dtype])) for x in operands))
            error = np.where(np.abs(wanted) < larger / 2, 0, error)
        if op.name == "hypot":  # infinite even if the other operand is NaN, which some versions of NumPy get wrong
            error = np.where(np.isinf(operands[0]) | np.isinf(operands[1]), np.where(np.isinf(got), 0, np.inf), error)
    worst = int(np.argmax(error))
    assert error[worst] <= bound, [x[worst] for x in operands]


def test_the_page_has_the_promises_of_the_rows() -> None:
    rows = {op.name: op for op in COMPUTED}
    assert table() == {key: rows[key[0]].error(key[1]) for key in table()}
