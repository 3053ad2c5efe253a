"""The engine of one GPU: the table of its primitives."""

from __future__ import annotations

from xpops.engine.cuda.kernels.arange import arange
from xpops.engine.cuda.kernels.correlate import correlate
from xpops.engine.cuda.kernels.distinct import distinct
from xpops.engine.cuda.kernels.elementwise import assign, elementwise
from xpops.engine.cuda.kernels.gather import gather, scatter, take_along
from xpops.engine.cuda.kernels.histogram import bincount, histogram
from xpops.engine.cuda.kernels.join import join
from xpops.engine.cuda.kernels.random import random
from xpops.engine.cuda.kernels.reduce import reduce
from xpops.engine.cuda.kernels.scan import scan
from xpops.engine.cuda.kernels.scatter import scatter_reduce
from xpops.engine.cuda.kernels.searchsorted import searchsorted
from xpops.engine.cuda.kernels.selection.select import compress, masked_scatter, nonzero, runs
from xpops.engine.cuda.kernels.softmax import softmax
from xpops.engine.cuda.kernels.sort import sort
from xpops.engine.cuda.kernels.upsample import upsample
from xpops.engine.cuda.kernels.window import window
from xpops.engine.cuda.libraries.fft import fft
from xpops.engine.cuda.libraries.lu import inv, slogdet, solve
from xpops.engine.cuda.libraries.matmul import matmul
from xpops.engine.cuda.libraries.singular import svd
from xpops.engine.cuda.libraries.spectral import eig, eigh
from xpops.engine.cuda.libraries.triangular import cholesky, qr, triangle
from xpops.engine.cuda.runtime.runtime import Runtime
from xpops.engine.cuda.tuning import tuning_of


class CudaEngine(Runtime):
    """The engine of one GPU: a `Runtime` with the primitives of `xpops.engine.protocol.Engine`."""

    is_host, dlpack_kind = False, 2

    @property
    def fft_strided(self) -> int:
        return tuning_of(self.context.capability).fft_strided

    arange = arange
    assign = assign
    bincount = bincount
    cholesky = cholesky
    compress = compress
    correlate = correlate
    distinct = distinct
    eig = eig
    eigh = eigh
    elementwise = elementwise
    fft = fft
    gather = gather
    histogram = histogram
    inv = inv
    join = join
    window = window
    matmul = matmul
    nonzero = nonzero
    masked_scatter = masked_scatter
    qr = qr
    random = random
    reduce = reduce
    runs = runs
    scan = scan
    scatter = scatter
    scatter_reduce = scatter_reduce
    searchsorted = searchsorted
    slogdet = slogdet
    softmax = softmax
    solve = solve
    sort = sort
    svd = svd
    take_along = take_along
    triangle = triangle
    upsample = upsample
