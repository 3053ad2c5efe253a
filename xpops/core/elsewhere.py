"""Names of other libraries, and what to write here: AttributeErrors name the right call."""

from __future__ import annotations

from typing import NoReturn

# NumPy's, cupy's and torch's names of functions, and the calls of xpops.
FUNCTIONS = {
    "absolute": "xp.abs(x)",
    "allclose": "xp.numpy.allclose(x, y)",
    "amax": "xp.max(x)",
    "amin": "xp.min(x)",
    "append": "xp.numpy.append(x, y)",
    "arccos": "xp.acos(x)",
    "arccosh": "xp.acosh(x)",
    "arcsin": "xp.asin(x)",
    "arcsinh": "xp.asinh(x)",
    "arctan": "xp.atan(x)",
    "arctan2": "xp.atan2(y, x)",
    "arctanh": "xp.atanh(x)",
    "argwhere": "xp.numpy.argwhere(x)",
    "around": "xp.round(x)",
    "array": "xp.asarray(x, copy=True)",
    "array_equal": "xp.numpy.array_equal(x, y)",
    "as_tensor": "xp.asarray(x)",
    "ascontiguousarray": "xp.asarray(x, copy=True)",
    "average": "xp.numpy.average(x)",
    "bincount": "xp.nn.bincount(x)",
    "bitwise_not": "xp.bitwise_invert(x)",
    "bmm": "xp.matmul(x, y)",
    "cat": "xp.concat((x, y), axis=0)",
    "cholesky": "xp.linalg.cholesky(x)",
    "clamp": "xp.clip(x, low, high)",
    "clone": "xp.asarray(x, copy=True)",
    "column_stack": "xp.numpy.column_stack((x, y))",
    "concatenate": "xp.concat((x, y), axis=0)",
    "conjugate": "xp.conj(x)",
    "copy": "xp.asarray(x, copy=True)",
    "cross": "xp.linalg.cross(x, y)",
    "cumprod": "xp.cumulative_prod(x, axis=0)",
    "cumsum": "xp.cumulative_sum(x, axis=0)",
    "det": "xp.linalg.det(x)",
    "diag": "xp.numpy.diag(x)",
    "diagonal": "xp.linalg.diagonal(x), of the last two axes",
    "dot": "xp.matmul(x, y)",
    "eq": "xp.equal(x, y)",
    "fabs": "xp.abs(x)",
    "fix": "xp.trunc(x)",
    "flatnonzero": "xp.numpy.flatnonzero(x)",
    "fliplr": "xp.flip(x, axis=1)",
    "flipud": "xp.flip(x, axis=0)",
    "from_numpy": "xp.asarray(x)",
    "gather": "xp.take_along_axis(x, indices, axis=axis)",
    "ge": "xp.greater_equal(x, y)",
    "gelu": "xp.nn.gelu(x)",
    "gt": "xp.greater(x, y)",
    "histogram": "xp.nn.histogram(x, bins, (low, high))",
    "hsplit": "xp.numpy.hsplit(x, [start, stop])",
    "hstack": "xp.numpy.hstack((x, y))",
    "identity": "xp.eye(n)",
    "index_add": "xp.nn.index_add(x, indices, y)",
    "index_select": "xp.take(x, indices, axis=axis)",
    "inner": "xp.numpy.inner(x, y)",
    "inv": "xp.linalg.inv(x)",
    "invert": "xp.bitwise_invert(x)",
    "is_tensor": "isinstance(x, xp.Array)",
    "isclose": "xp.numpy.isclose(x, y)",
    "le": "xp.less_equal(x, y)",
    "left_shift": "xp.bitwise_left_shift(x, y)",
    "log_softmax": "xp.nn.log_softmax(x)",
    "lt": "xp.less(x, y)",
    "masked_fill": "xp.where(mask, value, x)",
    "masked_select": "x[mask]",
    "mm": "xp.matmul(x, y)",
    "mod": "xp.remainder(x, y)",
    "movedim": "xp.moveaxis(x, source, destination)",
    "mul": "xp.multiply(x, y)",
    "mv": "xp.matmul(x, y)",
    "ne": "xp.not_equal(x, y)",
    "neg": "xp.negative(x)",
    "norm": "xp.linalg.vector_norm(x), or xp.numpy.linalg.norm(x)",
    "numel": "x.size",
    "outer": "xp.linalg.outer(x, y) of vectors",
    "percentile": "xp.numpy.percentile(x, percent)",
    "permute": "xp.permute_dims(x, axes)",
    "power": "xp.pow(x, y)",
    "qr": "xp.linalg.qr(x)",
    "ravel": "xp.reshape(x, (-1,))",
    "relu": "xp.nn.relu(x)",
    "repeat_interleave": "xp.repeat(x, repeats)",
    "right_shift": "xp.bitwise_right_shift(x, y)",
    "rint": "xp.round(x)",
    "row_stack": "xp.concat((x, y), axis=0), or xp.stack((x, y)) of vectors",
    "rsqrt": "1 / xp.sqrt(x)",
    "scatter_add": "xp.nn.scatter_add(x, indices, y)",
    "scatter_reduce": 'xp.nn.scatter_reduce(x, indices, y, "prod")',
    "sigmoid": "xp.nn.sigmoid(x)",
    "softmax": "xp.nn.softmax(x)",
    "solve": "xp.linalg.solve(x, y)",
    "split": "xp.numpy.split(x, [start, stop])",
    "sub": "xp.subtract(x, y)",
    "svd": "xp.linalg.svd(x)",
    "swapaxes": "xp.numpy.swapaxes(x, axis1, axis2)",
    "take_along_dim": "xp.take_along_axis(x, indices, axis=axis)",
    "tensor": "xp.asarray(x)",
    "topk": "xp.nn.topk(x, k)",
    "trace": "xp.linalg.trace(x), of the last two axes",
    "transpose": "xp.permute_dims(x, axes)",
    "true_divide": "xp.divide(x, y)",
    "unbind": "xp.unstack(x)",
    "unique": "xp.unique_values(x)",
    "unsqueeze": "xp.expand_dims(x, axis=axis)",
    "vdot": "xp.numpy.vdot(x, y)",
    "vstack": "xp.numpy.vstack((x, y))",
}
# Names that only arrays have elsewhere; those above are theirs, too.
METHODS = {
    "contiguous": "xp.asarray(x, copy=True)",
    "dim": "x.ndim",
    "double": "x.astype(xp.float64)",
    "expand": "xp.broadcast_to(x, shape)",
    "float": "x.astype(xp.float32)",
    "half": "x.astype(xp.float16)",
    "int": "x.astype(xp.int32)",
    "long": "x.astype(xp.int64)",
    "sort": "xp.sort(x)",
}
LINALG = {
    "cond": "xp.numpy.linalg.cond(x)",
    "lstsq": "xp.numpy.linalg.lstsq(x, y)",
    "multi_dot": "xp.numpy.linalg.multi_dot((x, y))",
    "norm": "xp.linalg.vector_norm(x), xp.linalg.matrix_norm(x), or xp.numpy.linalg.norm(x)",
}
FFT = {
    "fft2": "xp.fft.fftn(x, axes=(-2, -1))",
    "ifft2": "xp.fft.ifftn(x, axes=(-2, -1))",
    "irfft2": "xp.fft.irfftn(x, axes=(-2, -1))",
    "rfft2": "xp.fft.rfftn(x, axes=(-2, -1))",
}

