"""Special functions on each device: SciPy's names, values, errors, and what happens without SciPy."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.rows import ON_CPU
from tests.helpers.special_cases import CASES
from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.ops.operator import Operator
from xpops.ops.special import SPECIAL
from xpops.ops.special.host import OfSciPy
from xpops.testing import ulp_error

NDArray = np.ndarray[Any, Any]
rows = pytest.mark.parametrize("op", SPECIAL.values(), ids=str)
# SciPy's names that xpops.special lacks, with reasons.
MISSING: dict[str, str] = {}


def function_of(op: Operator) -> Any:
    return getattr(xp.special, op.public)


def test_every_name_that_scipy_looks_up() -> None:
    layer = pytest.importorskip("scipy.special._support_alternative_backends")
    names = {info.func.__name__ for info in layer._special_funcs} | {"digamma"}
    assert names - set(xp.special.__all__) == MISSING.keys()


def test_names() -> None:
    assert sorted(xp.special.__all__) == sorted({op.public for op in SPECIAL.values()} | {"digamma"})
    assert xp.special.digamma is xp.special.psi


@rows
@pytest.mark.parametrize("dtype", [dt.float32, dt.float64], ids=str)
def test_values(op: Operator, dtype: Any, device: Any) -> None:
    """On a GPU against mpmath; on the CPU against SciPy, whose functions they are."""
    case = CASES[op.name]
    operands = case.operands(dtype, 40, op.name)
    arrays = [xp.asarray(x, device=device) for x in operands]
    for _ in range(2):
        made = function_of(op)(*arrays)
        assert (made.dtype, made.shape) == (dtype, operands[0].shape)
        got = made.to_numpy()
    if device == CPU and type(op.cpu) is OfSciPy:
        special = pytest.importorskip("scipy.special")
        np.testing.assert_array_equal(got, getattr(special, op.public)(*operands))
    else:
        bound = op.error(dtype) if device != CPU else max(ON_CPU, op.error(dtype))
        # NumPy takes the sine of a rounded multiple of pi.
        absolute = float(np.finfo(dtype).eps) if device == CPU and op.name == "sinc" else 0
        exact = case.exact(operands, got)
        assert np.all((ulp_error(got, exact) <= bound) | (np.abs(got - exact) <= absolute))


@rows
def test_halves_are_rounded_once(op: Operator, device: Any) -> None:
    single = [x.astype(np.float16).astype(np.float32) for x in CASES[op.name].operands(dt.float32, 20, op.name)]
    wanted = function_of(op)(*(xp.asarray(x, device=device) for x in single))
    for half in (dt.float16, dt.bfloat16):
        operands = [xp.astype(xp.asarray(x, device=device), half) for x in single]
        again = function_of(op)(*(xp.astype(x, dt.float32) for x in operands))
        got = function_of(op)(*operands)
        assert got.dtype == half
        with np.errstate(over="ignore"):
            expected = (wanted if half == dt.float16 else again).to_numpy().astype(half)
        np.testing.assert_array_equal(got.to_numpy().astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("name", ["gammainc", "betainc", "erf", "xlogy"])
def test_scalars_shapes_and_out(name: str, device: Any) -> None:
    special = pytest.importorskip("scipy.special")
    op = SPECIAL[name]
    x = np.linspace(0.1, 0.9, 12).reshape(3, 4)
    others = [0.5, 2][: op.arity - 1]
    for _ in range(2):
        got = function_of(op)(*others, xp.asarray(x.T, device=device))
        np.testing.assert_allclose(got.to_numpy(), getattr(special, name)(*others, x.T), rtol=1e-13)
        out = xp.zeros((3, 4), device=device)
        assert function_of(op)(*others, xp.asarray(x, device=device), out=out) is out
        np.testing.assert_allclose(out.to_numpy(), getattr(special, name)(*others, x), rtol=1e-13)
    whole = xp.asarray([1, 2], device=device)
    assert function_of(op)(*others, whole).dtype == dt.float64
    column = xp.asarray(x[:, :1], device=device)
    assert function_of(op)(*[xp.asarray(x[0], device=device)] * (op.arity - 1), column).shape in ((3, 4), (3, 1))


@pytest.mark.parametrize("name", ["gammainc", "xlogy", "huber", "expn", "bdtr", "pdtri", "nbdtr"])
@pytest.mark.parametrize("whole", [dt.int32, dt.int64], ids=str)
@pytest.mark.parametrize("other", [dt.float16, dt.float32, dt.float64], ids=str)
def test_arrays_of_integers_count_as_float64(name: str, whole: Any, other: Any, device: Any) -> None:
    """As in SciPy."""
    special = pytest.importorskip("scipy.special")
    share = np.asarray([0.25, 0.5, 0.75]).astype(other)
    counts = [np.asarray(each, whole) for each in ([1, 2, 3], [4, 5, 6])][: SPECIAL[name].arity - 1]
    wanted = getattr(special, name)(*counts, share)
    assert wanted.dtype == dt.float64
    for _ in range(2):
        got = function_of(SPECIAL[name])(*(xp.asarray(x, device=device) for x in (*counts, share)))
        assert got.dtype == dt.float64
        np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-13)


@pytest.mark.parametrize("narrow", [dt.bool, dt.int8, dt.uint16], ids=str)
def test_dtypes_of_mixed_operands(narrow: Any, device: Any) -> None:
    """All integers become the default dtype, booleans too. Python's numbers do not decide; 0-d arrays do."""
    share = xp.asarray([0.25, 0.5], dtype=dt.float32, device=device)
    counts = xp.ones(2, dtype=narrow, device=device)
    wanted = -np.expm1([-0.25, -0.5])
    for _ in range(2):
        for first in (counts, counts[0]):
            got = xp.special.gammainc(first, share)
            assert got.dtype == dt.float64
            np.testing.assert_allclose(got.to_numpy(), wanted, rtol=1e-13)
        for scalar in (1, 1.0, True):
            weak = xp.special.gammainc(scalar, share)
            assert weak.dtype == dt.float32
            np.testing.assert_allclose(weak.to_numpy(), wanted, rtol=1e-6)


