"""Calls of NumPy as text, for `tests/engine/test_numpy.py`: what NumPy returns is expected of `xpops.numpy`.

Operands are the names of `OPERANDS`. `written(function, x, ...)` is a copy of `x` that the function has written. After
``~`` the dtype is another one here: roots are always complex.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_RNG = np.random.default_rng(5)

OPERANDS: dict[str, Any] = {
    "x": _RNG.normal(size=(3, 4)),
    "y": _RNG.normal(size=(3, 4)),
    "p": _RNG.uniform(0.1, 0.9, size=(3, 4)),
    "h": _RNG.normal(size=(3, 4)).astype(np.float32),
    "i": _RNG.integers(-9, 9, size=(3, 4)),
    "j": _RNG.integers(1, 9, size=(3, 4)),
    "c": _RNG.normal(size=(3, 4)) + 1j * _RNG.normal(size=(3, 4)),
    "b": _RNG.integers(0, 2, size=(3, 4)) > 0,
    "t": _RNG.normal(size=(2, 3, 4)),
    "n": np.array([[1.0, np.nan, -np.inf, 2.0], [np.inf, -0.0, 0.0, 3.5]]),
    "v": _RNG.normal(size=7),
    "w": _RNG.normal(size=4),
    "a": np.sort(_RNG.uniform(0, 5, size=6)),
    "k": np.array([2, 0, 3, 3, 1]),
    "l": np.array([3, 1, 3, 2, 7]),
    "m": _RNG.normal(size=(4, 4)),
    "s": np.eye(4) * 4 + 0.5,
    "q": np.array([0, 2, 1]),
}

_FLOATS = """
sqrt:p cbrt:x cbrt:h fabs:x fabs:i exp:x exp2:x expm1:x log:p log2:p log10:p log1p:p sin:x cos:x tan:x arcsin:p
arccos:p arctan:x sinh:x cosh:x tanh:x arcsinh:x arctanh:p deg2rad:x rad2deg:x degrees:x radians:x square:x
square:i absolute:x absolute:c absolute:i sign:x sign:i negative:x positive:x reciprocal:x reciprocal:j rint:x
rint:i fix:x floor:x ceil:x trunc:x sinc:x sinc:n i0:x i0:v isnan:n isinf:n isfinite:n isneginf:n isposinf:n
signbit:n isnan:i isnan:b real:c imag:c real:x imag:x conj:c conjugate:c angle:c angle:x iscomplex:c isreal:c
iscomplex:x isreal:x iscomplexobj:c isrealobj:c iscomplexobj:x isrealobj:x logical_not:i invert:i invert:b frexp:x
frexp:n modf:x modf:n nan_to_num:n nan_to_num:i around:x round:x cumsum:x cumprod:x sum:x prod:x mean:x std:x var:x
min:x max:x amin:x amax:x ptp:x median:x average:x argmin:x argmax:x sum:i prod:b mean:i mean:h std:b max:b
argmax:b min:i all:b any:b all:x any:i count_nonzero:i nansum:n nanmin:n nanmax:n nanprod:n nanmean:x nanstd:x
nanvar:x nanargmin:n nanargmax:n nanmedian:n nancumsum:n nancumprod:n sort:x argsort:x sort:i nonzero:b
flatnonzero:i argwhere:b unique:i unique:x ravel:x transpose:x transpose:t squeeze:x copy:x ascontiguousarray:x
array:x asarray:x atleast_1d:x atleast_2d:v atleast_3d:v atleast_3d:x atleast_3d:t fliplr:x flipud:x flip:x rot90:x
zeros_like:x ones_like:i diagflat:v diag:v diag:m tril:x triu:x vander:v trace:m diagonal:m gradient:v diff:x
ediff1d:x corrcoef:x cov:x trapezoid:x bincount:k histogram:v hsplit:x,2 vsplit:x,3 unwrap:v arccosh:j poly:w exp:h
exp2:h expm1:h log:h log2:h log10:h log1p:h floor:h ceil:h trunc:h cos:h tan:h arcsin:h arccos:h arctan:h sinh:h
cosh:h tanh:h arcsinh:h arccosh:h arctanh:h deg2rad:h rad2deg:h degrees:h radians:h negative:h positive:h ravel:h
fliplr:h flipud:h atleast_1d:h copy:h ascontiguousarray:h isinf:h isfinite:h isneginf:h isposinf:h signbit:h
logical_not:h conj:i conjugate:h nonzero:x flatnonzero:b argwhere:i
"""
_PAIRS = """
add:x,y subtract:x,y multiply:x,y divide:x,y true_divide:i,j floor_divide:x,y mod:i,j remainder:x,y fmod:x,y
fmod:i,j divmod:i,j power:p,y power:j,2 float_power:j,2 heaviside:x,y copysign:x,y nextafter:x,y ldexp:x,i
logaddexp:x,y logaddexp2:x,y maximum:x,y minimum:i,j maximum:b,b fmax:n,1.0 fmin:n,n fmax:x,y fmin:x,y gcd:i,j
lcm:i,j arctan2:x,y hypot:x,y isclose:x,y allclose:x,x allclose:x,y array_equal:x,x array_equal:x,v array_equiv:x,x
array_equiv:x,w equal:i,j not_equal:x,y less:x,y less_equal:i,2 greater:x,0.5 greater_equal:x,y logical_and:i,j
logical_or:x,0 logical_xor:i,b bitwise_and:i,j bitwise_or:i,7 bitwise_xor:b,b left_shift:j,2 right_shift:i,1
add:b,b multiply:b,b dot:x,w dot:v,v dot:2.0,x dot:t,m vdot:c,c inner:x,y outer:v,w matmul:m,m kron:x,q kron:m,x
tensordot:x,y add:h,1.5 multiply:x,2 isin:i,k union1d:k,l intersect1d:k,l setdiff1d:l,k setxor1d:k,l polyval:v,x
polyadd:v,w polymul:v,w convolve:v,w correlate:v,w extract:b,x append:x,y take:x,q searchsorted:a,v digitize:v,a
cross:x[:,:3],y[:,:3] cross:x[:3].T,y[:3].T histogram2d:v,v resize:x,7 tile:x,2 repeat:x,2 percentile:x,30
quantile:x,0.3 nanpercentile:n[:,:2],30 nanquantile:x,0.5 expand_dims:x,1 roll:x,2 reshape:x,(2,6) partition:x,1
argpartition:a,2 broadcast_to:w,(2,4) delete:v,2 compress:b[0],w split:x,3 array_split:v,3 isclose:n,n subtract:2,x
divide:h,h true_divide:x,2 floor_divide:i,j mod:x,0.7 remainder:i,3 divmod:x,y float_power:h,h heaviside:n,0.5
copysign:h,-1.0 nextafter:h,2.0 logaddexp:h,0.0 logaddexp2:h,h minimum:x,0 arctan2:h,1.0 hypot:h,3.0
logical_and:b,b logical_or:b,b logical_xor:b,True equal:x,x not_equal:b,b less:i,x greater:c.real,x
greater_equal:2,i less_equal:x,x bitwise_and:b,b bitwise_or:i,j bitwise_xor:i,3 left_shift:1,k right_shift:j,1
argpartition:x[:,:1],0,1 extract:x,x setxor1d:x,y broadcast_to:2.0,(3,) empty_like:k[:0]
"""


def _calls(entries: str) -> list[str]:
    return ["np.{}({})".format(*entry.split(":", 1)) for entry in entries.split()]


_OTHERS = """
np.array([1, 2], np.float32, ndmin=2)
np.array([[1.5, 2], [3, 4]])
np.asarray([1, 2, 3], np.int32)
np.zeros((2, 3))
np.zeros(3, np.int32)
np.ones((2,), np.complex64)
np.empty((2, 0))
np.empty_like(x[:0])
np.full((2, 3), 7)
np.full((2, 4), w)
np.zeros_like(x, np.int16)
np.ones_like(x, shape=(2,))
np.full_like(i, 3)
np.full_like(x, 2.5, np.float32)
np.arange(5)
np.arange(1, 7, 2, np.float32)
np.arange(0.0, 1.0, 0.25)
np.linspace(0, 1)
np.linspace(1, 2, 5, False)
np.linspace(w, 2 * w, 3)
np.linspace(0, 1, 4, retstep=True)
np.logspace(0, 2, 5)
np.logspace(0, 3, 4, base=2.0)
np.geomspace(1, 1000, 4)
np.geomspace(2.0, 9.0, 5)
np.eye(3)
np.eye(3, 4, 1, np.int64)
np.identity(3)
np.identity(2, np.float32)
np.diag(w, 1)
np.diag(x, -1)
np.diag(b[0], -2)
np.diag(i[0])
np.diag(v[:0], 1)
np.isclose(x, 0.5, atol=0.5)
np.isclose(1, i, 0.5)
np.isclose(c, c + 1e-9)
np.diagflat(x[:2, :2], 1)
np.tri(3)
np.tri(3, 4, -1, np.int32)
np.tril(x, 1)
np.triu(t, -1)
np.tril_indices(3)
np.tril_indices(3, 1, 4)
np.triu_indices(4)
np.triu_indices(3, -1)
np.meshgrid(v, w)
np.meshgrid(v, w, a, indexing="ij", sparse=True)
np.indices((2, 3))
np.ogrid[0:2:3j, 0:4]
np.mgrid[0:2, 0:4:2]
np.indices((2, 3), sparse=True)
np.fromfunction(lambda r, s: r * 2 + s, (2, 3))
np.fromfunction(lambda r: r + 1, (4,), dtype=np.int64)
np.vander(k, 3, True)
np.reshape(x, -1)
np.transpose(t, (1, 0, 2))
np.swapaxes(t, 0, 2)
np.swapaxes(x, -1, 0)
np.moveaxis(t, 0, -1)
np.moveaxis(t, [0, 1], [1, 2])
np.rollaxis(t, 2)
np.rollaxis(t, 0, 3)
np.expand_dims(v, (0, 2))
np.squeeze(x[:1, None], 0)
np.broadcast_arrays(x, w)
np.broadcast_arrays(x, 1.0)
np.atleast_2d(1.0, w)
np.concatenate((x, y))
np.concatenate([x, y], 1)
np.concatenate([x, i], axis=None)
np.stack((x, y))
np.stack([w, w], -1)
np.vstack((w, x))
np.vstack([v, v])
np.hstack((w, v))
np.hstack([x, y])
np.dstack((v, v))
np.dstack([x, y])
np.column_stack((w, w))
np.column_stack([x, x[:, 0]])
np.block([[x, y], [y, x]])
np.block([w, v])
np.split(v, [2, 5])
np.array_split(x, 3, 1)
np.array_split(v, [1, 3, 3])
np.vsplit(x, [1])
np.hsplit(v, [3, 4])
np.dsplit(t, 2)
np.dsplit(t, [1, 2])
np.tile(w, (2, 3))
np.repeat(x, 3, 1)
np.repeat(q, [1, 0, 2])
np.rot90(x, 2)
np.rot90(t, 3, (1, 2))
np.flip(x, 1)
np.roll(x, 1, 0)
np.roll(x, (1, 2), (0, 1))
np.pad(x, 1)
np.pad(v, (2, 1), "edge")
np.append(x, y, 0)
np.append(v, [1.0, 2.0])
np.insert(v, 2, 9.0)
np.insert(x, 1, w, 0)
np.insert(v, [1, 3], [5.0, 6.0])
np.insert(x, 2, 7, 1)
np.delete(x, 1, 0)
np.delete(v, [0, 3])
np.delete(x, slice(1, 3), 1)
np.resize(w, (3, 5))
np.add([1, 2], [3.5, 4])
np.sqrt(2.0)
np.sin(x, out=np.empty((3, 4)))
np.add(x, y, np.zeros((3, 4)))
np.add(x, y, out=np.ones((3, 4)), where=b)
np.multiply(i, j, dtype=np.float64)
np.fix(n)
np.around(x, 2)
np.round(x * 100, -1)
np.round(i, -1)
np.clip(x, -0.5, 0.5)
np.clip(x, None, w)
np.clip(i, min=0, max=None)
np.ldexp(1.5, k)
np.ldexp(x, 3)
np.fmod(x, -0.7)
np.fmod(1.3, x)
np.fmod(i, -3)
np.heaviside(0.0, x)
np.add(x, [1, 2, 3, 4])
np.gcd(12, k)
np.lcm(k, 4)
np.unwrap(np.cumsum(x * 4, 1))
np.unwrap(v * 9, period=4)
np.i0(np.linspace(-30, 30, 41))
np.angle(c, deg=True)
np.isclose(n, n, equal_nan=True)
np.isclose(x, x + 1e-6, 1e-7, 1e-7)
np.array_equal(n, n, equal_nan=True)
np.all(b, 0)
np.any(x > 1, axis=1, keepdims=True)
np.all(b, where=x > 0)
np.sum(x, 0)
np.sum(x, axis=(0, 1), keepdims=True)
np.sum(i, 1, np.float64)
np.sum(x, where=b, initial=2.0)
np.prod(x, 1)
np.prod(i, where=b, initial=3)
np.mean(x, 0)
np.mean(x, 1, keepdims=True)
np.average(x, 1, w)
np.average(x, weights=p, returned=True)
np.std(x, 0, ddof=1)
np.var(x, 1, None, None, 1)
np.var(c)
np.min(x, 1)
np.max(x, 0, keepdims=True)
np.max(x, initial=9.0)
np.min(x, where=b, initial=5.0)
np.amin(x, 0)
np.amax(x, 1)
np.ptp(x, 1)
np.argmin(x, 1)
np.argmax(x, 0, keepdims=True)
np.median(x, 0)
np.median(x, axis=1, keepdims=True)
np.percentile(x, [10, 50, 99], 1)
np.percentile(x, 40, method="nearest")
np.quantile(x, (0.25, 0.5), axis=0)
np.cumsum(i, 1)
np.cumsum(x, axis=0, dtype=np.float64)
np.cumprod(x, 1)
np.diff(x, 2, 0)
np.diff(v, prepend=0, append=w)
np.diff(n[1], prepend=1.0)
np.average(n, 1, [1.0, 2.0, 0.5, 1.0])
np.average(n, 0, returned=True)
np.ediff1d(v, to_begin=0, to_end=[1, 2])
np.gradient(x)
np.gradient(x, 0.5, axis=1)
np.gradient(x, a[:3], a[:4], edge_order=2)
np.gradient(t, 2.0, edge_order=1, axis=(0, 2))
np.trapezoid(x, axis=0, dx=0.5)
np.trapezoid(x, a[:4])
np.nansum(n, 1)
np.nanprod(n[:, 1:], 0)
np.nanmean(n[:, :2], 1)
np.nanstd(n[:, :2], ddof=1)
np.nanstd(x, 0, keepdims=True)
np.nanvar(x, 1)
np.nanmin(n, 0)
np.nanmax(n, 1, keepdims=True)
np.nanargmin(n, 1)
np.nanargmax(n, 0)
np.nanmedian(n, 1)
np.nanpercentile(x, [10, 50], axis=1)
np.nanquantile(np.where(x > 1, np.nan, x), [0.2, 0.7], axis=0, keepdims=True)
np.nancumsum(n, 0)
np.nancumprod(n, 1)
np.nan_to_num(n, nan=5.0, posinf=1.0, neginf=-1.0)
np.count_nonzero(i, 1)
np.cov(x, y)
np.cov(x, rowvar=False, ddof=0)
np.cov(v)
np.cov(x, aweights=w * w, bias=True)
np.corrcoef(x, rowvar=False)
np.corrcoef(v, v * v)
np.histogram(v, 5, (-2, 2))
np.histogram(v, [-3.0, 0.0, 0.5, 3.0], density=True)
np.histogram(a, 4, weights=a)
np.histogram2d(v, v * v, [3, 4])
np.histogram2d(a, a, 3, [[0, 5], [1, 4]], True)
np.histogramdd(x, 3)
np.histogramdd(x[:, :2], [2, 3], weights=q)
np.bincount(k, minlength=9)
np.bincount(k, w[k])
np.digitize(v, np.flip(a))
np.digitize(a, a, True)
np.interp(v, a, a * a)
np.interp(x, a, v[:6], left=-1, right=9)
np.interp(v, a, a, period=3)
np.interp([1.0, np.nan], a[:1], v[:1])
np.convolve(w, v, "same")
np.convolve(v, w, "valid")
np.convolve(k, l)
np.correlate(v, w, "full")
np.correlate(w, v, "same")
np.correlate(c[0], c[1], "full")
np.sort(x, 0)
np.sort(x, axis=None)
np.argsort(x, 0)
np.argsort(i, axis=1, kind="stable")
np.lexsort((k, l))
np.lexsort(i)
np.sort(np.partition(v, 3)[:3])
np.searchsorted(a, 2.5)
np.searchsorted(a, v, "right")
np.where(b, x, y)
np.where(i, x, 0.0)
np.where(b)
np.unique(k, return_index=True, return_inverse=True, return_counts=True)
np.unique(n)
np.union1d(x, y)
np.intersect1d(k, l, return_indices=True)
np.setdiff1d(k, l)
np.isin(k, [1, 2], invert=True)
np.take(x, q, 0)
np.take(x, [[0, 1]], axis=1)
np.take(v, k * 3, mode="wrap")
np.take_along_axis(x, np.argsort(x, 1), 1)
np.take_along_axis(v, k, 0)
written(np.put, x, [0, 5], [9.0, 8.0])
written(np.put, v, k, 1.5)
written(np.put_along_axis, x, np.argmax(x, 1)[:, None], 7.0, 1)
written(np.put_along_axis, v, q, w[:3], 0)
written(np.place, x, b, [1.0, 2.0])
written(np.place, i, i > 0, [5])
written(np.putmask, x, b, y)
written(np.putmask, v, v > 0, [1.0, 2.0])
written(np.copyto, x, w)
written(np.copyto, x, 0, where=b)
written(np.fill_diagonal, x, 5)
written(np.fill_diagonal, np.tile(x, (3, 1)), [1, 2], True)
np.choose(q, [[1, 2, 3], [4, 5, 6], [7, 8, 9]])
np.choose(q + 2, (v[:3], v[1:4]), mode="wrap")
np.compress([True, False, True], x, 0)
np.select([x > 1, x > 0], [x, -x], 5.0)
np.select([b], [i])
np.piecewise(x, [x < 0, x >= 0], [lambda x: -x, 3.0])
np.piecewise(v, [v > 1], [1.0, lambda v: v * 2])
np.diag_indices(3)
np.diag_indices(2, 3)
np.diagonal(t, 1, 1, 2)
np.diagonal(t)
np.ravel_multi_index((q, q), (3, 4))
np.ravel_multi_index((k, l), (2, 3), mode="wrap")
np.unravel_index(k, (2, 3))
np.unravel_index(l, (2, 2, 2))
np.ix_(q, k)
np.ix_(b[0], q)
np.outer(x, w)
np.vdot(x, y)
np.inner(x, w)
np.matmul(t, w)
np.tensordot(t, x, 2)
np.tensordot(t, t, axes=([0, 2], [0, 2]))
np.einsum("ij,kj->ik", x, y)
np.einsum("ii", m)
np.kron(v, w)
np.cross(t[:, :, 0], t[:, :, 1])
np.trace(t, 1, 1, 2)
np.trace(x)
np.linalg.norm(x)
np.linalg.norm(x, axis=1)
np.linalg.norm(x, 1, (0, 1))
np.linalg.norm(v, np.inf)
np.linalg.norm(m, "nuc")
np.linalg.norm(t, axis=(0, 2), keepdims=True)
np.linalg.norm(i)
np.linalg.inv(s)
np.linalg.inv(m)
np.linalg.pinv(x)
np.linalg.pinv(x, 1e-3)
np.linalg.solve(m, w)
np.linalg.solve(s, m)
np.linalg.lstsq(m[:, :2], w)
np.linalg.lstsq(x, x[:, :2], None)
np.linalg.lstsq(x.T, m, 1e-9)
np.linalg.det(m)
np.linalg.det(np.stack([m, s]))
np.linalg.slogdet(m)
np.linalg.slogdet(-s)
np.linalg.cond(m)
np.linalg.cond(s, 1)
np.linalg.cond(s, "fro")
np.linalg.matrix_rank(m)
np.linalg.matrix_rank(x, 1e-9)
np.linalg.matrix_power(m, 3)
np.linalg.matrix_power(s, -2)
np.linalg.multi_dot([x, m, w])
np.linalg.multi_dot((x, m))
np.linalg.cholesky(s)
np.linalg.cholesky(np.stack([s, s + 1]))
np.abs(np.linalg.qr(m)[1])
np.abs(np.linalg.qr(x, "r"))
np.linalg.svd(m, compute_uv=False)
np.linalg.svd(x, False)[1]
np.linalg.svdvals(x)
np.linalg.svdvals(s)
np.sort(np.linalg.eig(s)[0].real)
np.sort(np.linalg.eig(m)[0].imag)
np.linalg.eigh(s)[0]
np.linalg.eigh(m, "U")[0]
np.sort(np.linalg.eigvals(m).real)
np.sort(np.linalg.eigvals(s).real)
np.linalg.eigvalsh(m)
np.linalg.eigvalsh(m, "U")
np.linalg.tensorsolve(np.reshape(m, (2, 2, 4)), np.reshape(w, (2, 2)))
np.linalg.tensorsolve(np.reshape(m, (4, 2, 2)), w)
np.linalg.tensorinv(np.reshape(m, (2, 2, 4)))
np.linalg.tensorinv(np.reshape(m, (4, 2, 2)), 1)
np.fft.fft(x)
np.fft.fft(i, 6, 0, "ortho")
np.fft.ifft(c)
np.fft.ifft(v, 5)
np.fft.rfft(x)
np.fft.rfft(v, 4)
np.fft.irfft(c)
np.fft.irfft(c, 5, 1)
np.fft.hfft(c)
np.fft.hfft(c, 7)
np.fft.ihfft(x)
np.fft.ihfft(v, norm="forward")
np.fft.fft2(x)
np.fft.fft2(t, (2, 2), (0, 1))
np.fft.ifft2(x)
np.fft.ifft2(c)
np.fft.rfft2(x)
np.fft.rfft2(t)
np.fft.irfft2(c)
np.fft.irfft2(c, (3, 5))
np.fft.fftn(t)
np.fft.fftn(t, axes=(0, 2))
np.fft.ifftn(t)
np.fft.ifftn(c, (2, 2))
np.fft.rfftn(t)
np.fft.rfftn(x, norm="ortho")
np.fft.irfftn(c)
np.fft.irfftn(t, axes=(1, 2))
np.fft.fftfreq(6)
np.fft.fftfreq(5, 0.1)
np.fft.rfftfreq(6, 0.5)
np.fft.rfftfreq(7)
np.fft.fftshift(x)
np.fft.fftshift(v)
np.fft.ifftshift(v)
np.fft.ifftshift(x, 1)
np.polyval([1, 2, 3], 2)
np.polyfit(v, v * v, 2)
np.polyfit(a, x[0, :1] * a + 1, 1)
np.polyfit(v, np.stack([v, v * v], 1), 2, w=p.ravel()[:7])
np.poly(m)
np.sort(np.roots(w).real)
~np.roots([0, 1, -3, 2, 0])[-1:]
np.sort(np.abs(np.roots([2, 0, -1.5])))
np.polyadd([1, 2], [3, 4, 5])
np.polymul([1, 2], w)
"""

CALLS: list[str] = [*_calls(_FLOATS), *_calls(_PAIRS), *_OTHERS.strip().splitlines()]

# The names that must be there, by namespace.
NAMES = {
    "": """
