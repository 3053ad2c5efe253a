"""How the CUDA engine calls cuSOLVER, cuBLAS and cuFFT, and uses their results, without a GPU."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.helpers.emulator import STREAM, EmulatedEngine, layout_on_gpu, run
from xpops.core import config
from xpops.core import dtypes as dt
from xpops.core.errors import LinAlgError
from xpops.core.layouts import layout_of
from xpops.dispatch import calls, fft, linalg
from xpops.engine.cuda.kernels.rescale import rescaling
from xpops.engine.cuda.libraries import fft as cuda_fft
from xpops.engine.cuda.libraries import lu, singular, solver, spectral, triangular
from xpops.ops.fft import TRANSFORMS, Transform

pytest.importorskip("nvmath")
from tests.helpers import fake_libraries
from tests.helpers.fake_libraries import FakeCufft, FakeLibrary

DTYPES = ("float32", "float64", "complex64", "complex128")
# One matrix, few matrices, enough for a batched decomposition, and large matrices.
SHAPES = [(1, 5), (2, 4), (4, 3), (3, 1), (3, 40)]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An emulated engine with fake libraries."""
    engine = EmulatedEngine()
    libraries = {name: FakeLibrary(name) for name in ("cublas", "cusolverDn")}
    engine.libraries = libraries  # type: ignore[attr-defined]
    for module in (lu, singular, solver, spectral, triangular):
        monkeypatch.setattr(module, "library", lambda engine, name: libraries[name])
    monkeypatch.setattr(singular, "matmul", fake_libraries.matmul)
    engine.plans = cuda_fft.Plans(FakeCufft(), engine.pool)  # type: ignore[arg-type,attr-defined]
    monkeypatch.setattr(cuda_fft, "plans_of", lambda engine: engine.plans)
    monkeypatch.setattr(calls, "engine_of", lambda device: engine)
    monkeypatch.setattr(calls, "_calls", {})
    return engine


def some(dtype: str, *shape: int) -> Any:
    generator = np.random.default_rng(sum(shape))
    host = generator.normal(size=shape) + 1j * generator.normal(size=shape)
    return (host if np.dtype(dtype).kind == "c" else host.real).astype(dtype)