def test_counts_beyond_32_bits(device: Any) -> None:
    """SciPy's own functions take the low 32 bits of them. Two events among very many are a short sum."""
    n, p = 2**40 + 7, 1e-12
    first, ratio = np.exp(n * np.log1p(-p)), n * p / (1 - p)
    binomial = first * (1 + ratio + ratio * (n - 1) * p / (1 - p) / 2)
    share = n * np.log1p(-p)
    negative = np.exp(share) * (1 + n * p + n * p * (n + 1) * p / 2)
    trials, rare = xp.asarray([n], device=device), xp.asarray([p], device=device)
    two, often = xp.asarray([2], device=device), xp.asarray([1 - p], device=device)
    for _ in range(2):
        np.testing.assert_allclose(xp.special.bdtr(two, trials, rare).to_numpy(), binomial, rtol=1e-9)
        np.testing.assert_allclose(xp.special.bdtrc(two, trials, rare).to_numpy(), 1 - binomial, rtol=1e-9)
        solved = xp.special.bdtri(two, trials, xp.asarray([binomial], device=device))
        np.testing.assert_allclose(solved.to_numpy(), p, rtol=1e-9)
        # 1 - p has four digits of p.
        np.testing.assert_allclose(xp.special.nbdtr(two, trials, often).to_numpy(), negative, rtol=1e-4)
        np.testing.assert_allclose(xp.special.nbdtrc(two, trials, often).to_numpy(), 1 - negative, rtol=1e-3)
        lost = 1 - xp.special.nbdtri(two, trials, xp.asarray([negative], device=device)).to_numpy()
        np.testing.assert_allclose(lost, p, rtol=1e-3)
        # A Poisson distribution of a large mean has a median near it.
        median = xp.special.pdtri(trials, xp.asarray([0.5], device=device)).to_numpy()
        np.testing.assert_allclose(median, n + 2 / 3, rtol=1e-12)


def test_counts_at_the_edges(device: Any) -> None:
    special = pytest.importorskip("scipy.special")
    k, n, p = (each.ravel() for each in np.meshgrid([-5, -1, -0.5, 0, 0.7, 3, 4, np.nan], [1, 3, 4], [0, 0.2, 1, 1.1]))
    arrays = [xp.asarray(each, device=device) for each in (k, n.astype(float), p)]
    for name in ("bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc", "nbdtri"):
        # SciPy's bdtr of fractions of counts warns that it truncates them.
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = getattr(special, name)(k, n.astype(float), p)
        if name == "nbdtri":  # 0 and 1 in SciPy at shares of 0 and 1, whatever the counts are
            wanted = np.where(k > -1, wanted, np.nan)
        for _ in range(2):
            got = function_of(SPECIAL[name])(*arrays).to_numpy()
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-15, err_msg=name)


def test_zeta_of_one_and_of_two_operands(device: Any) -> None:
    x = xp.asarray([2.0, 4.0], device=device)
    np.testing.assert_allclose(xp.special.zeta(x).to_numpy(), [np.pi**2 / 6, np.pi**4 / 90], rtol=1e-14)
    np.testing.assert_allclose(xp.special.zeta(x, q=1.0).to_numpy(), xp.special.zeta(x).to_numpy(), rtol=1e-14)


