"""Products of matrices and vectors against plain NumPy, on every device."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from xpops.core import dtypes as dt

NDArray = np.ndarray[Any, Any]
devices = st.sampled_from(DEVICES)
DTYPES = sorted(dt.CATEGORIES["arithmetic"], key=str)


def some(seed: int, dtype: Any, shape: tuple[int, ...]) -> NDArray:
    """Small integers, so that float sums are exact in any order."""
    random = np.random.default_rng(seed)
    if dtype == dt.bool:
        return random.random(shape) < 0.3
    found = random.integers(0 if dtype.kind == "u" else -5, 6, shape).astype(dtype)
    return found + 1j * random.integers(-5, 6, shape).astype(dtype) if dtype.kind == "c" else found


def wide(x: NDArray) -> NDArray:
    return x.astype(np.float64) if x.dtype in (dt.float16, dt.bfloat16) else x


def same(got: Any, wanted: Any, dtype: Any) -> None:
    assert got.dtype == dtype
    assert got.shape == wanted.shape
    np.testing.assert_array_equal(wide(got.to_numpy()), wide(np.asarray(wanted).astype(dtype)))


@st.composite
def factors(draw: st.DrawFn) -> tuple[NDArray, NDArray]:
    rows, inner, columns = (draw(st.sampled_from([0, 1, 2, 3, 7, 16, 33])) for _ in range(3))
    stack = draw(st.lists(st.sampled_from([0, 1, 2, 3]), max_size=3))
    pair = []
    dtype, seed = draw(st.sampled_from(DTYPES)), draw(st.integers(0, 1000))
    for matrix in ((rows, inner), (inner, columns)):
        lengths = tuple(1 if draw(st.booleans()) else length for length in stack[draw(st.integers(0, len(stack))) :])
        if draw(st.booleans()):
            x = some(seed, dtype, (*lengths, *reversed(matrix))).swapaxes(-1, -2)
        else:
            x = some(seed + 1, dtype, (*lengths, *matrix))
        if draw(st.booleans()):
            x = x[..., ::-1, :]
        pair.append(x)
    if draw(st.integers(0, 4)) == 0:
        pair[0] = pair[0][(0,) * (pair[0].ndim - 1)] if 0 not in pair[0].shape[:-1] else pair[0]
    if draw(st.integers(0, 4)) == 0:
        pair[1] = pair[1][(0,) * (pair[1].ndim - 2) + (slice(None), 0)] if 0 not in pair[1].shape else pair[1]
    return pair[0], pair[1]


@given(factors(), devices)
def test_matmul(pair: tuple[NDArray, NDArray], device: Any) -> None:
    x1, x2 = pair
    got = xp.matmul(xp.asarray(x1, device=device), xp.asarray(x2, device=device))
    same(got, np.asarray(np.matmul(wide(x1), wide(x2))), x1.dtype)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind in "fcV" or d == dt.bfloat16], ids=str)
def test_random_matrices(dtype: Any, device: Any) -> None:
    random = np.random.default_rng(3)
    x1, x2 = (random.standard_normal(shape).astype(dtype) for shape in ((3, 130, 257), (257, 65)))
    got = xp.matmul(xp.asarray(x1, device=device), xp.asarray(x2, device=device)).to_numpy()
    exact = np.matmul(x1.astype(np.clongdouble), x2.astype(np.clongdouble))
    eps = float(ml_dtypes.finfo(dtype).eps)
    bound = 257 * 2.0**-24 * np.abs(x1).astype(np.float64) @ np.abs(x2).astype(np.float64)
    loose = 4 * bound if eps > 1e-8 else 4 * bound * 2.0**-29
    assert np.all(np.abs(got.astype(np.clongdouble) - exact) <= loose + eps * np.abs(exact))


@pytest.mark.parametrize("device", DEVICES)
def test_float32_is_not_rounded_to_less(device: Any) -> None:
    x = np.float32(1 + 2.0**-13)
    ones, many = np.ones((256, 256), np.float32), np.full((256, 256), x)
    got = xp.matmul(xp.asarray(many, device=device), xp.asarray(ones, device=device))
    assert abs(float(got[0, 0]) - 256 * float(x)) < 256 * 2.0**-16


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers_wrap(dtype: str, device: Any) -> None:
    random, info = np.random.default_rng(5), np.iinfo(dtype)
    x1, x2 = (random.integers(info.min, info.max, (200, 200), dtype, endpoint=True) for _ in range(2))
    got = xp.matmul(xp.asarray(x1, device=device), xp.asarray(x2, device=device))
    np.testing.assert_array_equal(got.to_numpy(), x1 @ x2)


@pytest.mark.parametrize("device", DEVICES)
def test_mixed_dtypes_promote_first(device: Any) -> None:
    x1, x2 = (
        xp.asarray([[100, 100]], dtype=xp.int8, device=device),
        xp.asarray([[2], [2]], dtype=xp.int32, device=device),
    )
    assert (got := xp.matmul(x1, x2)).dtype == xp.int32
    assert int(got[0, 0]) == 400
    assert xp.matmul(x1, xp.asarray([[0.5], [0.5]], dtype=xp.float32, device=device)).dtype == xp.float32


@given(st.data(), devices)
def test_vecdot(data: st.DataObject, device: Any) -> None:
    shape = tuple(data.draw(st.lists(st.sampled_from([0, 1, 2, 5]), min_size=1, max_size=3)))
    dtype = data.draw(st.sampled_from([dt.float32, dt.complex64, dt.int16, dt.bfloat16]))
    axis = data.draw(st.integers(-len(shape), -1))
    other = tuple(1 if data.draw(st.booleans()) and place != axis % len(shape) else n for place, n in enumerate(shape))
    x1, x2 = some(1, dtype, shape), some(2, dtype, other)
    got = xp.vecdot(xp.asarray(x1, device=device), xp.asarray(x2, device=device), axis=axis)
    same(got, np.asarray(np.sum(np.conj(wide(x1)) * wide(x2), axis=axis)), dtype)


CONTRACTIONS: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = [
    ((2, 3, 4), (3, 4, 5), 2),
    ((2, 3), (4, 5), 0),
    ((2, 3, 4), (4, 3, 2), ((0, 1), (2, 1))),
    ((2, 3, 4), (4, 3, 2), ((-1,), (0,))),
    ((3, 4), (3, 4), ((0, 1), (0, 1))),
    ((0, 4), (4, 2), 1),
    ((2, 0), (0, 2), 1),
    ((), (2, 3), 0),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", CONTRACTIONS, ids=str)
def test_tensordot(case: Any, device: Any) -> None:
    first, second, axes = case
    x1, x2 = some(1, dt.float32, first), some(2, dt.float32, second)
    got = xp.tensordot(xp.asarray(x1, device=device), xp.asarray(x2, device=device), axes=axes)
    same(got, np.tensordot(x1, x2, axes), dt.float32)


EINSUMS = [
    ("ij,jk->ik", ((3, 4), (4, 5))),
    ("ij,jk", ((3, 4), (4, 5))),
    ("ij,jk->ki", ((3, 4), (4, 5))),
    ("ba,cb", ((3, 4), (5, 3))),
    ("ij->ji", ((3, 4),)),
    ("ii->i", ((4, 4),)),
    ("ii", ((4, 4),)),
    ("iji->j", ((4, 3, 4),)),
    ("ij->", ((3, 4),)),
    ("i,j->ij", ((3,), (4,))),
    ("bij,bjk->bik", ((2, 3, 4), (2, 4, 5))),
    ("bij,jk->kbi", ((2, 3, 4), (4, 5))),
    ("...ij,...jk->...ik", ((2, 1, 3, 4), (7, 4, 5))),
    ("i...,i...", ((3, 2, 4), (3, 4))),
    ("ij,kl->", ((2, 3), (4, 5))),
    ("ijk,kl,lm->im", ((2, 3, 4), (4, 5), (5, 6))),
    ("ij,ij,ij->ij", ((2, 3), (2, 3), (2, 3))),
    ("a,ab,abc->c", ((2,), (2, 3), (2, 3, 4))),
    ("ij, jk -> ik", ((3, 0), (0, 5))),
    ("ij,ij->i", ((3, 1), (3, 4))),
    (",ij", ((), (2, 3))),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", EINSUMS, ids=str)
@pytest.mark.parametrize("dtype", [dt.float32, dt.int32, dt.complex128], ids=str)
def test_einsum(case: Any, dtype: Any, device: Any) -> None:
    subscripts, shapes = case
    operands = [some(place, dtype, shape) for place, shape in enumerate(shapes)]
    got = xp.einsum(subscripts, *(xp.asarray(x, device=device) for x in operands))
    same(got, np.asarray(np.einsum(subscripts, *operands)), dtype)


def on(device: Any, host: NDArray) -> Any:
    return xp.asarray(np.ascontiguousarray(host), device=device)


ROWS, STACK, RIGHT = some(3, dt.float32, (5, 1, 3)), some(3, dt.float32, (5, 2, 3)), some(4, dt.float32, (3, 8))
# Shapes of operands, and functions that make the views to multiply.
STRANGE: dict[str, Any] = {
    "rows backwards": (lambda x: x[::-1], ROWS, lambda y: y, RIGHT),
    "a stack backwards": (lambda x: x[::-1], STACK, lambda y: y, RIGHT),
    "a stack of stacks": (lambda x: x[None, ...], STACK, lambda y: y[None, ...], np.broadcast_to(RIGHT, (5, 3, 8))),
    "columns with gaps": (lambda x: x, STACK, lambda y: y[:, ::2], RIGHT),
    "columns backwards": (lambda x: x, STACK, lambda y: y[:, ::-1], RIGHT),
    "both across": (lambda x: x[:, None, ...], STACK, lambda y: y[None, :, :, ::2], np.broadcast_to(RIGHT, (4, 3, 8))),
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", STRANGE)
def test_stacks_that_lie_strangely(name: str, device: Any) -> None:
    first, x1, second, x2 = STRANGE[name]
    same(xp.matmul(first(on(device, x1)), second(on(device, x2))), np.matmul(first(x1), second(x2)), dt.float32)


@pytest.mark.parametrize("device", DEVICES)
def test_a_row_that_is_repeated(device: Any) -> None:
    x = xp.broadcast_to(on(device, ROWS[:1]), (5, 1, 3))
    same(xp.matmul(x, on(device, RIGHT)), np.matmul(np.broadcast_to(ROWS[:1], (5, 1, 3)), RIGHT), dt.float32)


@pytest.mark.parametrize("device", DEVICES)
def test_a_real_and_a_complex_vector(device: Any) -> None:
    x, z = xp.asarray([1.0, 2.0], device=device), xp.asarray([1j, 2.0], device=device)
    assert complex(xp.vecdot(x, z)) == 4 + 1j
    assert complex(xp.vecdot(z, x)) == 4 - 1j


@pytest.mark.parametrize("device", DEVICES)
def test_an_ellipsis_of_no_axes_may_be_missing_in_the_result(device: Any) -> None:
    host = np.arange(6.0).reshape(2, 3)
    x = xp.asarray(host, device=device)
    for _ in range(2):
        same(xp.einsum("ij...->ij", x), host, dt.float64)
        same(xp.einsum("i...j,j...->i", x, x[0]), host @ host[0], dt.float64)
        with pytest.raises(ValueError, match=r"einsum: '...' in subscripts 'i...->i' is 1 axes; accepted"):
            xp.einsum("i...->i", x)
        with pytest.raises(ValueError, match=r"is 1 axes; accepted: it in the result as well"):
            xp.einsum("i...,i->i", x, x[:, 0])


@pytest.mark.parametrize("device", DEVICES)
def test_einsum_of_truth(device: Any) -> None:
    host = some(3, dt.bool, (3, 4))
    same(xp.einsum("ij->i", xp.asarray(host, device=device)), np.einsum("ij->i", host), dt.bool)


@pytest.mark.parametrize("device", DEVICES)
def test_operators(device: Any) -> None:
    host = some(1, dt.float32, (3, 3))
    x = xp.asarray(host, device=device, copy=True)
    same(x @ x, host @ host, dt.float32)
    y = x
    y @= x
    assert y is x
    same(y, host @ host, dt.float32)
    with pytest.raises(ValueError, match=r"matmul: the array has shape \(3, 3\).* accepted: in place"):
        y @= x[:, :2]
    with pytest.raises(TypeError, match="matmul: x2 is a Python int"):
        x @ 3


def on_cpu(shape: tuple[int, ...]) -> Any:
    return xp.ones(shape, device="cpu")


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda x: xp.matmul(x, on_cpu((2, 2))), ValueError, r"matmul: x1 has shape \(2, 3\) and x2 \(2, 2\); accepted"),
    (lambda x: xp.matmul(x, on_cpu(())), ValueError, r"matmul: x2 has shape \(\); accepted"),
    (lambda x: xp.matmul(x, 2.0), TypeError, "matmul: x2 is a Python float; accepted: an array"),
    (lambda x: xp.matmul(on_cpu((2, 4, 3)), on_cpu((3, 3, 2))), ValueError, "matmul"),
    (lambda x: xp.matmul(xp.astype(x, xp.float8_e4m3fn), x), TypeError, "matmul: x1 has dtype float8_e4m3fn; accepted"),
    (lambda x: xp.vecdot(x, on_cpu((2, 2))), ValueError, "vecdot: x1 has length 3 along axis -1 and x2 2; accepted"),
    (lambda x: xp.vecdot(x, x, axis=-3), IndexError, "vecdot: axis is -3; accepted: -2 to -1"),
    (lambda x: xp.vecdot(x, x, axis=1.5), TypeError, "vecdot: axis is 1.5; accepted: an integer"),
    (lambda x: xp.tensordot(x, x, axes=3), ValueError, "tensordot: axes is 3; accepted: 0 to 2"),
    (lambda x: xp.tensordot(x, x, axes=1), ValueError, "tensordot: axes is 1 for shapes .* accepted: axes of the same"),
    (lambda x: xp.tensordot(x, x, axes="a"), TypeError, "tensordot: axes is 'a'; accepted"),
    (lambda x: xp.tensordot(x, x, axes=((0,), (5,))), IndexError, "tensordot"),
    (lambda x: xp.einsum("ij,jk->ik", x), ValueError, "einsum: subscripts 'ij,jk->ik' is for 2 operands; there are 1"),
    (lambda x: xp.einsum("i->i", x), ValueError, r"einsum: 'i' in subscripts 'i->i' for shape \(2, 3\)"),
    (lambda x: xp.einsum("ij->k", x), ValueError, "einsum: 'k' in subscripts 'ij->k'; accepted"),
    (lambda x: xp.einsum("ij,ij", x, x[:, :2]), ValueError, "einsum: axis j of 'ij,ij' has lengths 3 and 2"),
    (lambda x: xp.einsum("i1", x), ValueError, "einsum: 'i1' in subscripts 'i1'; accepted: letters"),
    (
        lambda x: xp.einsum("i.j->ij", x),
        ValueError,
        "einsum: subscripts is 'i.j->ij'; accepted: letters, and '...' once",
    ),
    (
        lambda x: xp.einsum("...i->i", x),
        ValueError,
        "einsum: '...' in subscripts '...i->i' is 1 axes; accepted: it in the result",
    ),
    (lambda x: xp.einsum("ii->i", x[:1]), ValueError, r"einsum: 'ii' in subscripts 'ii->i' for shape \(1, 3\)"),
    (lambda x: xp.einsum(3, x), TypeError, "einsum: subscripts is an int; accepted: a string"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[2][:40])
def test_refusals(case: Any) -> None:
    call, kind, message = case
    with pytest.raises(kind, match=message):
        call(on_cpu((2, 3)))