array asarray ascontiguousarray copy zeros ones empty full zeros_like ones_like empty_like full_like arange
linspace logspace geomspace eye identity diag diagflat tri tril triu tril_indices triu_indices meshgrid indices
fromfunction vander reshape ravel transpose swapaxes moveaxis rollaxis expand_dims squeeze broadcast_to
broadcast_arrays atleast_1d atleast_2d atleast_3d concatenate stack vstack hstack dstack column_stack split
array_split vsplit hsplit dsplit tile repeat flip fliplr flipud rot90 roll pad append insert delete resize block
add subtract multiply divide true_divide floor_divide mod remainder fmod divmod power float_power negative positive
reciprocal square sqrt cbrt absolute fabs sign heaviside copysign nextafter ldexp frexp modf exp exp2 expm1 log
log2 log10 log1p logaddexp logaddexp2 rint fix floor ceil trunc around round clip maximum minimum fmax fmin gcd lcm
sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh hypot deg2rad rad2deg degrees
radians unwrap sinc i0 real imag conj conjugate angle iscomplex isreal iscomplexobj isrealobj all any logical_and
logical_or logical_not logical_xor isnan isinf isfinite isneginf isposinf signbit isclose allclose array_equal
array_equiv equal not_equal less less_equal greater greater_equal bitwise_and bitwise_or bitwise_xor invert
left_shift right_shift sum prod mean average std var min max amin amax ptp argmin argmax median percentile quantile
cumsum cumprod diff ediff1d gradient trapezoid nansum nanprod nanmean nanstd nanvar nanmin nanmax nanargmin
nanargmax nanmedian nanpercentile nanquantile nancumsum nancumprod nan_to_num count_nonzero cov corrcoef histogram
histogram2d histogramdd bincount digitize interp correlate convolve sort argsort lexsort partition argpartition
searchsorted where nonzero flatnonzero argwhere extract unique union1d intersect1d setdiff1d setxor1d isin take
take_along_axis put put_along_axis place putmask copyto choose compress select piecewise fill_diagonal diag_indices
diagonal ravel_multi_index unravel_index ix_ dot vdot inner outer matmul tensordot einsum kron cross trace polyval
polyfit poly roots polyadd polymul
""",
    "linalg": """
norm inv pinv solve lstsq det slogdet cond matrix_rank matrix_power multi_dot cholesky qr svd svdvals eig eigh
eigvals eigvalsh tensorsolve tensorinv
""",
    "fft": """
fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn fftfreq rfftfreq fftshift ifftshift
""",
    "random": """
random integers uniform normal standard_normal standard_exponential exponential standard_gamma gamma beta binomial
negative_binomial poisson geometric lognormal laplace logistic gumbel chisquare f standard_t standard_cauchy pareto
weibull rayleigh triangular vonmises wald multinomial dirichlet multivariate_normal choice permutation permuted
shuffle bytes spawn hypergeometric logseries multivariate_hypergeometric noncentral_chisquare noncentral_f zipf
""",
}