def test_what_is_refused() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="gamma: dtype complex128 is not accepted; accepted: real floating-point"):
            xp.special.gamma(xp.asarray([1j]))
        with pytest.raises(ValueError, match="gammainc"):
            xp.special.gammainc(xp.ones(2), xp.ones(3))
        with pytest.raises(AttributeError, match="no_such_function"):
            _ = xp.special.no_such_function


def test_fused(device: Any) -> None:
    special = pytest.importorskip("scipy.special")

    @xp.fuse
    def both(x: Any, a: Any) -> Any:
        return xp.special.gammainc(a, x) * xp.special.expit(-x) + xp.special.xlogy(x, x)

    x = np.linspace(0.5, 3, 50)
    wanted = special.gammainc(2.0, x) * special.expit(-x) + special.xlogy(x, x)
    for _ in range(2):
        np.testing.assert_allclose(both(xp.asarray(x, device=device), 2.0).to_numpy(), wanted, rtol=1e-13)


@pytest.fixture
def without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, package: str | None = None) -> Any:
        if name.partition(".")[0] == "scipy":
            raise ImportError(name)
        return found(name, package)

    found = importlib.import_module
    monkeypatch.setattr("xpops.ops.special.host.import_module", refuse)
    for op in SPECIAL.values():
        if isinstance(op.cpu, OfSciPy):
            monkeypatch.setattr(op.cpu, "_found", None)


def result_or_error(op: Operator, operands: list[NDArray]) -> NDArray | ModuleNotFoundError:
    try:
        got: NDArray = function_of(op)(*(xp.asarray(x, device="cpu") for x in operands)).to_numpy()
    except ModuleNotFoundError as error:
        return error
    return got


@rows
@pytest.mark.usefixtures("without_scipy")
def test_without_scipy(op: Operator) -> None:
    """Some functions are NumPy's or Python's then; others name what to install."""
    case = CASES[op.name]
    for dtype in (dt.float64, dt.float32):
        operands = case.operands(dtype, 20, op.name)
        got = result_or_error(op, operands)
        if isinstance(got, ModuleNotFoundError):
            assert op.name not in ("erf", "erfc", "expit", "gamma", "gammaln", "ndtr", "rel_entr", "sinc", "xlogy")
            assert str(got) == f"{op.public}: on the CPU this is SciPy's, which is not installed; pip install scipy"
        else:
            assert op.name not in ("bdtr", "betainc", "gammainc", "ndtri")
            error = float(np.finfo(dtype).eps)
            wanted = case.exact(operands, got).astype(dtype)
            np.testing.assert_allclose(got, wanted, rtol=300 * error, atol=2 * error)


PROGRAM = """
import numpy as np, xpops as xp
from scipy import special, stats
xp.set_default_device("cpu")
x = xp.asarray(np.random.default_rng(1).normal(size=(40, 3)), device="cpu")
y = x + xp.asarray(np.random.default_rng(2).normal(size=(40, 3)), device="cpu")
size = xp.abs(x)
calls = {"entr": (x,), "ndtr": (x,), "gammainc": (size, xp.abs(y)), "polygamma": (1, size)}
for name, arguments in calls.items():
    made = getattr(special, name)(*arguments)
    assert isinstance(made, xp.Array), (name, type(made))
    wanted = getattr(special, name)(*(a if isinstance(a, int) else a.to_numpy() for a in arguments))
    np.testing.assert_allclose(made.to_numpy(), wanted, rtol=1e-13)
for test, arguments in {"ttest_ind": (x, y), "normaltest": (x,), "pearsonr": (x[:, 0], y[:, 0])}.items():
    made, wanted = getattr(stats, test)(*arguments), getattr(stats, test)(*(a.to_numpy() for a in arguments))
    assert isinstance(made.pvalue, xp.Array), test
    np.testing.assert_allclose(made.pvalue.to_numpy(), wanted.pvalue, rtol=1e-10)
    np.testing.assert_allclose(made.statistic.to_numpy(), wanted.statistic, rtol=1e-10)
print("done")
"""


def test_scipy_calls_them() -> None:
    """SciPy reads its setting at import, so in a process of its own."""
    pytest.importorskip("scipy")
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    shown = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, env=environment
    )
    assert shown.stdout == "done\n", shown.stderr


def test_scipy_is_imported_when_it_is_needed() -> None:
    pytest.importorskip("scipy")
    program = (
        "import sys, xpops as xp; erf, x = xp.special.erf, xp.ones(2, device='cpu');"
        "before = 'scipy.special' in sys.modules; erf(x); print(before, 'scipy.special' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout == "False True\n"
