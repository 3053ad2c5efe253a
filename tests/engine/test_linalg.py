"""Linear algebra on every device: decompositions are multiplied out, other results are compared with NumPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.helpers.oracle import assert_same
from xpops.api.linalg.norms import _vector_norm
from xpops.dispatch import primitives

NDArray = np.ndarray[Any, Any]

devices = st.sampled_from(DEVICES)
DTYPES = ("float32", "float64", "complex64", "complex128")
# No matrix, one, few and many small matrices, around the limits of batched calls; and large matrices.
STACKS = ((0, 3), (1,), (2,), (2, 3), (100,))
SIZES = (1, 2, 3, 31, 32, 33)
EITHER = pytest.mark.parametrize("dtype", DTYPES)


def some(dtype: str, *shape: int, seed: int = 0) -> NDArray:
    generator = np.random.default_rng(seed)
    host = generator.normal(size=shape) + 1j * generator.normal(size=shape)
    return (host if np.dtype(dtype).kind == "c" else host.real).astype(dtype)


def regular(dtype: str, *shape: int, seed: int = 0) -> NDArray:
    """Well-conditioned matrices."""
    return some(dtype, *shape, seed=seed) + (2 * shape[-1] * np.eye(shape[-1])).astype(dtype)


def hermitian(dtype: str, *shape: int) -> NDArray:
    host = some(dtype, *shape)
    return (host + host.mT.conj()).astype(dtype)


def close(x: Any, wanted: Any, dtype: str, factor: float = 1) -> None:
    """Assert the dtype and shape of `wanted`, and values near it, relative to its largest."""
    assert (x.dtype, x.shape) == (np.dtype(dtype), np.shape(wanted))
    tolerance = 200 * factor * np.finfo(dtype).eps * max(float(abs(np.asarray(wanted)).max(initial=0)), 1.0)
    np.testing.assert_allclose(host_of(x), wanted, rtol=0, atol=tolerance)


def host_of(x: Any) -> NDArray:
    found: NDArray = x.to_numpy()
    return found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)


def real(dtype: str) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)


def orthonormal(columns: NDArray, dtype: str) -> None:
    found = columns.mT.conj() @ columns
    wanted = np.broadcast_to(np.eye(found.shape[-1]), found.shape)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=50 * columns.shape[-2] * np.finfo(dtype).eps)


@EITHER
@pytest.mark.parametrize("size", SIZES)
def test_equations(device: Any, dtype: str, size: int) -> None:
    for stack in STACKS:
        host = regular(dtype, *stack, size, size)
        x, wide = xp.asarray(host, device=device), host.astype(np.complex128 if dtype[0] == "c" else np.float64)
        close(xp.linalg.inv(x), np.linalg.inv(wide), dtype)
        sign, logabsdet = xp.linalg.slogdet(x)
        wanted = np.linalg.slogdet(wide)
        close(sign, wanted.sign, dtype)
        close(logabsdet, wanted.logabsdet, real(dtype))
        for sides in (some(dtype, size), some(dtype, *stack, size, 5), some(dtype, 1, size, 1), some(dtype, size, 0)):
            wanted = np.linalg.solve(wide, sides[:, None])[..., 0] if sides.ndim == 1 else np.linalg.solve(wide, sides)
            close(xp.linalg.solve(x, xp.asarray(sides, device=device)), wanted, dtype)
        assert_same(x, host)


@EITHER
def test_large_equations(device: Any, dtype: str) -> None:
    for stack, size in (((), 700), ((3,), 520), ((40,), 100)):
        host = regular(dtype, *stack, size, size)
        x, sides = xp.asarray(host, device=device), some(dtype, *stack, size, 7)
        product = host @ host_of(xp.linalg.inv(x))
        np.testing.assert_allclose(product, np.broadcast_to(np.eye(size), host.shape), rtol=0, atol=2e-3)
        found = host_of(xp.linalg.solve(x, xp.asarray(sides, device=device)))
        np.testing.assert_allclose(host @ found, sides, rtol=0, atol=5000 * np.finfo(dtype).eps)


def test_one_matrix_for_many_right_hand_sides(device: Any) -> None:
    host, sides = regular("float64", 6, 6), some("float32", 4, 5, 6, 3)
    found = xp.linalg.solve(xp.asarray(host, device=device), xp.asarray(sides, device=device))
    close(found, np.linalg.solve(host, sides), "float64")
    found = xp.linalg.solve(xp.asarray(host[None, None], device=device), xp.asarray(sides[0, 0], device=device))
    close(found, np.linalg.solve(host[None, None], sides[0, 0]), "float64")


def test_a_vector_has_one_axis(device: Any) -> None:
    """With (3, 3, 3), a right-hand side of (3, 3) is one matrix for all systems, not a stack of vectors."""
    host, sides = regular("float64", 3, 3, 3), some("float64", 3, 3)
    found = xp.linalg.solve(xp.asarray(host, device=device), xp.asarray(sides, device=device))
    close(found, np.linalg.solve(host, np.broadcast_to(sides, (3, 3, 3))), "float64")


@EITHER
def test_determinants(device: Any, dtype: str) -> None:
    host = some(dtype, 50, 4, 4)
    x = xp.asarray(host, device=device)
    close(xp.linalg.det(x), np.linalg.det(host.astype(np.complex128 if dtype[0] == "c" else np.float64)), dtype)
    singular = xp.asarray(np.ones((2, 3, 3), dtype), device=device)
    sign, logabsdet = xp.linalg.slogdet(singular)
    assert_same(sign, np.zeros(2, dtype))
    assert_same(logabsdet, np.full(2, -np.inf, real(dtype)))
    assert_same(xp.linalg.det(singular), np.zeros(2, dtype))
    huge = xp.asarray(1e30 * np.eye(20).astype(dtype), device=device)
    assert math.isclose(float(xp.linalg.slogdet(huge).logabsdet), 20 * math.log(1e30), rel_tol=1e-5)


@EITHER
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(device: Any, dtype: str, upper: bool) -> None:
    for stack in STACKS:
        for size in (*SIZES, 200):
            host = some(dtype, *stack, size, size)
            host = host @ host.mT.conj() + (size * np.eye(size)).astype(dtype)
            # The other triangle is not read.
            given = (np.triu if upper else np.tril)(host) + 7 * (np.tril(host, -1) if upper else np.triu(host, 1))
            x = xp.asarray(given, device=device)
            wanted = np.linalg.cholesky(host.astype(np.complex128 if dtype[0] == "c" else np.float64), upper=upper)
            close(xp.linalg.cholesky(x, upper=upper), wanted, dtype)
            assert_same(x, given)


@EITHER
def test_eigh(device: Any, dtype: str) -> None:
    for stack in STACKS:
        for size in (*SIZES, 150):
            host = hermitian(dtype, *stack, size, size)
            x = xp.asarray(np.tril(host) + 5 * np.triu(host, 1), device=device)  # only the lower triangle counts
            values, vectors = xp.linalg.eigh(x)
            wanted = np.linalg.eigvalsh(host.astype(np.complex128 if dtype[0] == "c" else np.float64))
            close(values, wanted, real(dtype), 3)
            close(xp.linalg.eigvalsh(x), wanted, real(dtype), 3)
            assert (vectors.dtype, vectors.shape) == (host.dtype, host.shape)
            found = host_of(vectors)
            orthonormal(found, dtype)
            scale = np.finfo(dtype).eps * (size + 20) * 20
            np.testing.assert_allclose(host @ found, host_of(values)[..., None, :] * found, rtol=0, atol=scale)


@EITHER
def test_eig(device: Any, dtype: str) -> None:
    result = {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)
    for stack in ((0,), (), (3,), (2, 2)):
        for size in (1, 2, 5, 60):
            host = some(dtype, *stack, size, size)
            x = xp.asarray(host, device=device)
            values, vectors = xp.linalg.eig(x)
            assert (values.dtype, values.shape) == (np.dtype(result), host.shape[:-1])
            assert (vectors.dtype, vectors.shape) == (np.dtype(result), host.shape)
            found = host_of(vectors)
            scale = np.finfo(dtype).eps * (size + 20) * 50
            np.testing.assert_allclose(host @ found, host_of(values)[..., None, :] * found, rtol=0, atol=scale)
            np.testing.assert_allclose(np.linalg.norm(found, axis=-2), 1, rtol=1e-4)
            other = host_of(xp.linalg.eigvals(x))
            assert other.shape == host.shape[:-1]
            np.testing.assert_allclose(other.sum(-1), np.trace(host, axis1=-2, axis2=-1), rtol=0, atol=scale * size)


def test_real_eigenvalues_are_real(device: Any) -> None:
    rotation = np.asarray([[0.0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 3, 1], [0, 0, 0, 2]])
    values, vectors = xp.linalg.eig(xp.asarray(rotation, device=device))
    found = host_of(values)
    assert np.count_nonzero(found.imag) == 2
    np.testing.assert_allclose(rotation @ host_of(vectors), found * host_of(vectors), atol=1e-14)


@EITHER
@pytest.mark.parametrize(
    "shape", [(1, 4), (4, 1), (5, 3), (3, 5), (32, 32), (32, 20), (20, 33), (90, 40), (40, 90)], ids=str
)
def test_svd_and_qr(device: Any, dtype: str, shape: tuple[int, int]) -> None:
    for stack in ((0,), (), (2,), (2, 3), (50,)):
        host = some(dtype, *stack, *shape)
        x, least = xp.asarray(host, device=device), min(shape)
        wanted = np.linalg.svdvals(host.astype(np.complex128 if dtype[0] == "c" else np.float64))
        close(xp.linalg.svdvals(x), wanted, real(dtype))
        for full in (False, True):
            u, s, vh = xp.linalg.svd(x, full_matrices=full)
            close(s, wanted, real(dtype))
            sides = shape if full else (least, least)
            assert (u.shape, vh.shape) == ((*stack, shape[0], sides[0]), (*stack, sides[1], shape[1]))
            u, s, vh = (host_of(each) for each in (u, s, vh))
            orthonormal(u, dtype)
            orthonormal(vh.mT.conj(), dtype)
            scale = np.finfo(dtype).eps * max(shape) * 20
            found = u[..., :least] * s[..., None, :] @ vh[..., :least, :]
            # A backward error is relative to the matrix's norm.
            error = np.linalg.norm(found - host, 2, axis=(-2, -1))
            assert (error <= scale * np.maximum(1, wanted[..., 0])).all()
            q, r = xp.linalg.qr(x, mode="complete" if full else "reduced")
            assert (q.shape, r.shape) == ((*stack, shape[0], sides[0]), (*stack, sides[0], shape[1]))
            assert (q.dtype, r.dtype) == (host.dtype, host.dtype)
            q, r = host_of(q), host_of(r)
            orthonormal(q, dtype)
            assert np.array_equal(r, np.triu(r))
            np.testing.assert_allclose(np.diagonal(r, axis1=-2, axis2=-1).imag, 0, atol=scale)
            np.testing.assert_allclose(q @ r, host, rtol=0, atol=scale)
        assert_same(x, host)


@EITHER
@pytest.mark.parametrize("shape", [(3, 33, 35), (3, 195, 193)], ids=str)
def test_svd_of_matrices_that_are_not_aligned(device: Any, dtype: str, shape: tuple[int, ...]) -> None:
    host = some(dtype, *shape)
    for full in (False, True):
        u, s, vh = xp.linalg.svd(xp.asarray(host, device=device), full_matrices=full)
        least = s.shape[-1]
        close(s, np.linalg.svdvals(host), real(dtype))
        u, s, vh = (host_of(each) for each in (u, s, vh))
        found = u[..., :least] * s[..., None, :] @ vh[..., :least, :]
        # A backward error is relative to the matrix's norm.
        error = np.linalg.norm(found - host, 2, axis=(-2, -1))
        assert (error <= np.finfo(dtype).eps * max(shape) * 20 * s[:, 0]).all()
        orthonormal(u, dtype)
        orthonormal(vh.mT.conj(), dtype)


@EITHER
@pytest.mark.parametrize("shape", [(90, 90), (200, 210)], ids=str)
def test_svd_of_singular_and_scaled_matrices(device: Any, dtype: str, shape: tuple[int, int]) -> None:
    random, limits = some(dtype, *shape), np.finfo(dtype)
    lost = random * np.sqrt(limits.eps) ** np.arange(shape[0])[:, None].clip(max=3).astype(limits.dtype)
    kinds = (
        random,
        np.ones_like(random),
        0 * random,
        np.outer(random[:, 0], random[0]),
        lost,
        random * limits.max**0.8,
        random * limits.tiny**0.8,
    )
    for host in map(np.ascontiguousarray, (*kinds, *(each.mT for each in kinds))):
        x, host = xp.asarray(host.astype(dtype), device=device), host.astype(dtype)
        u, s, vh = map(host_of, xp.linalg.svd(x, full_matrices=False))
        orthonormal(u, dtype)
        orthonormal(vh.mT.conj(), dtype)
        scale = float(abs(host).max()) or 1.0
        wanted = np.linalg.svdvals(host.astype(np.complex128 if dtype[0] == "c" else np.float64) / scale)
        bound = limits.eps * max(shape) * 20 * max(wanted[0], 1)
        alone, stacked = (host_of(xp.linalg.svdvals(each)) for each in (x, xp.stack([x, x])))
        for found in (s, alone, *stacked):
            np.testing.assert_allclose(found.astype(np.float64) / scale, wanted, rtol=0, atol=bound)
            assert (found[:-1] >= found[1:]).all()
            assert (found >= 0).all()
        assert np.linalg.norm((u * (s / scale)) @ vh - host / scale, 2) <= bound


def test_calls_with_several_results_have_a_steady_state(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = (xp.asarray(hermitian("float32", 2, 4, 4) + seed, device=device) for seed in (0, 1))
    first = [function(x) for function in (xp.linalg.eigh, xp.linalg.svd, xp.linalg.qr, xp.linalg.slogdet)]
    monkeypatch.setattr(primitives, "_first_call", None)
    for result in first:
        function = getattr(xp.linalg, type(result).__name__.removesuffix("Result").lower())
        for one, other in zip(result, function(x), strict=True):
            assert_same(one, other.to_numpy())
        assert [each.shape for each in function(y)] == [each.shape for each in result]


def test_singular_values_of_what_has_few(device: Any) -> None:
    host = np.outer(np.arange(1, 41.0), np.arange(1, 31.0))
    x = xp.asarray(np.stack([host, 0 * host]), device=device)
    values = host_of(xp.linalg.svdvals(x))
    np.testing.assert_allclose(values[0, 1:], 0, atol=1e-9)
    np.testing.assert_allclose(values[1], 0, atol=0)
    assert_same(xp.linalg.matrix_rank(x), np.asarray([1, 0]))


@EITHER
def test_pinv_and_rank(device: Any, dtype: str) -> None:
    for shape in ((4, 4), (6, 3), (3, 6), (2, 5, 4), (40, 30)):
        host = some(dtype, *shape)
        host[..., -1, :] = host[..., 0, :]
        x, wide = xp.asarray(host, device=device), host.astype(np.complex128 if dtype[0] == "c" else np.float64)
        wanted = np.linalg.pinv(wide, rtol=100 * np.finfo(dtype).eps)
        close(xp.linalg.pinv(x, rtol=100 * float(np.finfo(dtype).eps)), wanted, dtype, 20)
        assert_same(xp.linalg.matrix_rank(x), np.linalg.matrix_rank(host))
    host = np.stack([np.diag([4.0, 1.0, 0.1])] * 2).astype(dtype)
    x, rtol = xp.asarray(host, device=device), xp.asarray([0.01, 0.5], dtype=real(dtype), device=device)
    assert_same(xp.linalg.matrix_rank(x, rtol=rtol), np.asarray([3, 1]))
    close(xp.linalg.pinv(x, rtol=rtol), np.stack([np.diag([0.25, 1, 10]), np.diag([0.25, 0, 0])]), dtype)
    assert_same(xp.linalg.matrix_rank(x, rtol=0.2), np.asarray([2, 2]))


def test_matrices_without_elements(device: Any) -> None:
    def zeros(*shape: int) -> Any:
        return xp.zeros(shape, device=device)

    assert_same(xp.linalg.det(zeros(2, 0, 0)), np.ones(2))
    assert_same(xp.linalg.slogdet(zeros(0, 0)).logabsdet, np.asarray(0.0))
    assert_same(xp.linalg.inv(zeros(3, 0, 0)), np.zeros((3, 0, 0)))
    assert_same(xp.linalg.solve(zeros(0, 0), zeros(0)), np.zeros(0))
    assert_same(xp.linalg.solve(zeros(0, 0), zeros(2, 0, 4)), np.zeros((2, 0, 4)))
    assert xp.linalg.cholesky(zeros(0, 0)).shape == (0, 0)
    assert [each.shape for each in xp.linalg.eigh(zeros(2, 0, 0))] == [(2, 0), (2, 0, 0)]
    assert [each.shape for each in xp.linalg.eig(zeros(0, 0))] == [(0,), (0, 0)]
    for rows, columns in ((0, 3), (3, 0), (0, 0)):
        u, s, vh = xp.linalg.svd(zeros(2, rows, columns))
        assert_same(u, np.broadcast_to(np.eye(rows), (2, rows, rows)))
        assert_same(s, np.zeros((2, 0)))
        assert_same(vh, np.broadcast_to(np.eye(columns), (2, columns, columns)))
        assert [each.shape for each in xp.linalg.svd(zeros(rows, columns), full_matrices=False)] == [
            (rows, 0),
            (0,),
            (0, columns),
        ]
        q, r = xp.linalg.qr(zeros(2, rows, columns), mode="complete")
        assert_same(q, np.broadcast_to(np.eye(rows), (2, rows, rows)))
        assert r.shape == (2, rows, columns)
        assert_same(xp.linalg.pinv(zeros(2, rows, columns)), np.zeros((2, columns, rows)))
        assert_same(xp.linalg.matrix_rank(zeros(2, rows, columns)), np.zeros(2, np.int64))
        for order in (1, 2, np.inf, "fro", "nuc"):
            assert_same(xp.linalg.matrix_norm(zeros(2, rows, columns), ord=order), np.zeros(2))


@EITHER
def test_views(device: Any, dtype: str) -> None:
    host = some(dtype, 4, 6, 5, 6)
    x = xp.asarray(host, device=device)
    seen, view = host[::-1, :, 1, ::-1][1], x[::-1, :, 1, ::-1][1]
    close(xp.linalg.inv(view), np.linalg.inv(seen), dtype, 50)
    turned = xp.permute_dims(x, (2, 0, 3, 1))
    moved = host.transpose(2, 0, 3, 1)
    close(xp.linalg.svdvals(turned), np.linalg.svdvals(moved), real(dtype))
    q, r = (host_of(each) for each in xp.linalg.qr(turned))
    np.testing.assert_allclose(q @ r, moved, atol=200 * np.finfo(dtype).eps)
    repeated = xp.broadcast_to(view, (3, 6, 6))
    sides = xp.asarray(some(dtype, 3, 6, 2), device=device)
    close(
        xp.linalg.solve(repeated, sides), np.linalg.solve(np.broadcast_to(seen, (3, 6, 6)), host_of(sides)), dtype, 50
    )


ORDERS = (1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc")


@EITHER
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_matrix_norms(device: Any, dtype: str, order: Any) -> None:
    for shape in ((4, 3), (2, 3, 4), (2, 1, 5, 5)):
        host = some(dtype, *shape)
        x = xp.asarray(host, device=device)
        for keepdims in (False, True):
            wanted = np.linalg.matrix_norm(host.astype(complex), ord=order, keepdims=keepdims)
            close(xp.linalg.matrix_norm(x, ord=order, keepdims=keepdims), wanted, real(dtype))


@settings(max_examples=100)
@given(
    st.data(), devices, st.sampled_from(DTYPES), st.sampled_from((0, 1, -1, 2, -2, 3, 0.5, -1.5, math.inf, -math.inf))
)
def test_vector_norms(data: st.DataObject, device: Any, dtype: str, order: float) -> None:
    host = some(dtype, *data.draw(st.lists(st.integers(1, 5), min_size=0, max_size=4)))
    axes = st.lists(st.sampled_from(range(host.ndim)), unique=True, min_size=1).map(tuple) if host.ndim else st.none()
    axis, keepdims = data.draw(st.none() | axes), data.draw(st.booleans())
    wide = host.astype(np.complex128)
    wanted = np.linalg.vector_norm(wide, axis=axis, ord=order, keepdims=keepdims)
    got = xp.linalg.vector_norm(xp.asarray(host, device=device), axis=axis, ord=order, keepdims=keepdims)
    assert (got.dtype, got.shape) == (np.dtype(real(dtype)), wanted.shape)
    np.testing.assert_allclose(host_of(got), wanted, rtol=100 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("order", [0, 1, -1, 2, 3, math.inf, -math.inf])
def test_norms_of_single_elements_are_exact(device: Any, dtype: str, order: float) -> None:
    """Their powers would overflow or vanish."""
    limits = xp.finfo(getattr(xp, dtype))
    values = [0.0, -1.5, limits.max / 2, -limits.smallest_normal, math.inf, math.nan]
    x = xp.asarray(values, dtype=getattr(xp, dtype), device=device)
    host = host_of(abs(x))
    wanted = (host != 0).astype(host.dtype) if order == 0 else host
    for shape, axis in (((6, 1), 1), ((1, 6, 1), (2, 0)), ((2, 1, 3), 1)):
        for keepdims in (False, True):
            got = xp.linalg.vector_norm(xp.reshape(x, shape), axis=axis, ord=order, keepdims=keepdims)
            assert got.shape == np.sum(np.ones(shape), axis=axis, keepdims=keepdims).shape
            np.testing.assert_array_equal(host_of(got).ravel(), wanted)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16", "float32", "complex128"])
def test_products(device: Any, dtype: str) -> None:
    generator = np.random.default_rng(0)
    a, b = (generator.integers(0, 5, shape).astype(dtype) for shape in ((4, 3), (2, 4, 3)))
    x, y = xp.asarray(a, device=device), xp.asarray(b, device=device)
    assert_same(xp.linalg.cross(x, y), np.cross(a, b))
    assert_same(xp.linalg.cross(y, y), np.zeros_like(b))
    assert_same(xp.linalg.cross(x.T, xp.matrix_transpose(y), axis=-2), np.cross(a, b).swapaxes(-1, -2))
    assert_same(xp.linalg.outer(x[0], y[1, :, 0]), np.outer(a[0], b[1, :, 0]))
    for offset in range(-5, 5):
        assert_same(xp.linalg.diagonal(y, offset=offset), np.diagonal(b, offset, 1, 2))
        assert_same(xp.linalg.trace(y, offset=offset), np.trace(b, offset, 1, 2, dtype=xp.sum(y).dtype))
    assert_same(xp.linalg.trace(y, dtype=xp.complex128), np.trace(b, 0, 1, 2, dtype=np.complex128))


def test_a_diagonal_is_a_view(device: Any) -> None:
    x = xp.zeros((3, 4), device=device)
    xp.linalg.diagonal(x, offset=1)[...] = 5.0
    assert_same(x, np.eye(3, 4, 1) * 5)


@EITHER
def test_powers(device: Any, dtype: str) -> None:
    host = some(dtype, 3, 4, 4) / 2
    x = xp.asarray(host, device=device)
    for n in (0, 1, 2, 3, 6, -1, -3):
        wanted = np.linalg.matrix_power(host.astype(complex), n)
        close(xp.linalg.matrix_power(x, n), wanted if dtype[0] == "c" else wanted.real, dtype, 10000 if n < 0 else 10)
    assert xp.linalg.matrix_power(x, 1) is not x


def test_the_names_of_results(device: Any) -> None:
    x = xp.eye(2, device=device)
    assert xp.linalg.eigh(x)._fields == ("eigenvalues", "eigenvectors")
    assert xp.linalg.eig(x)._fields == ("eigenvalues", "eigenvectors")
    assert xp.linalg.qr(x)._fields == ("Q", "R")
    assert xp.linalg.slogdet(x)._fields == ("sign", "logabsdet")
    assert xp.linalg.svd(x)._fields == ("U", "S", "Vh")
    assert set(xp.linalg.__all__) <= set(dir(xp.linalg))


def test_failures(device: Any) -> None:
    assert issubclass(xp.linalg.LinAlgError, ValueError)
    for shape in ((3, 3), (4, 3, 3), (2, 40, 40), (5, 40, 40)):
        ones = xp.ones(shape, device=device)
        with pytest.raises(xp.linalg.LinAlgError, match="inv: a matrix is singular"):
            xp.linalg.inv(0 * ones)
        with pytest.raises(xp.linalg.LinAlgError, match="solve: a matrix is singular"):
            xp.linalg.solve(0 * ones, ones)
        with pytest.raises(xp.linalg.LinAlgError, match="cholesky: a matrix is not positive definite"):
            xp.linalg.cholesky(-ones)


@pytest.mark.parametrize("name", ["eigvalsh", "svdvals"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 3, 3), (40, 40), (4, 40, 40)])
def test_nan_is_no_number_or_an_error(device: Any, name: str, shape: tuple[int, ...]) -> None:
    """An error that is found late must not be reported by another call."""
    function, good = getattr(xp.linalg, name), xp.eye(shape[-1], device=device)
    for wrong in (math.nan, math.inf, -math.inf)[: 1 if name == "eigvalsh" else 3]:
        try:
            assert np.isnan(host_of(function(xp.full(shape, wrong, device=device)))).any()
        except xp.linalg.LinAlgError as error:
            assert "did not converge" in str(error)  # noqa: PT017
        np.testing.assert_allclose(host_of(function(good)), 1.0, rtol=4e-15)


def test_one_nan_in_a_stack(device: Any) -> None:
    host = some("complex64", 3, 5, 4)
    host[1, 2, 3] = math.nan
    try:
        values = host_of(xp.linalg.svdvals(xp.asarray(host, device=device)))
    except xp.linalg.LinAlgError:
        return
    assert np.isnan(values[1]).any()
    np.testing.assert_allclose(values[::2], np.linalg.svdvals(host[::2]), rtol=1e-5)


def test_orders_share_a_function(device: Any) -> None:
    x = xp.asarray(np.arange(1.0, 7), device=device)
    xp.linalg.vector_norm(x, ord=2.5, keepdims=True)
    count = len(_vector_norm._members)
    assert count or device == "cpu"  # fused on GPUs only
    for order in (3.5, 0.7, -2, 17):
        wanted = np.linalg.vector_norm(np.arange(1.0, 7), ord=order, keepdims=True)
        np.testing.assert_allclose(xp.linalg.vector_norm(x, ord=order, keepdims=True).to_numpy(), wanted, rtol=1e-14)
    assert len(_vector_norm._members) == count


def test_refusals(device: Any) -> None:
    x, integers = xp.zeros((2, 3), device=device), xp.ones((2, 2), dtype=xp.int64, device=device)
    for name in ("cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet"):
        function = getattr(xp.linalg, name)
        with pytest.raises(ValueError, match=rf"{name}: x has shape \(2, 3\); accepted: square matrices"):
            function(x)
        with pytest.raises(ValueError, match=rf"{name}: x has shape \(3,\)"):
            function(x[0])
        with pytest.raises(TypeError, match=rf"{name}: x has dtype int64; accepted: float32, float64, complex64"):
            function(integers)
    for name in ("matrix_rank", "pinv", "qr", "svd", "svdvals"):
        function = getattr(xp.linalg, name)
        with pytest.raises(ValueError, match=r"x has shape \(3,\); accepted: matrices, one or a stack"):
            function(x[0])
        with pytest.raises(TypeError, match=r"x has dtype int64"):
            function(integers)
    y = xp.eye(2, device=device)
    with pytest.raises(ValueError, match=r"solve: x2 has shape \(3,\), for x1 of shape \(2, 2\); accepted: 2 rows"):
        xp.linalg.solve(y, x[0])
    with pytest.raises(TypeError, match=r"solve: x2 has dtype int64"):
        xp.linalg.solve(y, integers)
    with pytest.raises(ValueError, match=r"solve: x2 has shape \(\)"):
        xp.linalg.solve(y, x[0, 0])
    with pytest.raises(ValueError, match=r"qr: mode is 'raw'; accepted: 'reduced' and 'complete'"):
        xp.linalg.qr(y, mode="raw")
    with pytest.raises(TypeError, match=r"matrix_power: n is 0.5; accepted: an integer"):
        xp.linalg.matrix_power(y, 0.5)
    with pytest.raises(ValueError, match=r"matrix_power: x has shape \(2, 3\)"):
        xp.linalg.matrix_power(x, 2)
    with pytest.raises(ValueError, match=r"matrix_norm: ord is 3; accepted: 1, -1, 2"):
        xp.linalg.matrix_norm(y, ord=3)
    with pytest.raises(ValueError, match=r"matrix_norm: x has shape \(3,\)"):
        xp.linalg.matrix_norm(x[0])
    with pytest.raises(TypeError, match=r"vector_norm: x has dtype int64; accepted: floating-point dtypes"):
        xp.linalg.vector_norm(integers)
    with pytest.raises(TypeError, match=r"vector_norm: ord is 'fro'; accepted: a number"):
        xp.linalg.vector_norm(y, ord="fro")
    with pytest.raises(ValueError, match=r"cross: axis is 1; accepted: negative ones"):
        xp.linalg.cross(x, x, axis=1)
    with pytest.raises(ValueError, match=r"cross: x1 has shape \(2, 2\); accepted: length 3 along axis -1"):
        xp.linalg.cross(y, x)
    with pytest.raises(TypeError, match=r"cross: x1 has dtype bool"):
        xp.linalg.cross(x == 0, x)
    with pytest.raises(ValueError, match=r"outer: x2 has shape \(2, 3\); accepted: one axis"):
        xp.linalg.outer(x[0], x)
    with pytest.raises(ValueError, match=r"diagonal: x has shape \(3,\)"):
        xp.linalg.diagonal(x[0])
    with pytest.raises(TypeError, match=r"diagonal: offset is 1.5"):
        xp.linalg.diagonal(x, offset=1.5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_norms_of_half_types_do_not_overflow(device: Any, dtype: str) -> None:
    x = xp.asarray([[300.0, 400.0]], dtype=getattr(xp, dtype), device=device)
    for found in (xp.linalg.vector_norm(x), xp.linalg.matrix_norm(x)):
        assert (found.dtype, abs(float(found) - 500) <= 2) == (x.dtype, True)
    assert abs(float(xp.linalg.vector_norm(x, ord=3)) - 449.8) < 3


@EITHER
@pytest.mark.parametrize("count", [1, 3, 40])
def test_qr_of_columns_that_lie_far_apart(device: Any, dtype: str, count: int) -> None:
    ends = np.finfo(dtype)
    small, large = float(ends.tiny) ** 0.4, float(ends.max) ** 0.4
    host = np.zeros((count, 3, 4), dtype)
    host[:, 0, 0] = host[:, 1, 1] = small
    host[:, 0, 3], host[:, 2, 2] = large, large
    if dtype[0] == "c":
        host = host * np.asarray(1j, dtype)
    q, r = (host_of(each) for each in xp.linalg.qr(xp.asarray(host, device=device)))
    orthonormal(q, dtype)
    assert np.isfinite(r).all()
    lengths = np.abs(host).max(axis=1, keepdims=True)
    error = np.abs(q.astype(np.complex128) @ r.astype(np.complex128) - host) / np.where(lengths > 0, lengths, 1)
    assert error.max() < 20 * ends.eps


@pytest.mark.parametrize("ord", [0, 1, 2, 3, -1, 2.5, math.inf])
def test_an_axis_that_is_not_there_is_refused_by_name(ord: float, device: Any) -> None:
    for x, axis in ((xp.asarray(2.0, device=device), 0), (xp.ones(3, device=device), 1)):
        for _ in range(2):
            with pytest.raises(IndexError, match="vector_norm: axis is"):
                xp.linalg.vector_norm(x, axis=axis, ord=ord)
