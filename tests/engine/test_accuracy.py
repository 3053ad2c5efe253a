"""The table of `docs/accuracy.md`, measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers import activations
from tests.helpers.values import HALVES, WIDE, generator, random_bits, ulp_error
from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import INTERNAL, OPERATORS

NDArray = np.ndarray[Any, Any]
PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
SIZE = 1 << 16
# What NumPy's own functions may be off on the CPU.
ON_CPU = 4.0
# Complex functions of NumPy's are the C library's, and its power is less exact.
COMPLEX_ON_CPU = {"pow": 60.0}
BINARY = ("atan2", "divide", "hypot", "logaddexp", "multiply", "pow")
NUMPY = {"atan2": "arctan2", "pow": "power"} | {
    name: f"arc{name[1:]}" for name in OPERATORS if name[:2] in ("as", "ac")
}
NUMPY |= {"atan": "arctan", "atanh": "arctanh"}

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


BOUNDS = table()
entries = pytest.mark.parametrize(("name", "dtype"), BOUNDS, ids=str)


def reference(name: str, *operands: NDArray) -> NDArray:
    if name in activations.CALLS:
        return activations.reference(name, *operands)
    if name == "log1p" and operands[0].dtype.kind == "c":  # NumPy's adds 1 first
        (z,) = operands
        return np.log1p(z.real * (2 + z.real) + z.imag**2) / 2 + 1j * np.arctan2(z.imag, 1 + z.real)
    return np.asarray(getattr(np, NUMPY.get(name, name))(*operands))


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


def computed(name: str, device: Any, operands: list[NDArray]) -> NDArray:
    function = activations.CALLS.get(name) or getattr(xp, name)
    host: NDArray = function(*(xp.asarray(x, device=device) for x in operands)).to_numpy()
    return host


@entries
def test_entry(name: str, dtype: Any, device: Any) -> None:
    make = complex_operand if dtype.kind == "c" else real_operand
    operands = [make(dtype, seed) for seed in ("xy" if name in BINARY else "x")]
    if len({x.size for x in operands}) > 1:
        operands = [np.resize(x, max(other.size for other in operands)) for x in operands]
    bound = BOUNDS[name, dtype]
    if device == CPU:
        bound = max(bound, ON_CPU, COMPLEX_ON_CPU.get(name, 0) if dtype.kind == "c" else 0)
    got = computed(name, device, operands)
    if dtype.kind == "c":
        wide = np.complex128 if dtype == dt.complex64 else np.clongdouble
        wanted = reference(name, *(x.astype(wide) for x in operands))
        error = np.abs(got.astype(wide) - wanted) / (np.abs(wanted) * float(np.finfo(dtype).eps))
    else:
        wanted = reference(name, *(x.astype(WIDE[dtype]) for x in operands))
        error = ulp_error(got, wanted)
        if name == "logaddexp":
            larger = np.maximum(*(np.abs(x.astype(WIDE[dtype])) for x in operands))
            error = np.where(np.abs(wanted) < larger / 2, 0, error)
        if name == "hypot":  # infinite beside NaN too, which some versions of NumPy do not know
            error = np.where(np.isinf(operands[0]) | np.isinf(operands[1]), np.where(np.isinf(got), 0, np.inf), error)
    worst = int(np.argmax(error))
    assert error[worst] <= bound, [x[worst] for x in operands]


def test_every_transcendental_function_has_an_entry_for_every_dtype() -> None:
    transcendental = {
        (name, dtype)
        for name, op in (OPERATORS | ACTIVATIONS).items()
        if op.transcendental and op not in INTERNAL
        for dtype in (*dt.REAL_FLOATS, *dt.COMPLEX_FLOATS)
        if dtype in dt.CATEGORIES[op.accepts]
    }
    assert transcendental <= set(BOUNDS)