# Other names that only `xpops.numpy` has.
NUMPY = (
    "angle", "argpartition", "array_equiv", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "block",
    "bool_", "cbrt", "choose", "complexfloating", "compress", "convolve", "copyto", "corrcoef", "correlate",
    "cov", "deg2rad", "degrees", "delete", "diag_indices", "diagflat", "digitize", "divmod", "double", "dsplit",
    "dstack", "dtype", "ediff1d", "euler_gamma", "exp2", "extract", "fill_diagonal", "float_power", "floating",
    "fmax", "fmin", "fmod", "frexp", "fromfunction", "gcd", "generic", "geomspace", "gradient", "heaviside",
    "histogram2d", "histogramdd", "i0", "indices", "inexact", "insert", "int_", "integer", "interp",
    "intersect1d", "intp", "iscomplex", "iscomplexobj", "isneginf", "isposinf", "isreal", "isrealobj",
    "isscalar", "issubdtype", "ix_", "kron", "lcm", "ldexp", "lexsort", "logaddexp2", "logspace", "mgrid",
    "modf", "nan_to_num", "nanpercentile", "nanquantile", "ndarray", "number", "ogrid", "partition",
    "piecewise", "place", "poly", "polyadd", "polyfit", "polymul", "polyval", "ptp", "put", "put_along_axis",
    "putmask", "rad2deg", "radians", "ravel_multi_index", "resize", "rollaxis", "roots", "rot90", "select",
    "setdiff1d", "setxor1d", "signedinteger", "sinc", "single", "sliding_window_view", "trapezoid", "tri",
    "tril_indices",
    "triu_indices", "uint", "union1d", "unravel_index", "unsignedinteger", "unwrap", "vander", "vsplit",
)  # fmt: skip

# cupy's names beside NumPy's, for `xpops.numpy`, and NumPy's functions of one global generator.
CUPY = {
    "ElementwiseKernel": "xp.kernel.ElementwiseKernel",
    "RawKernel": "xp.kernel.RawKernel",
    "RawModule": "xp.kernel.RawModule",
    "ReductionKernel": "xp.kernel.ReductionKernel",
    "asnumpy": "x.to_numpy()",
    "cuda": "xp.stream, or xp.set_default_device",
    "fuse": "xp.fuse",
    "get_array_module": "x.__array_namespace__()",
    "testing": "xp.testing",
}
RANDOM = {
    "choice": "xp.numpy.random.default_rng().choice(x, shape)",
    "normal": "xp.numpy.random.default_rng().normal(low, high, shape)",
    "permutation": "xp.numpy.random.default_rng().permutation(x)",
    "rand": "xp.numpy.random.default_rng().random(shape)",
    "randint": "xp.numpy.random.default_rng().integers(n, size=shape)",
    "randn": "xp.numpy.random.default_rng().standard_normal(shape)",
    "random": "xp.numpy.random.default_rng().random(shape)",
    "seed": "xp.numpy.random.default_rng(n)",
    "shuffle": "xp.numpy.random.default_rng().shuffle(x)",
    "uniform": "xp.numpy.random.default_rng().uniform(low, high, shape)",
}


class Elsewhere:
    """A method that arrays of other libraries have: reading it is an AttributeError that names the call of xpops.

    It costs other attributes nothing, as a ``__getattr__`` would.
    """

    def __init__(self, name: str, call: str) -> None:
        self._name, self._call = name, call

    def __get__(self, x: object, cls: type) -> NoReturn:
        raise AttributeError(f"{cls.__name__!r} object has no attribute {self._name!r}; use {self._call}", obj=x)


def refuse(package: str, name: str, calls: dict[str, str]) -> NoReturn:
    """Raise AttributeError for a name that a package lacks; it names the call of xpops if there is one."""
    call = calls.get(name, f"xp.numpy.{name}" if package == "xpops" and name in NUMPY else None)
    hint = f"; use {call}" if call else ""
    raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}", name=name)
