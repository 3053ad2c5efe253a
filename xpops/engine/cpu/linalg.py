"""Decompositions and solutions by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from xpops.core.errors import LinAlgError
from xpops.core.layouts import Layout
from xpops.engine.program import Kernel

NDArray = np.ndarray[Any, Any]


def cholesky(x: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.cholesky`."""

    def kernel(stream: int, x: NDArray) -> None:
        with _failing("cholesky: a matrix is not positive definite"):
            x[...] = np.linalg.cholesky(x, upper=True)

    return kernel


def eig(x: Layout, vectors: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.eig`."""

    def kernel(stream: int, *data: NDArray) -> None:
        *results, x = data
        with _failing("eig: the eigenvalues of a matrix did not converge"):
            if vectors:
                values, columns = np.linalg.eig(x.mT)
                results[1][...] = columns.mT
            else:
                values = np.linalg.eigvals(x.mT)
            results[0][...] = values.reshape(-1)

    return kernel


def eigh(x: Layout, vectors: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.eigh`."""

    def kernel(stream: int, values: NDArray, x: NDArray) -> None:
        with _failing("eigh: the eigenvalues of a matrix did not converge"):
            if vectors:
                found, columns = np.linalg.eigh(x)
                x[...] = columns.mT.conj()
            else:
                found = np.linalg.eigvalsh(x)
            values[...] = found.reshape(-1)

    return kernel


def inv(x: Layout, identity: Callable[[int, NDArray], None]) -> Kernel:
    """See `xpops.engine.protocol.Engine.inv`."""

    def kernel(stream: int, out: NDArray, x: NDArray) -> None:
        with _failing("inv: a matrix is singular"):
            out[...] = np.linalg.inv(x)

    return kernel


def qr(x: Layout, q: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.qr`."""

    def kernel(stream: int, q: NDArray, x: NDArray) -> None:
        columns, r = np.linalg.qr(x.mT, "complete" if q.shape[1] == q.shape[2] else "reduced")
        q[...] = columns.mT
        x.mT[:, : r.shape[1]] = r

    return kernel


def slogdet(x: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.slogdet`."""

    def kernel(stream: int, sign: NDArray, logabsdet: NDArray, x: NDArray) -> None:
        with np.errstate(all="ignore"):
            sign[...], logabsdet[...] = np.linalg.slogdet(x)

    return kernel


def solve(a: Layout, b: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.solve`."""

    def kernel(stream: int, a: NDArray, b: NDArray) -> None:
        with _failing("solve: a matrix is singular"):
            b.mT[...] = np.linalg.solve(a.mT, b.mT)

    return kernel


def svd(x: Layout, vectors: bool, full: bool) -> Kernel:
    """See `xpops.engine.protocol.Engine.svd`."""

    def kernel(stream: int, *data: NDArray) -> None:
        *results, x = data
        with _failing("svd: the singular values of a matrix did not converge"):
            found = np.linalg.svd(x, full) if vectors else (np.linalg.svdvals(x),)
        for result, each in zip(results, found, strict=True):
            result[...] = each

    return kernel


def triangle(x: Layout) -> Kernel:
    """See `xpops.engine.protocol.Engine.triangle`."""

    def kernel(stream: int, x: NDArray) -> None:
        x[...] = np.triu(x)

    return kernel


@contextmanager
def _failing(failure: str) -> Iterator[None]:
    try:
        with np.errstate(all="ignore"):
            yield
    except np.linalg.LinAlgError as error:
        raise LinAlgError(failure) from error
