"""Arrays of several blocks, on every device: elementwise functions, sorts with ties, long recurrences."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import xpops as xp
from conformance.references import reference_of
from tests.helpers.rows import COMPUTED, allowed_error, function_of, ordinary_values, parameters
from tests.helpers.values import WIDE, assert_within
from xpops.core import dtypes as dt
from xpops.ops.operator import Operator
from xpops.testing import generator, random_bits, ulp_error

NDArray = np.ndarray[Any, Any]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the references overflow and meet NaN on purpose

LAYOUTS = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.T,
    "every second": lambda x: x[:, ::2],
    "reversed": lambda x: x[::-1, ::-1],
    "broadcast": lambda x: (np if isinstance(x, np.ndarray) else xp).broadcast_to(x[:1], x.shape),
    "three axes": lambda x: (np if isinstance(x, np.ndarray) else xp).reshape(x, (7, -1, x.shape[1])),
}
ROWS = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in COMPUTED
    for dtype in dt.REAL_FLOATS
    if dtype in dt.CATEGORIES[op.accepts]
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("op", "dtype"), ROWS)
def test_elementwise(op: Operator, dtype: Any, layout: str, device: Any) -> None:
    hosts = ordinary_values(op, dtype, (301, 401) if layout != "three axes" else (7 * 43, 401))
    view = LAYOUTS[layout]
    arrays = [view(xp.asarray(host, device=device)) for host in hosts]
    wanted = reference_of(op)(
        *(view(host if host.dtype == dt.bool else host.astype(WIDE[dtype])) for host in hosts),
        *parameters(op, dtype)[0],
    )
    got = function_of(op)(*arrays).to_numpy()
    if got.dtype == dt.bool or not op.error(dtype):
        np.testing.assert_array_equal(got, np.asarray(wanted).astype(got.dtype))
    else:
        assert np.max(ulp_error(got, np.asarray(wanted))) <= allowed_error(op, dtype, device)


@pytest.mark.parametrize("out", [dt.float16, dt.bfloat16, dt.float64, dt.float8_e5m2], ids=str)
@pytest.mark.parametrize("dtype", [dt.float64, dt.int32, dt.int64, dt.uint64, dt.float16], ids=str)
def test_casts_round_once(dtype: Any, out: Any, device: Any) -> None:
    """Numbers around the middles between two numbers of 8 and of 11 bits: a first rounding would move them."""
    middles = np.ldexp(np.arange(257, 513, 2).astype(np.longdouble), 20)[:, None] + np.arange(-3, 4) * 2.0**-8
    middles = np.concatenate([middles * scale for scale in (2.0**-16, 2.0**-10, 2.0**4, 2.0**20)]).reshape(-1)
    host = np.resize(middles, 1 << 16).astype(dtype)
    got = xp.astype(xp.asarray(host, device=device), out).to_numpy()
    assert np.max(ulp_error(got, host.astype(np.longdouble))) <= 0.5


def assert_equal(got: NDArray, wanted: NDArray) -> None:
    """NumPy does not know the NaN of bfloat16."""
    assert got.dtype == wanted.dtype
    if got.dtype == dt.bfloat16:
        got, wanted = got.astype(np.float32), wanted.astype(np.float32)
    np.testing.assert_array_equal(got, wanted)


def stable_order(x: NDArray, descending: bool) -> NDArray:
    """Indices by value, -0.0 before 0.0, and NaN last, in Python."""

    def key(at: int) -> tuple[bool, Any, Any]:
        value = float(x[at]) if x.dtype in dt.REAL_FLOATS else int(x[at])
        sign = -1 if descending else 1
        nan = value != value
        return nan, 0 if nan else sign * value, 0 if nan else -sign * bool(np.signbit(value))

    return np.array(sorted(range(x.size), key=key), np.int64)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("values", ["ties", "bits"])
@pytest.mark.parametrize("dtype", [*dt.REAL_FLOATS, dt.int8, dt.uint16, dt.int64, dt.uint64, dt.bool], ids=str)
def test_sorts(dtype: Any, values: str, descending: bool, device: Any) -> None:
    shape = (3, 6007)
    if values == "bits" and dtype != dt.bool:
        host = random_bits(dtype, 3 * 6007, "sort").reshape(shape)
    else:
        host = generator("ties").integers(0, 40, shape).astype(dtype)
        if dtype in dt.REAL_FLOATS:
            host[host == 3], host[host == 5] = -0.0, np.nan
    order = np.stack([stable_order(row, descending) for row in host])
    ordered = np.take_along_axis(host, order, axis=-1)
    x = xp.asarray(host, device=device)
    assert_equal(xp.argsort(x, descending=descending).to_numpy(), order)
    found = xp.sort(x, descending=descending).to_numpy()
    assert_equal(found, ordered)
    if dtype in dt.REAL_FLOATS:
        assert_equal(np.signbit(found[ordered == 0]), np.signbit(ordered[ordered == 0]))
    if descending:
        for count in (1, 2, 17, 4000, 6006):
            top, at = xp.nn.topk(x, count)
            assert_equal(at.to_numpy(), order[:, :count])
            assert_equal(top.to_numpy(), ordered[:, :count])


def assert_right_or_nan(got: NDArray, wanted: NDArray) -> None:
    """What CUDA promises for an infinite discount."""
    known = ~np.isnan(got)
    np.testing.assert_array_equal(got[known], wanted[known])


@pytest.mark.parametrize("gamma", [0.0, 1e-200, 1e-30, 0.5, 0.9, 1.0, -0.99, -1.5, 2.0, np.inf, np.nan])
@pytest.mark.parametrize("special", [None, np.inf, np.nan])
def test_recurrences(gamma: float, special: float | None, device: Any) -> None:
    host = generator("recurrence").normal(size=(1500, 3))
    if special is not None:
        host[1200, 1] = special
    wanted = host.copy()
    for place in reversed(range(len(host) - 1)):
        wanted[place] += gamma * wanted[place + 1]
    for axis in (0, 1):
        given = host if axis == 0 else np.ascontiguousarray(host.T)
        got = xp.nn.discounted_cumsum(xp.asarray(given, device=device), gamma, axis=axis).to_numpy()
        got = got if axis == 0 else got.T
        if np.isinf(gamma) and device.type == "cuda":
            assert_right_or_nan(got, wanted)
            continue
        finite = np.isfinite(wanted)
        np.testing.assert_array_equal(got[~finite], wanted[~finite])
        np.testing.assert_allclose(got[finite], wanted[finite], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("dtype", [dt.float32, dt.float64], ids=str)
def test_gelu_against_mpmath(dtype: Any, device: Any) -> None:
    random = generator("gelu")
    host = np.concatenate([random.uniform(-40, 10, 1500), random.uniform(-15, 2, 1500), random.normal(size=500)])
    host = host.astype(dtype)
    with mpmath.workdps(40):
        wanted = np.array([np.longdouble(mpmath.nstr(_gelu(float(x)), 25)) for x in host])
    assert_within(xp.nn.gelu(xp.asarray(host, device=device)).to_numpy(), wanted, 8, host)


def _gelu(x: float) -> Any:
    return mpmath.mpf(x) * mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize("dtype", [dt.float16, dt.float32], ids=str)
@pytest.mark.parametrize("name", ["remainder", "floor_divide"])
def test_divisions_with_remainder(name: str, dtype: Any, device: Any) -> None:
    """Against Python's integers, which hold all operands exactly if both are scaled by a power of 2."""
    random = generator(name, dtype)
    x, y = (random_bits(dtype, 20000, f"{name} {seed}") for seed in "xy")
    y[::2] = (x[::2].astype(np.float64) / random.integers(1, 3000, 10000)).astype(dtype)  # near an integer quotient
    usual = np.isfinite(x) & np.isfinite(y) & (x != 0) & (y != 0)
    x, y = x[usual], y[usual]
    pairs = [(int(float(a) * 2.0**149), int(float(b) * 2.0**149)) for a, b in zip(x, y, strict=True)]
    got = getattr(xp, name)(xp.asarray(x, device=device), xp.asarray(y, device=device)).to_numpy()
    if name == "remainder":
        wanted = np.array([float(np.float64(a % b) * 2.0**-149) for a, b in pairs], dtype)
        np.testing.assert_array_equal(got, wanted)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(y))
    else:
        small = np.array([abs(a // b) < 2**11 for a, b in pairs])
        wanted = np.array([a // b if is_small else 0 for (a, b), is_small in zip(pairs, small, strict=True)])
        np.testing.assert_array_equal(got[small], wanted[small])
