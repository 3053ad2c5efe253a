"""cuSOLVER, cuBLAS and cuFFT on host memory, with the signatures of the real bindings.

Each function computes with NumPy what the library documents. So tests without a GPU check how the engine passes rows,
columns, pointers and strides. The names of parameters come from the docstrings of the real bindings.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from xpops.core.layouts import Layout
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]

DTYPES = {0: np.dtype("f4"), 1: np.dtype("f8"), 4: np.dtype("c8"), 5: np.dtype("c16")}
LETTERS = {"s": DTYPES[0], "d": DTYPES[1], "c": DTYPES[4], "z": DTYPES[5]}
WORK = 64  # bytes of scratch memory that every routine requests
HANDLE = 11


def at(address: int, dtype: Any, *shape: int) -> NDArray:
    """The memory at an address as a C-contiguous array."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(address), dtype).reshape(shape)


def columns(address: int, dtype: Any, rows: int, count: int, leading: int) -> NDArray:
    """The memory at an address as a column-major matrix."""
    assert leading >= max(rows, 1)
    return at(address, dtype, count, leading)[:, :rows].T


def named(module: Any, function: str, arguments: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments by the names in the binding's docstring."""
    signature = getattr(module, function).__doc__.splitlines()[0]
    names = [each.split()[-1] for each in re.search(r"\((.*)\)", signature)[1].split(",")]  # type: ignore[index]
    assert len(names) == len(arguments), f"{signature} was called with {len(arguments)} arguments"
    return dict(zip(names, arguments, strict=True))


class FakeLibrary:
    """A library with a handle."""

    def __init__(self, name: str) -> None:
        self._module = import_module(f"nvmath.bindings.{name}")
        self.called: list[str] = []

    def made(self, function: str) -> int:
        assert callable(getattr(self._module, function))
        return 7

    @contextmanager
    def on(self, stream: int) -> Iterator[int]:
        yield HANDLE

    def function(self, name: str) -> Callable[..., Any]:
        return partial(self._call, name)

    def _call(self, function: str, *arguments: Any) -> Any:
        given = named(self._module, function, arguments)
        assert given["handle"] == HANDLE
        self.called.append(function)
        if function.endswith("_buffer_size"):
            return (WORK, WORK) if function.startswith("x") else WORK
        if function in globals():
            return globals()[function](**given)
        common = function[1:].replace("ung", "org").replace("heevj", "syevj")
        return globals()[f"t{common}"](LETTERS[function[0]], **given)


def matmul(runtime: Any, x1: Layout, x2: Layout, out: Layout, tf32: bool) -> Kernel:
    """The product of two C-contiguous matrices by NumPy, in the place of cuBLASLt's."""
    assert not tf32

    def kernel(stream: int, *data: int) -> None:
        to, left, right = (
            at(each, layout.dtype, *layout.shape) for each, layout in zip(data, (out, x1, x2), strict=True)
        )
        to[...] = left @ right

    return kernel


class FakeCufft:
    """cuFFT, whose plans are its handles."""

    def __init__(self) -> None:
        self._module, self.plans, self.made = import_module("nvmath.bindings.cufft"), {}, 0

    @contextmanager
    def current(self) -> Iterator[None]:
        yield

    uncaptured = current

    def function(self, name: str) -> Callable[..., Any]:
        return partial(self._call, name)

    def _call(self, function: str, *arguments: Any) -> Any:
        if function == "create":
            self.made += 1
            self.plans[self.made] = {}
            return self.made
        p = named(self._module, function, arguments)
        if function == "destroy":
            del self.plans[p["plan"]]
            return None
        plan = self.plans[p.pop("plan")]
        plan.update(p)
        if function == "make_plan_many64":
            assert plan["auto_allocate"] == 0
            return WORK if plan["batch"] > 1 else 0
        if function.startswith("exec"):
            assert bool(plan["work_area"]) == (plan["batch"] > 1)
            assert plan["stream"] == 0
            self._run(plan, self._module.Type[function[5:].upper()], **p)
        return None

    def _run(self, plan: dict[str, Any], kind: Any, idata: int, odata: int, direction: int = 0) -> None:
        assert plan["type"] == kind
        name = kind.name
        real, spectrum = (np.float32, np.complex64) if "C" in name else (np.float64, np.complex128)
        before = real if name[0] in "RD" else spectrum
        after = real if name[-1] in "RD" else spectrum
        source = _walk(idata, before, plan["inembed"], plan["istride"], plan["idist"], plan["batch"])
        target = _walk(odata, after, plan["onembed"], plan["ostride"], plan["odist"], plan["batch"])
        points, axes = plan["n"], tuple(range(1, plan["rank"] + 1))
        if before == real:
            target[...] = np.fft.rfftn(source, axes=axes)
        elif after == real:
            target[...] = np.fft.irfftn(source, points, axes, "forward")
            source[...] = np.nan
        else:
            transform, norm = (np.fft.fftn, "backward") if direction == -1 else (np.fft.ifftn, "forward")
            target[...] = transform(source, axes=axes, norm=norm)


def _walk(address: int, dtype: Any, shape: tuple[int, ...], step: int, distance: int, batch: int) -> NDArray:
    item = np.dtype(dtype).itemsize
    assert address % item == 0
    strides = [distance, *(step * int(np.prod(shape[i + 1 :])) for i in range(len(shape)))]
    reach = 1 + sum(s * (n - 1) for s, n in zip(strides, (batch, *shape), strict=True))
    return np.ndarray((batch, *shape), dtype, at(address, dtype, reach), 0, [item * s for s in strides])


def _each(address: int, count: int) -> list[int]:
    return [int(each) for each in at(address, np.uint64, count)]


def _scratch(on_device: int, on_host: int) -> None:
    assert on_device == on_host == WORK


def _factor(a: NDArray, pivots: NDArray) -> int:
    """LU decomposition with partial pivoting, in place. Returns the number of a zero pivot, counted from 1, or 0."""
    zero = 0
    for i in range(len(a)):
        best = i + int(np.argmax(abs(a[i:, i])))
        pivots[i] = best + 1
        a[[i, best]] = a[[best, i]]
        if a[i, i] == 0:
            zero = zero or i + 1
            continue
        a[i + 1 :, i] /= a[i, i]
        a[i + 1 :, i + 1 :] -= np.outer(a[i + 1 :, i], a[i, i + 1 :])
    return zero


def _composed(a: NDArray, pivots: NDArray) -> NDArray:
    """The matrix that was decomposed."""
    found = (np.tril(a, -1) + np.eye(len(a), dtype=a.dtype)) @ np.triu(a)
    for i in reversed(range(len(a))):
        found[[i, pivots[i] - 1]] = found[[pivots[i] - 1, i]]
    return found


def _solution(a: NDArray, b: NDArray) -> NDArray:
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return b * np.nan


def xgetrf(
    m: int, n: int, data_type_a: int, a: int, lda: int, ipiv: int, info: int, compute_type: int, **rest: Any
) -> None:
    _scratch(rest["workspace_in_bytes_on_device"], rest["workspace_in_bytes_on_host"])
    assert m == n
    at(info, np.int32, 1)[0] = _factor(columns(a, DTYPES[data_type_a], n, n, lda), at(ipiv, np.int64, n))


def xgetrs(
    trans: int, n: int, nrhs: int, data_type_a: int, a: int, lda: int, ipiv: int, data_type_b: int, **rest: Any
) -> None:
    matrix = _composed(columns(a, DTYPES[data_type_a], n, n, lda), at(ipiv, np.int64, n))
    sides = columns(rest["b"], DTYPES[data_type_b], n, nrhs, rest["ldb"])
    sides[...] = _solution(matrix.T if trans else matrix, sides)
    at(rest["info"], np.int32, 1)[0] = 0


def tgetrf_batched(dtype: Any, n: int, a: int, lda: int, p: int, info: int, batch_size: int, **rest: Any) -> None:
    for i, matrix in enumerate(_each(a, batch_size)):
        pivots = at(p, np.int32, batch_size, n)[i]
        at(info, np.int32, batch_size)[i] = _factor(columns(matrix, dtype, n, n, lda), pivots)


def tgetrs_batched(
    dtype: Any, trans: int, n: int, nrhs: int, aarray: int, lda: int, dev_ipiv: int, barray: int, ldb: int, **rest: Any
) -> None:
    count = rest["batch_size"]
    pivots = at(dev_ipiv, np.int32, count, n)
    for i, (a, b) in enumerate(zip(_each(aarray, count), _each(barray, count), strict=True)):
        matrix, sides = _composed(columns(a, dtype, n, n, lda), pivots[i]), columns(b, dtype, n, nrhs, ldb)
        sides[...] = _solution(matrix.T if trans else matrix, sides)


def tgetri_batched(
    dtype: Any, n: int, a: int, lda: int, p: int, c: int, ldc: int, info: int, batch_size: int, **rest: Any
) -> None:
    for i, (matrix, inverse) in enumerate(zip(_each(a, batch_size), _each(c, batch_size), strict=True)):
        found = _composed(columns(matrix, dtype, n, n, lda), at(p, np.int32, batch_size, n)[i])
        columns(inverse, dtype, n, n, ldc)[...] = _solution(found, np.eye(n, dtype=dtype))
        at(info, np.int32, batch_size)[i] = 0


def tmatinv_batched(
    dtype: Any, n: int, a: int, lda: int, ainv: int, lda_inv: int, info: int, batch_size: int, **rest: Any
) -> None:
    assert n <= 32
    for i, (matrix, inverse) in enumerate(zip(_each(a, batch_size), _each(ainv, batch_size), strict=True)):
        found = columns(matrix, dtype, n, n, lda)
        columns(inverse, dtype, n, n, lda_inv)[...] = _solution(found, np.eye(n, dtype=dtype))
        at(info, np.int32, batch_size)[i] = int(np.linalg.matrix_rank(found) < n)


def _cholesky(a: NDArray, uplo: int) -> int:
    triangle = np.triu(a) if uplo else np.tril(a)
    whole = triangle + triangle.T.conj() - np.diag(np.diag(triangle))
    try:
        found = np.linalg.cholesky(whole, upper=bool(uplo))
    except np.linalg.LinAlgError:
        return 1
    mask = np.triu(np.ones(a.shape, bool)) if uplo else np.tril(np.ones(a.shape, bool))
    a[mask] = found[mask]
    return 0


def xpotrf(uplo: int, n: int, data_type_a: int, a: int, lda: int, info: int, **rest: Any) -> None:
    at(info, np.int32, 1)[0] = _cholesky(columns(a, DTYPES[data_type_a], n, n, lda), uplo)


def tpotrf_batched(
    dtype: Any, uplo: int, n: int, aarray: int, lda: int, info_array: int, batch_size: int, **rest: Any
) -> None:
    for i, a in enumerate(_each(aarray, batch_size)):
        at(info_array, np.int32, batch_size)[i] = _cholesky(columns(a, dtype, n, n, lda), uplo)


def xgeqrf(m: int, n: int, data_type_a: int, a: int, lda: int, data_type_tau: int, tau: int, **rest: Any) -> None:
    matrix = columns(a, DTYPES[data_type_a], m, n, lda)
    found, scalars = np.linalg.qr(matrix, "raw")
    matrix[...], at(tau, DTYPES[data_type_tau], min(m, n))[...] = found.T, scalars
    at(rest["info"], np.int32, 1)[0] = 0


def tgeqrf_batched(
    dtype: Any, m: int, n: int, aarray: int, lda: int, tau_array: int, info: int, batch_size: int, **rest: Any
) -> None:
    for a, tau in zip(_each(aarray, batch_size), _each(tau_array, batch_size), strict=True):
        matrix = columns(a, dtype, m, n, lda)
        found, scalars = np.linalg.qr(matrix, "raw")
        matrix[...], at(tau, dtype, min(m, n))[...] = found.T, scalars
    assert ctypes.c_int.from_address(info).value == 0


def torgqr(dtype: Any, m: int, n: int, k: int, a: int, lda: int, tau: int, **rest: Any) -> None:
    assert m >= n >= k
    assert rest["lwork"] == WORK
    matrix, scalars = columns(a, dtype, m, n, lda), at(tau, dtype, k)
    found = np.eye(m, dtype=dtype)
    for i in reversed(range(k)):
        v = np.concatenate([np.zeros(i, dtype), np.ones(1, dtype), matrix[i + 1 :, i]])
        found -= scalars[i] * np.outer(v, v.conj() @ found)
    matrix[...] = found[:, :n]


def _eigh(a: NDArray, values: NDArray, uplo: int, jobz: int) -> int:
    if np.isnan(a).any():
        values[...] = a[...] = np.nan
        return 1
    found, vectors = np.linalg.eigh(a, "U" if uplo else "L")
    values[...] = found
    a[...] = vectors if jobz else np.nan
    return 0


def xsyevd(jobz: int, uplo: int, n: int, data_type_a: int, a: int, lda: int, data_type_w: int, **rest: Any) -> None:
    _scratch(rest["workspace_in_bytes_on_device"], rest["workspace_in_bytes_on_host"])
    values = at(rest["w"], DTYPES[data_type_w], n)
    at(rest["info"], np.int32, 1)[0] = _eigh(columns(a, DTYPES[data_type_a], n, n, lda), values, uplo, jobz)


def xsyev_batched(
    jobz: int, uplo: int, n: int, data_type_a: int, a: int, lda: int, data_type_w: int, batch_size: int, **rest: Any
) -> None:
    dtype = DTYPES[data_type_a]
    for i in range(batch_size):
        matrix = columns(a + i * lda * n * dtype.itemsize, dtype, n, n, lda)
        values = at(rest["w"], DTYPES[data_type_w], batch_size, n)[i]
        at(rest["info"], np.int32, batch_size)[i] = _eigh(matrix, values, uplo, jobz)


def tsyevj_batched(
    dtype: Any, jobz: int, uplo: int, n: int, a: int, lda: int, w: int, work: int, lwork: int, info: int, **rest: Any
) -> None:
    assert n <= 32
    assert lwork == WORK
    real = np.zeros(0, dtype).real.dtype
    for i in range(rest["batch_size"]):
        matrix = columns(a + i * lda * n * dtype.itemsize, dtype, n, n, lda)
        values = at(w, real, rest["batch_size"], n)[i]
        at(info, np.int32, rest["batch_size"])[i] = _eigh(matrix, values, uplo, jobz)


def xgeev(jobvl: int, jobvr: int, n: int, data_type_a: int, a: int, lda: int, data_type_w: int, **rest: Any) -> None:
    assert not jobvl
    dtype = DTYPES[data_type_a]
    assert rest["data_type_vl"] == rest["data_type_vr"] == data_type_a
    values, vectors = np.linalg.eig(columns(a, dtype, n, n, lda))
    values, vectors = values.astype(DTYPES[data_type_w]), vectors.astype(DTYPES[data_type_w])
    at(rest["w"], DTYPES[data_type_w], n)[...] = values
    if jobvr:
        target = columns(rest["vr"], dtype, n, n, rest["ldvr"])
        if dtype.kind == "c":
            target[...] = vectors
        for j in range(n if dtype.kind == "f" else 0):
            target[:, j] = vectors[:, j - 1].imag if values[j].imag < 0 else vectors[:, j].real
    at(rest["info"], np.int32, 1)[0] = 0


def xgesvd(
    jobu: int, jobvt: int, m: int, n: int, data_type_a: int, a: int, lda: int, data_type_s: int, s: int, **rest: Any
) -> None:
    assert m >= n
    dtype, jobs = DTYPES[data_type_a], chr(jobu) + chr(jobvt)
    at(rest["info"], np.int32, 1)[0] = failed = int(np.isnan(columns(a, dtype, m, n, lda)).any())
    if failed:
        return
    u, values, vh = np.linalg.svd(columns(a, dtype, m, n, lda), "A" in jobs)
    at(s, DTYPES[data_type_s], n)[...] = values
    if jobs != "NN":
        columns(rest["u"], dtype, m, u.shape[1], rest["ldu"])[...] = u
        columns(rest["vt"], dtype, n, n, rest["ldvt"])[...] = vh


def xgesvdp(
    jobz: int, econ: int, m: int, n: int, data_type_a: int, a: int, lda: int, data_type_s: int, s: int, **rest: Any
) -> None:
    """As the library: of a singular matrix it gives the decomposition of another one."""
    assert m >= n
    assert jobz == 1
    matrix = columns(a, DTYPES[data_type_a], m, n, lda)
    at(rest["d_info"], np.int32, 1)[0] = 0
    assert np.isfinite(matrix).all()
    distance = 0 if np.linalg.matrix_rank(matrix) == n else 8000 * np.finfo(matrix.dtype).eps * np.linalg.norm(matrix)
    moved = matrix + distance / n**0.5 * np.eye(m, n, dtype=matrix.dtype)
    left, values, right = np.linalg.svd(moved, not econ)
    at(s, DTYPES[data_type_s], n)[...] = values
    columns(rest["u"], matrix.dtype, m, left.shape[1], rest["ldu"])[...] = left
    columns(rest["v"], matrix.dtype, n, n, rest["ldv"])[...] = right.T.conj()
    matrix[...] = np.nan


def tgesvdj(
    dtype: Any, jobz: int, econ: int, m: int, n: int, a: int, lda: int, s: int, u: int, ldu: int, v: int, **rest: Any
) -> None:
    assert m >= n
    assert jobz == 1
    matrix = columns(a, dtype, m, n, lda)
    at(rest["info"], np.int32, 1)[0] = failed = int(np.isnan(matrix).any())
    if failed:
        return
    left, values, right = np.linalg.svd(matrix, not econ)
    at(s, values.dtype, n)[...] = values
    columns(u, dtype, m, left.shape[1], ldu)[...] = left
    columns(v, dtype, n, n, rest["ldv"])[...] = right.T.conj()
    matrix[...] = np.nan


def tgesvdj_batched(
    dtype: Any, jobz: int, m: int, n: int, a: int, lda: int, s: int, u: int, ldu: int, v: int, ldv: int, **rest: Any
) -> None:
    assert max(m, n) <= 32
    count, item, least = rest["batch_size"], dtype.itemsize, min(m, n)
    for i in range(count):
        matrix = columns(a + i * lda * n * item, dtype, m, n, lda)
        at(rest["info"], np.int32, count)[i] = failed = int(np.isnan(matrix).any())
        if failed:
            continue
        left, values, right = np.linalg.svd(matrix)
        at(s, values.dtype, count, least)[i] = values
        if jobz:
            columns(u + i * ldu * m * item, dtype, m, m, ldu)[...] = left
            columns(v + i * ldv * n * item, dtype, n, n, ldv)[...] = right.T.conj()
