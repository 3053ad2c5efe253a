"""The semantics of user-defined kernels. Each case makes calls; its argument `put` copies an ndarray to a GPU.

The behaviours are those that CuPy's tests and reference require of its ElementwiseKernel and ReductionKernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from xpops.api.kernel import ElementwiseKernel, ReductionKernel, ScanKernel, functor

NDArray = np.ndarray[Any, Any]
Put = Callable[[Any], Any]

RANDOM = np.random.default_rng(12)
DTYPES = (
    "bool",
    "int8",
    "int32",
    "int64",
    "uint8",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
SHAPES = ((2, 3, 4), (1,), (), (3, 1, 5))

ADD = ElementwiseKernel("T x, T y", "T z", "z = x + y", "add_two")
RAW_ADD = ElementwiseKernel("raw T x, raw T y", "raw T z", "z[i] = x[i] + y[i]", "raw_add")
TOTAL = ReductionKernel("T x", "T out", "x", "a + b", "out = a", "0", "total")
HIGHEST = ReductionKernel("T x", "T out", "x", "a > b ? a : b", "out = a", "", "highest")


def arange(shape: tuple[int, ...], dtype: Any) -> NDArray:
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


def same(got: Any, wanted: Any) -> None:
    found, wanted = got.to_numpy(), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(found, wanted)


def raw_and_elementwise_agree(put: Put) -> None:
    x, y = (put(RANDOM.normal(size=100).astype(np.float32)) for _ in range(2))
    same(RAW_ADD(x, y, size=100), ADD(x, y).to_numpy())


def python_scalars(put: Put) -> None:
    for kind in (int, float, bool):
        host = RANDOM.integers(0, 2, (4, 5)).astype(kind)
        same(ADD(put(host), kind(2)), (host + host.dtype.type(2)).astype(host.dtype))


def numpy_scalars(put: Put) -> None:
    for dtype in DTYPES:
        host = RANDOM.integers(0, 2, (4, 5)).astype(dtype)
        same(ADD(put(host), host.dtype.type(2)), host + host.dtype.type(2))


def large_scalars_wrap(put: Put) -> None:
    for value in (-1, 2**32, 2**63 - 1, -(2**63)):
        for dtype in ("int8", "uint16", "int64", "float32"):
            host = arange((2, 3, 4), dtype)
            same(ADD(put(host), value), host + np.array(value).astype(dtype))


def every_shape(put: Put) -> None:
    for shape in SHAPES:
        host = arange(shape, "float32")
        same(ADD(put(host), put(host)), host + host)
    same(ADD(put(arange((3, 1), "int32")), put(arange((4,), "int32"))), arange((3, 1), "int32") + arange((4,), "int32"))


def nothing_at_all(put: Put) -> None:
    for shape in ((0,), (1, 0, 2)):
        x = put(np.zeros(shape, np.float32))
        same(ADD(x, 1), np.zeros(shape, np.float32))
        out = put(np.zeros(shape, np.float32))
        assert ADD(x, x, out) is out
    same(RAW_ADD(x, x, size=0), np.zeros(0, np.float32))


def mixed_dtypes(put: Put) -> None:
    kernel = ElementwiseKernel("float32 x, U y, bool b", "float64 z, U w", "z = b ? x * y : 0; w = y + b", "mixed")
    x, y, b = arange((3, 4), "float32"), arange((4,), "int16"), arange((3, 1), "int8") % 2 == 1
    for_z, for_w = kernel(put(x), put(y), put(b))
    same(for_z, np.where(b, x * y, 0).astype(np.float64))
    same(for_w, (y + b).astype(np.int16))


def halves(put: Put) -> None:
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = RANDOM.normal(size=(7, 5)).astype(dtype)
        kernel = ElementwiseKernel("T x, raw T y", "T z", "z = x * y[n - 1 - i] + 1", "halves")
        wide = x.astype(np.float32)
        same(kernel(put(x), put(x)), (wide * wide.ravel()[::-1].reshape(7, 5) + 1).astype(dtype))


def complex_numbers(put: Put) -> None:
    x = (RANDOM.integers(-5, 5, 20) + 1j * RANDOM.integers(-5, 5, 20)).astype(np.complex64)
    kernel = ElementwiseKernel("complex64 x, T y", "complex64 z, float32 r", "z = x * y; r = x.re - x.im", "complexes")
    z, r = kernel(put(x), put(x.real.copy()))
    same(z, x * x.real)
    same(r, x.real - x.imag)


def places(put: Put) -> None:
    """The place of an element from `_ind`, and arrays indexed by it."""
    kernel = ElementwiseKernel(
        "T x, raw T y", "T z, int64 k, int32 axes",
        "z = y[_ind.get()]; k = 100 * _ind.get()[0] + 10 * _ind.get()[1] + _ind.get()[2]; axes = _ind.ndim + y.ndim",
        "places", reduce_dims=False,
    )  # fmt: skip
    x = arange((4, 3, 2), "float32")
    for first, second in ((x, x), (x, x[::-1, ::-1]), (np.asfortranarray(x), x), (x[:, :1], x[:, ::2][:, :1])):
        z, k, axes = kernel(put(first), put(second))
        i, j, m = np.indices(first.shape)
        same(z, second)
        same(k, (100 * i + 10 * j + m).astype(np.int64))
        same(axes, np.full(first.shape, 6, np.int32))
    turned = ElementwiseKernel(
        "raw T x", "raw T y",
        "long at[2] = {i % x.shape()[0], i / x.shape()[0]}; y[i] = x[at]; y[i] += T(x.strides()[1] / sizeof(T))",
        "turned",
    )  # fmt: skip
    x = arange((4, 5), "int32")
    same(turned(put(x), size=20), x.T.ravel() + np.int32(1))
    same(turned(put(x[::2]), size=10), x[::2].T.ravel() + np.int32(1))
    line = ElementwiseKernel("", "int64 k", "k = _ind.get()[0] * _ind.size()", "line")
    same(line(put(np.zeros((3,), np.int64))), np.arange(3) * 3)


def several_results(put: Put) -> None:
    kernel = ElementwiseKernel("T x", "T y, int32 sign", "y = x * x; sign = x > 0 ? 1 : -1", "several")
    x = arange((3, 4), "float64") - 5
    got = kernel(put(x))
    assert isinstance(got, tuple)
    same(got[0], x * x)
    same(got[1], np.where(x > 0, 1, -1).astype(np.int32))


def results_that_are_given(put: Put) -> None:
    x = arange((3, 4), "int32")
    into = ElementwiseKernel("T x", "T y", "y += x", "into")
    out = put(np.ones((3, 4), np.int32))
    assert into(put(x), out) is out
    same(out, x + 1)
    base = put(np.zeros((4, 6), np.int32))
    turned = xp.permute_dims(base[:, ::2], (1, 0))  # not contiguous
    assert into(put(x), turned) is turned
    wanted = np.zeros((4, 6), np.int32)
    wanted[:, ::2] = x.T
    same(base, wanted)
    other = ElementwiseKernel("T x", "U y", "y = x * 0.5", "other")
    halved = put(np.zeros((3, 4)))
    other(put(x), halved)
    same(halved, x * 0.5)
    alone = ElementwiseKernel("", "T y", "y = i", "alone")
    same(alone(put(np.zeros((2, 3), np.int64))), arange((2, 3), "int64"))


def ways_to_return(put: Put) -> None:
    x = put(arange((3,), "float32"))
    one = ElementwiseKernel("T x", "T y", "y = x", "one", return_tuple=True)
    none = ElementwiseKernel("T x", "T y", "y = x + 1", "none", no_return=True)
    for _ in range(2):  # the second time from memory
        got = one(x)
        assert isinstance(got, tuple)
        same(got[0], arange((3,), "float32"))
    out = put(np.zeros(3, np.float32))
    assert none(x, out) is None
    same(out, arange((3,), "float32") + 1)
    assert one(x, out)[0] is out
    same(ADD(x, 1, block_size=1), arange((3,), "float32") + 1)


def what_is_around_the_operation(put: Put) -> None:
    around = ElementwiseKernel(
        "T x, raw T weights",
        "T y",
        "if (x < 0) continue;\n y = x * first;",
        "around",
        loop_prep="const T first = weights[0];",
    )
    x = arange((5, 3), "float64") - 4
    same(around(put(x), put(np.array([3.0, 4.0]))), np.maximum(x, 0) * 3)
    highest = ElementwiseKernel(
        "int32 x",
        "raw int64 found",
        "mine += x",
        "highest",
        loop_prep="long long mine = 0",
        after_loop="if (mine == n) found[0] = mine",
    )
    found = put(np.zeros(1, np.int64))
    highest(put(np.arange(1001, dtype=np.int32)[::-1][:1000].copy()), found)
    same(found, np.array([1000]))


def macros(put: Put) -> None:
    x = arange((3, 4), "float32")
    kernel = ElementwiseKernel(
        "T x", "T y", "y = x * N + added()", "macros", preamble="XPOPS_DEVICE float added() { return M; }",
        options=("-DN=(2 + 1)", "-DM", "--std=c++14"),
    )  # fmt: skip
    same(kernel(put(x)), x * 3 + 1)
    scaled = ReductionKernel("T x", "T y", "x", "a + b", "y = a * N", "0", "scaled", options=["--define-macro=N=2"])
    same(scaled(put(x), axis=0), 2 * x.sum(0))
    same(scaled(put(x[:0]), axis=0), np.zeros(4, np.float32))
    with pytest.raises(
        ValueError, match="wrong: options has '-lineinfo'; accepted: definitions like '-DN=4'; a RawMod"
    ):
        ElementwiseKernel("T x", "T y", "y = x", "wrong", options=("-lineinfo",))


def mistakes(put: Put) -> None:
    x = put(arange((3, 4), "int32"))
    with pytest.raises(ValueError, match=r"into: out has shape \(4,\); accepted: \(3, 4\)"):
        ElementwiseKernel("T x", "T y", "y += x", "into")(x, put(np.arange(4, dtype=np.int32)))
    with pytest.raises(ValueError, match=r"add_two: shapes \(3, 4\), \(3,\) cannot be broadcast"):
        ADD(x, put(arange((3,), "int32")))
    with pytest.raises(TypeError, match="add_two: 1 arguments and 0 in out; accepted: 2, and 1 or none"):
        ADD(x)
    with pytest.raises(TypeError, match="add_two: 4 arguments and 0 in out"):
        ADD(x, x, x, x)
    with pytest.raises(TypeError, match="y has dtype float32; accepted: int32, as T is"):
        ADD(x, put(arange((3, 4), "float32")))
    for wrong in (0, -1, 2.5):
        with pytest.raises(ValueError, match=f"add_two: block_size is {wrong}; accepted: an integer, 1 or more"):
            ADD(x, x, block_size=wrong)
    with pytest.raises(ValueError, match="size is 3 beside arrays that are not raw"):
        ADD(x, x, size=3)
    with pytest.raises(ValueError, match="name is '1'; accepted: a name as C"):
        ElementwiseKernel("T x", "", "", "1")
    with pytest.raises(ValueError, match="ReductionKernel: name is '1'"):
        ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name="1")


def reductions_of_sizes(put: Put) -> None:
    for size in (1, 2, 3, 31, 32, 33, 255, 257, 1025):
        row = RANDOM.integers(-100, 100, (size, 5)).astype(np.int8)
        for host, axis in ((row[:, 0].copy(), None), (row, 0), (row.T.copy(), 1)):
            same(TOTAL(put(host), axis=axis), host.sum(axis, dtype=np.int8))


def axes_of_reductions(put: Put) -> None:
    host = RANDOM.integers(-9, 9, (3, 4, 5)).astype(np.int64)
    x = put(host)
    for axis in (None, 0, 1, -1, (0, 2), (-1, 0), (0, 1, 2), ()):
        for keepdims in (False, True):
            same(TOTAL(x, axis=axis, keepdims=keepdims), host.sum(axis, keepdims=keepdims))
    same(TOTAL(put(np.array(7.0))), np.array(7.0))


def reductions_into_arrays(put: Put) -> None:
    host = RANDOM.integers(-9, 9, (3, 4, 5)).astype(np.int64)
    x, out = put(host), put(np.zeros((3, 5), np.int64))
    for _ in range(2):  # the second time from memory
        assert TOTAL(x, out=out, axis=1) is out
        same(out, host.sum(1))
    assert TOTAL(x, put(np.zeros((1, 4, 1), np.int64)), axis=(0, 2), keepdims=True).shape == (1, 4, 1)
    base = put(np.zeros((5, 6), np.int64))
    turned = xp.permute_dims(base[:, ::2], (1, 0))
    TOTAL(x, turned, axis=1)
    wanted = np.zeros((5, 6), np.int64)
    wanted[:, ::2] = host.sum(1).T
    same(base, wanted)
    backwards = put(np.zeros(4, np.int64))
    TOTAL(x, xp.flip(backwards), axis=(0, 2))
    same(backwards, host.sum((0, 2))[::-1])
    wide = ReductionKernel("T x", "U y", "x", "a + b", "y = a", "0", "wide", reduce_type="U")
    same(wide(put(np.full(1000, 100, np.int8)), put(np.zeros((), np.int32))), np.array(100_000, np.int32))
    dot = ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", 0, "dot")
    same(dot(x, 2, put(np.zeros(3, np.int64)), axis=(1, 2)), 2 * host.sum((1, 2)))
    with pytest.raises(ValueError, match=r"total: out has shape \(3, 4\); accepted: \(3, 5\)"):
        TOTAL(x, put(np.zeros((3, 4), np.int64)), axis=1)
    with pytest.raises(TypeError, match="total: x has dtype int64; accepted: int32, as T is"):
        TOTAL(x, put(np.zeros((3, 5), np.int32)), axis=1)
    raw = ReductionKernel("raw T x, T z", "T y", "x[n - 1 - i] * z", "a + b", "y = a", "0", "raw")
    line, twos = arange((6,), "float32"), np.full(6, 2, np.float32)
    same(raw(changed := put(line), put(twos), out=changed[2:3], keepdims=True), np.float32([2 * line.sum()]))
    same(changed[3:], line[3:])
    with pytest.raises(ValueError, match="total: out overlaps x; accepted: memory apart"):
        TOTAL(x, x[:, 0, :], axis=1)
    with pytest.raises(ValueError, match="total: out is read-only; accepted: a writable array"):
        TOTAL(x, xp.broadcast_to(out[:, :1], (3, 5)), axis=1)
    with pytest.raises(TypeError, match=r"total: out is 3\.0; accepted: an array"):
        TOTAL(x, out=3.0)
    with pytest.raises(TypeError, match="total: 3 arguments and 0 in out; accepted: 1, and 1 or none"):
        TOTAL(x, x, x)


def identities(put: Put) -> None:
    nothing = put(np.zeros((0, 3), np.float32))
    same(TOTAL(nothing), np.array(0, np.float32))
    same(TOTAL(nothing, axis=0), np.zeros(3, np.float32))
    same(TOTAL(nothing, axis=1), np.zeros(0, np.float32))
    for kernel in (HIGHEST, ReductionKernel("T x", "T y", "x", "a > b ? a : b", "y = a", None, "highest")):
        with pytest.raises(ValueError, match=r"highest: nothing is reduced, of shape \(0, 3\) along the axes \(0,\)"):
            kernel(nothing, axis=0)
        same(kernel(nothing, axis=1), np.zeros(0, np.float32))
        for shape in ((1,), (5,), (33, 7), (3000,), (3, 700)):
            host = -1 - RANDOM.random(shape).astype(np.float32)  # all below 0, the value of an empty state
            same(kernel(put(host)), host.max())
            for axis in range(len(shape)):
                same(kernel(put(host), axis=axis), host.max(axis))
    product = ReductionKernel("T x", "T y", "x", "a * b", "y = a", 1, "product")
    same(product(put(np.array([2.0, 3.0, 4.0]))), np.array(24.0))


def types_of_states(put: Put) -> None:
    host = RANDOM.integers(0, 2, (40, 6)).astype(bool)
    count = ReductionKernel("T x", "int64 y", "x", "a + b", "y = a", "0", "count", reduce_type="int64")
    same(count(put(host), axis=0), host.sum(0))
    same(ReductionKernel("T x", "T y", "x", "a || b", "y = a", "false", "either")(put(host), axis=1), host.any(1))
    place = ReductionKernel(
        "T x", "int64 y", "At{x, i}", "a.x >= b.x ? a : b", "y = a.at", "At{-1e30f, 0}", "place", reduce_type="At",
        preamble="struct At { float x; long long at; };",
    )  # fmt: skip
    with pytest.raises(ValueError, match="place: reduce_type is 'At'; accepted where map_expr is a kernel of its own"):
        place(put(host.astype(np.float32)))
    for dtype in (np.float16, ml_dtypes.bfloat16):
        x = RANDOM.normal(size=(64, 5)).astype(dtype)
        same(HIGHEST(put(x), axis=0), x.astype(np.float32).max(0).astype(dtype))
    z = (arange((6,), "float32") + 1j).astype(np.complex64)
    same(TOTAL(put(z)), z.sum())
    same(ReductionKernel("T x", "float32 y", "x.re", "a + b", "y = a", "0", "reals")(put(z)), z.real.sum())


def reductions_of_broadcasts_and_raw_arrays(put: Put) -> None:
    x, y = arange((4, 1), "int64"), arange((5,), "int64")
    dot = ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", 0, "dot")
    same(dot(put(x), put(y), axis=1), (x * y).sum(1))
    same(dot(put(x), 3), np.array(3 * x.sum()))
    weighted = ReductionKernel("T x, raw T y", "T z", "x * y[_ind.size() - 1 - i]", "a + b", "z = a", 0, "weighted")
    same(weighted(put(y), put(y[::-1].copy())), np.array((y * y).sum()))
    along = ReductionKernel("T x, raw T y", "T z", "x * y[_ind.get()]", "a + b", "z = a", 0, "along")
    host = arange((3, 4), "int64")
    same(along(put(host), put(host[:, ::-1]), axis=0), (host * host[:, ::-1]).sum(0))


def states_of_other_types(put: Put) -> None:
    """Complex states of real numbers, and the real part of complex ones, in one kernel and in two."""
    x = arange((3, 4), "float32")
    z = (x + 1j).astype(np.complex64)
    for mapping in ("x", "x * (i >= 0)"):
        for state in ("complex64", "complex<float>"):
            lengths = ReductionKernel("T x", "T y", mapping, "a + b", "y = abs(a)", "0", "lengths", reduce_type=state)
            same(lengths(put(x), axis=0), x.sum(0))
            same(lengths(put(x[:0]), axis=0), np.zeros(4, np.float32))
        reals = ReductionKernel("T x", "float32 y", mapping, "a + b", "y = a", "0", "reals")
        same(reals(put(z), axis=0), x.sum(0))
    both = ReductionKernel("T x, T z", "T y", "x * z", "a + b", "y = abs(a)", "0", "both", reduce_type="complex64")
    same(both(put(x), put(x), axis=0), (x * x).sum(0))
    raw = ReductionKernel("raw T x, T z", "float32 y", "x[i]", "a + b", "y = a", "0", "raw")
    for dtype in ("float16", "bool", "complex64", "int8"):
        host = x.astype(dtype)
        same(raw(put(host), put(host)), host.real.sum(dtype=np.float32))
    letter = ReductionKernel("T x", "float32 y", "x", "a + b", "y = a.re", "0", "letter", reduce_type="T")
    same(letter(put(z[:0]), axis=0), np.zeros(4, np.float32))
    turned = ElementwiseKernel("float32 x", "float32 y", "complex<float> z(x, 1); z *= z; y = z.im", "turned")
    same(turned(put(x)), 2 * x)


def words_by_macros(put: Put) -> None:
    """``i``, ``n`` and ``_ind`` in macros."""
    x = arange((3, 4), "int64")
    for given in (
        {"options": ("-DPLACE=i",)},
        {"preamble": "#define PLACE NUMBER(0)\n#define NUMBER(k) \\\n  (i + k)"},
    ):
        same(ElementwiseKernel("T x", "T y", "y = x + PLACE", "placed", **given)(put(x)), 2 * x)
        same(ReductionKernel("T x", "T y", "PLACE", "a + b", "y = a", "0", "placed", **given)(put(x)), x.sum())
    along = ElementwiseKernel("T x", "T y", "y = x + ROW", "along", preamble="#define ROW _ind.get()[0]")
    same(along(put(x)), x + np.arange(3)[:, None])
    for preamble, row in (("#define PLACE _ind", "PLACE.get()[0]"), ("#define GET get", "_ind.GET()[0]")):
        along = ElementwiseKernel("T x", "T y", f"y = x + {row}", "along", preamble=preamble)
        same(along(put(x)), x + np.arange(3)[:, None])
    axes = ElementwiseKernel("T x", "int32 y", "y = _ind.ndim", "axes")
    same(axes(put(x)), np.full((3, 4), 2, np.int32))


def words_that_are_none(put: Put) -> None:
    """The same words in comments, as members, and as parameters of macros."""
    x = arange((3, 4), "float32")
    for count in ("1 /* i of n, _i of _j */", "Stat::_i", "Stat::n // one, not n\n", "ONE(1)", "int('n' == 'n')"):
        mean = ReductionKernel(
            "T x, T z", "T y", f"Stat{{x * z, {count}}}", "Stat{a.m + b.m, a.k + b.k}", "y = a.m / a.k // mean of n",
            "Stat{0, 0}", "mean", reduce_type="Stat",
            preamble="#define ONE(i) (i)\nstruct Stat { float m; int k; enum { n = 1, _i = 1 }; };",
        )  # fmt: skip
        same(mean(put(x), put(x), axis=1), (x * x).sum(1) / np.float32(4))


def comments(put: Put) -> None:
    x = put(arange((2, 3), "float32"))
    for mapping, shape in (("x // each", (2, 3)), ("x * (i >= 0) // each", (2, 3)), ("x // each", (0, 3))):
        kernel = ReductionKernel("T x", "T y", mapping, "a + b // two", "y = a // done", "0 // zero", "told")
        same(kernel(x[: shape[0]], axis=0), arange(shape, "float32").sum(0))


def names_of_ours(put: Put) -> None:
    """User types with names of ours, and parameters with the names of our functions."""
    x = put(arange((3, 4), "int32"))
    for preamble in ("enum Mode { A, B };", "struct Operand { float v; };", "struct Pack { int v; };"):
        same(ElementwiseKernel("T run", "T y", "y = run", "named", preamble=preamble)(x), arange((3, 4), "int32"))
        for names, mapping in (("T x", "x"), ("T x, T z", "x + 0 * z"), ("T x, T z", "x + 0 * z * i")):
            total = ReductionKernel(names, "T y", mapping, "a + b", "y = a", "0", "named", preamble=preamble)
            arguments = (x,) * (1 + names.count(","))
            same(total(*arguments, axis=0), arange((3, 4), "int32").sum(0, dtype=np.int32))
        running = ScanKernel("T x", "T y", "x", "a + b", "y = a", "named", preamble=preamble)
        same(running(x, axis=1), arange((3, 4), "int32").cumsum(1, dtype=np.int32))
    again = ElementwiseKernel("T x", "T y", "y = x * n", "again", loop_prep="int n = 3;")
    same(again(x), 3 * arange((3, 4), "int32"))
    for name in ("run", "y", "x0", "i"):
        structure = f"struct {name} {{ XPOPS_DEVICE int operator()(int x) const {{ return x + 1; }} }};"
        same(functor(structure)(x), arange((3, 4), "int32") + 1)


def truth_in_raw_arrays(put: Put) -> None:
    x, y = np.array([True, False, True, False]), np.array([True, True, False, False])
    for operator, wanted in (("|", x | y), ("&", x & y), ("^", x ^ y), ("+", x | y), ("*", x & y), ("-", x ^ y)):
        changed = put(y)
        ElementwiseKernel("raw bool x", "raw bool y", f"y[i] {operator}= x[i]", "changed")(put(x), changed, size=4)
        same(changed, wanted)


def results_declared_anew(put: Put) -> None:
    """Results declared again: an assignment to another variable of the same name would be lost."""
    x = put(arange((3,), "float32"))
    for operation, around in (("y = 2 * x", "T y = 5;"), ("T y = 2 * x", "")):
        with pytest.raises(RuntimeError, match=r"anew.*y"):
            ElementwiseKernel("T x", "T y", operation, "anew", loop_prep=around)(x)
    same(ElementwiseKernel("T x", "T y", "T z = 2 * x; { T y = 1; z += y; } y = z", "inner")(x), np.float32([1, 3, 5]))


def results_beside_each_other(put: Put) -> None:
    kernel = ElementwiseKernel("T x", "T y, T z", "y = x; z = -x", "beside")
    x, base = arange((4,), "float32"), put(np.zeros(8, np.float32))
    for out in ((base[:4], base[4:]), (base[::2], base[1::2]), [base[1::2], base[::2]], (base[3::-1], base[4:])):
        got = kernel(put(x), out=out)
        assert all(one is other for one, other in zip(got, out, strict=True))
        same(out[0], x)
        same(out[1], -x)
    for out in ((base[:4], base[1:5]), (base[:4], base[:4]), (base[4:], base[2:6]), (base[::2], base[2:6])):
        with pytest.raises(ValueError, match="beside: y overlaps z; accepted: memory apart"):
            kernel(put(x), out=out)
    with pytest.raises(ValueError, match="beside: z partly overlaps x; accepted: the same elements, or memory apart"):
        kernel(base[:4], out=(put(x), base[1:5]))
    same(kernel(base[::2], out=(base[1::2], put(x)))[0], base[::2].to_numpy())  # between the elements of the operand
    columns, host = put(np.zeros((3, 4), np.float32)), arange((3, 2), "float32")
    kernel(put(host), out=(columns[:, :2], columns[:, 2:]))
    same(columns, np.concatenate([host, -host], 1))
    TOTAL(columns[:, 1:], axis=1, out=columns[:, 0])
    same(columns[:, 0], np.float32([0, -2, -4]))
    TOTAL(columns[::2], axis=0, out=columns[1])
    same(columns[1], (columns[0] + columns[2]).to_numpy())
    with pytest.raises(ValueError, match="total: out overlaps x; accepted: memory apart"):
        TOTAL(columns, axis=1, out=columns[:3, 2])


def ways_to_name_axes(put: Put) -> None:
    host = RANDOM.integers(-9, 9, (3, 4, 5)).astype(np.int64)
    x = put(host)
    for axis in (np.array(0), np.int32(1), [0, np.int64(1)], (np.array(-1), 0)):
        for _ in range(2):  # the second time from memory
            same(TOTAL(x, axis=axis), host.sum(tuple(axis) if isinstance(axis, list) else axis))
    with pytest.raises(TypeError, match=r"total: \{0: 1\} is no argument; accepted: integers and tuples of them"):
        TOTAL(x, axis={0: 1})
    first = ReductionKernel("raw T x", "T y", "x[0]", "a + b", "y = a", 0, "first")
    with pytest.raises(ValueError, match=r"first: no array says how many .*; accepted: an array that is not raw"):
        first(x)


def names_that_cannot_be(put: Put) -> None:
    for text, message in (
        ("T template", "in_params has 'template', a keyword of C"),
        ("float32 int", "in_params has 'int', a keyword of C"),
        ("n x", "in_params has 'n x'; accepted: .* with a letter other than i and n"),
        ("raw i x", "in_params has 'raw i x'; accepted"),
        ("T _ind", "in_params has '_ind' twice, or it is one of i, n, _ind"),
    ):
        with pytest.raises(ValueError, match=message):
            ElementwiseKernel(text, "float32 y", "y = 1", "wrong")


CASES: dict[str, Callable[[Put], None]] = {
    case.__name__: case
    for case in (
        raw_and_elementwise_agree, python_scalars, numpy_scalars, large_scalars_wrap, every_shape, nothing_at_all,
        mixed_dtypes, halves, complex_numbers, places, several_results, results_that_are_given, ways_to_return,
        what_is_around_the_operation, macros, mistakes, reductions_of_sizes, axes_of_reductions, reductions_into_arrays,
        identities, types_of_states, reductions_of_broadcasts_and_raw_arrays, states_of_other_types, words_by_macros,
        words_that_are_none, comments, names_of_ours, truth_in_raw_arrays, results_beside_each_other,
        results_declared_anew, ways_to_name_axes, names_that_cannot_be,
    )
}  # fmt: skip