def results(engine: Any, plan: Any, *operands: Any, parameters: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    program = plan(engine, tuple(map(layout_on_gpu, operands)), *parameters)
    return run(engine, *program, *operands)


def close(got: Any, wanted: Any) -> None:
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, atol=2000 * np.finfo(got.dtype).eps * max(1, abs(wanted).max(initial=1)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("count", "size"), SHAPES)
def test_square_matrices(engine: Any, dtype: str, count: int, size: int) -> None:
    x = some(dtype, count, size, size) + size * np.eye(size, dtype=dtype)
    (inverse,) = results(engine, linalg.inv, x)
    close(inverse @ x, np.broadcast_to(np.eye(size, dtype=dtype), x.shape))
    for matrices in (x, np.ascontiguousarray(x[:, ::-1])):
        found = results(engine, linalg.slogdet, matrices, parameters=("slogdet",))
        for got, wanted in zip(found, np.linalg.slogdet(matrices), strict=True):
            close(got, wanted)
    for sides in (some(dtype, size), some(dtype, count, size, 3), some(dtype, 2, 1, size, 2)):
        (solution,) = results(engine, linalg.solve, x, sides)
        wanted = np.linalg.solve(x, sides[:, None])[..., 0] if sides.ndim == 1 else np.linalg.solve(x, sides)
        close(solution, wanted)
    (solution,) = results(engine, linalg.solve, x[0], some(dtype, 4, size, 2))
    close(solution, np.linalg.solve(x[0], some(dtype, 4, size, 2)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("count", "size"), SHAPES)
def test_hermitian_matrices(engine: Any, dtype: str, count: int, size: int) -> None:
    x = some(dtype, count, size, size)
    x = x @ x.mT.conj() + size * np.eye(size, dtype=dtype)
    for upper in (False, True):
        (factor,) = results(engine, linalg.cholesky, x, parameters=(upper,))
        close(factor, np.linalg.cholesky(x, upper=upper))
    lower = np.tril(x) + np.triu(np.full_like(x, 9), 1)
    values, vectors = results(engine, linalg.eigh, lower, parameters=("eigh", True))
    close(values, np.linalg.eigvalsh(x))
    close(x @ vectors, values[:, None] * vectors)
    close(results(engine, linalg.eigh, x, parameters=("eigvalsh", False))[0], values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("count", "size"), [(1, 5), (3, 4)])
def test_any_eigenvalues(engine: Any, dtype: str, count: int, size: int) -> None:
    x = some(dtype, count, size, size)
    values, vectors = results(engine, linalg.eig, x, parameters=("eig", True))
    close(x @ vectors, values[:, None] * vectors)
    close(results(engine, linalg.eig, x, parameters=("eigvals", False))[0], values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape",
    [
        (1, 4, 6),
        (1, 6, 4),
        (3, 4, 6),
        (4, 6, 4),
        (3, 1, 3),
        (3, 3, 1),
        (2, 40, 36),
        (2, 33, 71),
        (2, 192, 193),
        (3, 193, 195),
    ],
    ids=str,
)
def test_oblong_matrices(engine: Any, dtype: str, shape: tuple[int, ...]) -> None:
    x = some(dtype, *shape)
    least = min(shape[1:])
    for full in (False, True):
        u, s, vh = results(engine, linalg.svd, x, parameters=("svd", full))
        close(s, np.linalg.svdvals(x))
        close(u[..., :least] * s[:, None] @ vh[:, :least], x)
        for sides in (u.mT.conj() @ u, vh @ vh.mT.conj()):
            close(sides, np.broadcast_to(np.eye(sides.shape[-1], dtype=dtype), sides.shape))
        q, r = results(engine, linalg.qr, x, parameters=(full,))
        close(q @ r, x)
        close(q.mT.conj() @ q, np.broadcast_to(np.eye(q.shape[-1], dtype=dtype), (shape[0], *q.shape[-1:] * 2)))
        assert np.array_equal(r, np.triu(r))
    close(results(engine, linalg.svd, x, parameters=("svdvals", None))[0], s)


@pytest.mark.parametrize("size", [3, 40, 192])
def test_singular_vectors_of_singular_matrices(engine: Any, size: int) -> None:
    """The library's polar decomposition of such a matrix is that of another one."""
    x = np.stack([np.ones((size, size)), some("float64", size, size), np.outer(np.arange(size), np.ones(size))])
    for full in (False, True):
        u, s, vh = results(engine, linalg.svd, x, parameters=("svd", full))
        close(s, np.linalg.svdvals(x))
        close(u * s[:, None] @ vh, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_singular_vectors_of_tiny_singular_matrices(engine: Any, dtype: str) -> None:
    """The squares of the difference from another matrix are all too small for the dtype."""
    x = (np.ones((1, 192, 193)) * np.finfo(dtype).smallest_normal ** 0.5).astype(dtype)
    for each in (x, x / 128, x * 128):
        for full in (False, True):
            u, s, vh = results(engine, linalg.svd, each, parameters=("svd", full))
            scale = each.real.max()
            close(s / scale, np.linalg.svdvals(each / scale))
            close(u * (s / scale)[:, None] @ vh[:, :192], each / scale)


def test_how_matrices_are_decomposed(engine: Any) -> None:
    called = engine.libraries["cusolverDn"].called
    for size, vectors, wanted in (
        (32, True, ["sgesvdj_batched"]),
        (33, True, ["sgesvdj"]),
        (192, True, ["xgesvdp"]),
        (192, None, ["xsyevd"]),
        (5, None, ["xsyevd"]),
    ):
        called.clear()
        parameters = ("svd" if vectors else "svdvals", vectors)
        results(engine, linalg.svd, some("float32", 1, size, size), parameters=parameters)
        assert [name for name in called if "buffer" not in name] == wanted
    for shape, name in (
        ((2, 16, 16), "ssyevj_batched"),
        ((2, 5, 200), "xsyev_batched"),
        ((1, 150, 300), "xsyevd"),
        ((1, 10, 300), "xgesvd"),
    ):
        called.clear()
        x = some("float32", *shape)
        close(results(engine, linalg.svd, x, parameters=("svdvals", None))[0], np.linalg.svdvals(x))
        assert [each for each in called if "buffer" not in each] == [name]
    called.clear()
    results(engine, linalg.svd, np.ones((1, 192, 192)), parameters=("svd", False))
    assert [name for name in called if "buffer" not in name] == ["xgesvdp", "dgesvdj"]


@pytest.mark.parametrize(("capability", "wanted"), [(90, ["xgesvdp"]), (120, ["xgesvdp", "sgesvdj"])])
def test_float64_decomposes_float32_where_it_is_fast(engine: Any, capability: int, wanted: list[str]) -> None:
    engine.context.capability = capability
    x = np.ones((1, 192, 192), np.float32)
    u, s, vh = results(engine, linalg.svd, x, parameters=("svd", False))
    assert [name for name in engine.libraries["cusolverDn"].called if "buffer" not in name] == wanted
    close(u * s[:, None] @ vh, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_huge_and_tiny_columns_are_scaled(engine: Any, dtype: str) -> None:
    """Each column is scaled separately, so that its largest number is about 1. Columns of ordinary size stay."""
    limits = np.finfo(dtype)
    factors = np.array([1.0, float(limits.max) / 8, float(limits.smallest_normal) * 8, 1e-5, 0.0]).astype(
        np.finfo(dtype).dtype
    )
    x = (some(dtype, 5, 4, 3) * factors[:, None, None]).astype(dtype)
    x[4, 0, 0] = np.inf
    scale, seen = rescaling(engine, layout_on_gpu(x)), x.copy()
    words, owner = engine.pool.allocator(scale.nbytes)(STREAM)
    scale.begin(STREAM, seen.ctypes.data, words)
    parts = np.abs(seen.view(np.finfo(dtype).dtype)).reshape(5, 4, -1).max(axis=2)
    assert np.all((parts[1:3] >= 1) & (parts[1:3] < 2))
    assert np.array_equal(seen[[0, 3, 4]], x[[0, 3, 4]])
    scale.end(STREAM, seen.ctypes.data, words)
    assert np.array_equal(seen, x)
    del owner


@pytest.mark.parametrize("dtype", DTYPES)
def test_qr_of_columns_of_very_different_scales(engine: Any, dtype: str) -> None:
    powers = np.array([100, -110, 0, -20]) if np.finfo(dtype).bits == 32 else np.array([900, -900, 0, -340])
    scales = np.ldexp(np.ones(4, np.finfo(dtype).dtype), powers)
    plain = some(dtype, 5, 6, 4)
    q, r = results(engine, linalg.qr, plain * scales, parameters=(False,))
    assert np.all(np.isfinite(r))
    close(q @ (r / scales), plain)


def test_what_the_libraries_are_asked(engine: Any) -> None:
    """Stacks of small matrices take one batched call."""
    x = some("float32", 8, 6, 6) + 6 * np.eye(6, dtype=np.float32)
    cublas, cusolver = (engine.libraries[name].called for name in ("cublas", "cusolverDn"))
    results(engine, linalg.inv, x)
    results(engine, linalg.solve, x, x)
    results(engine, linalg.eigh, x, parameters=("eigh", True))
    results(engine, linalg.svd, x, parameters=("svd", True))
    assert cublas == ["smatinv_batched", "sgetrf_batched", "sgetrs_batched"]
    assert [name for name in cusolver if "buffer" not in name] == ["ssyevj_batched", "sgesvdj_batched"]
    results(engine, linalg.eigh, some("complex64", 2, 33, 33), parameters=("eigh", True))
    assert cusolver[-1] == "xsyev_batched"


@pytest.mark.parametrize("count", [1, 4])
def test_failures(engine: Any, count: int) -> None:
    x = np.ones((count, 3, 3))
    with pytest.raises(LinAlgError, match="inv: a matrix is singular"):
        results(engine, linalg.inv, x)
    with pytest.raises(LinAlgError, match="solve: a matrix is singular"):
        results(engine, linalg.solve, x, x)
    with pytest.raises(LinAlgError, match="cholesky: a matrix is not positive definite"):
        results(engine, linalg.cholesky, -x, parameters=(False,))
    sign, logabsdet = results(engine, linalg.slogdet, x, parameters=("slogdet",))
    assert (sign == 0).all()
    assert (logabsdet == -np.inf).all()


@pytest.mark.parametrize("size", [3, 40, 192])
@pytest.mark.parametrize("count", [1, 4])
def test_failures_that_are_told_later(engine: Any, count: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros((count, size, size))
    x[-1, 0, 0] = np.nan
    for plan, name, parameters in (
        (linalg.eigh, "eigh: the eigen", (True,)),
        (linalg.svd, "svd: the singular ", (True,)),
    ):
        message = rf"^{name}values of matrix {count - 1} did not converge"
        results(engine, plan, x, parameters=(name.partition(":")[0], *parameters))
        with pytest.raises(LinAlgError, match=rf"{message} \(cuda:0 found it in an earlier call"):
            engine.faults.check()
        engine.faults.check()
        with monkeypatch.context() as debugging:
            debugging.setattr(config, "debug", True)
            with pytest.raises(LinAlgError, match=f"{message}$"):
                results(engine, plan, x, parameters=(name.partition(":")[0], *parameters))


def norms(kind: str, x: Any, axes: tuple[int, ...], lengths: tuple[int, ...]) -> Any:
    for norm in fft.NORMS:
        yield norm, getattr(np.fft, f"{kind}n")(x, lengths, axes, norm)


@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("shape", [(6,), (3, 4), (2, 3, 4), (2, 3, 2, 4)], ids=str)
def test_transforms(engine: Any, kind: Any, shape: tuple[int, ...]) -> None:
    x = some("float64" if kind == "rfft" else "complex64", *shape)
    before = x.copy()
    for count in range(1, len(shape) + 1):
        for axes in itertools.permutations(range(len(shape)), count):
            for lengths in (tuple(max(shape[a], 2) for a in axes), tuple(5 - a for a in axes)):
                for norm, wanted in norms(kind, x, axes, lengths):
                    parameters = (Transform("f", kind), lengths, axes, norm)
                    (got,) = results(engine, fft.along_axes, x, parameters=parameters)
                    assert got.dtype == wanted.dtype
                    close(got, wanted)
    assert np.array_equal(x, before)


@pytest.mark.parametrize("kind", ["rfft", "irfft"])
def test_a_real_axis_apart(engine: Any, monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    """An odd real axis is transformed by a separate call in a transform of a whole matrix."""
    monkeypatch.setattr(type(engine), "fft_strided", 1)
    for shape in ((3, 4), (1, 4, 3, 1)):
        x = some("float64" if kind == "rfft" else "complex128", *shape)
        axes = tuple(axis for axis in range(x.ndim) if shape[axis] > 1)
        for order in (axes, axes[::-1]):
            lengths = tuple(5 + 2 * axis for axis in order)
            for norm, wanted in norms(kind, x, order, lengths):
                (got,) = results(engine, fft.along_axes, x, parameters=(Transform("f", kind), lengths, order, norm))
                close(got, wanted)


@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
def test_a_first_axis_that_goes_last(engine: Any, monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    monkeypatch.setattr(type(engine), "fft_strided", 1)
    x = some("float64" if kind == "rfft" else "complex128", 5, 3, 2)
    for axes in ((0,), (0, 1), (1, 0)):
        lengths = tuple(6 + axis for axis in axes)
        for norm, wanted in norms(kind, x, axes, lengths):
            (got,) = results(engine, fft.along_axes, x, parameters=(Transform("f", kind), lengths, axes, norm))
            close(got, wanted)


def test_plans_are_kept(engine: Any) -> None:
    x = some("complex64", 3, 8)
    for _ in range(3):
        results(engine, fft.along_axis, x, parameters=(TRANSFORMS["fft"], None, -1, "backward"))
        results(engine, fft.along_axis, x, parameters=(TRANSFORMS["ifft"], None, -1, "ortho"))
    assert engine.plans.cufft.made == 1
    program = fft.along_axis(engine, (layout_on_gpu(x),), TRANSFORMS["fft"], None, -1, "backward")
    for n in range(1, cuda_fft.PLANS + 10):
        results(engine, fft.along_axis, x, parameters=(TRANSFORMS["fft"], n, -1, "backward"))
    assert len(engine.plans._plans) == len(engine.plans.cufft.plans) == cuda_fft.PLANS
    made = engine.plans.cufft.made
    for _ in range(2):  # the first call makes its evicted plan again
        close(run(engine, *program, x)[0], np.fft.fft(x))
    assert engine.plans.cufft.made == made + 1


def test_geometry() -> None:
    x = layout_of(dt.complex64, (2, 3, 4, 5), None, EmulatedEngine().context.device)
    geometry, times = cuda_fft.geometry_of(x, x, (2, 3), "fft")
    assert (geometry.batch, geometry.step, geometry.strides, times) == (6, 1, (20, 20), 1)
    geometry, times = cuda_fft.geometry_of(x, x, (1,), "fft")
    assert (geometry.batch, geometry.step, geometry.strides, times) == (20, 20, (1, 1), 2)
