"""Operators for arrays of any framework, and a complete Python array API namespace (standard 2025.12).

>>> xp.add(xp.asarray([1, 2]), 10)
Array([11, 12], dtype=int64, device='cpu')
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from xpops import frameworks
from xpops.api.constants import e, inf, nan, newaxis, pi
from xpops.api.creation.conversion import asarray, from_dlpack
from xpops.api.creation.filling import empty, empty_like, full, full_like, ones, ones_like, zeros, zeros_like
from xpops.api.creation.matrices import eye, tril, triu
from xpops.api.creation.ranges import arange, linspace, meshgrid
from xpops.api.data_types import astype, can_cast, finfo, iinfo, isdtype, result_type
from xpops.api.devices import default_device, set_default_device
from xpops.api.elementwise.arithmetic import add, divide, floor_divide, multiply, remainder, subtract
from xpops.api.elementwise.bitwise import (
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
)
from xpops.api.elementwise.comparison import equal, greater, greater_equal, less, less_equal, not_equal
from xpops.api.elementwise.complex_numbers import conj, imag, real
from xpops.api.elementwise.exponential import exp, expm1, log, log1p, log2, log10, logaddexp
from xpops.api.elementwise.floating_point import copysign, isfinite, isinf, isnan, nextafter, signbit
from xpops.api.elementwise.hyperbolic import acosh, asinh, atanh, cosh, sinh, tanh
from xpops.api.elementwise.limits import clip, maximum, minimum
from xpops.api.elementwise.logical import logical_and, logical_not, logical_or, logical_xor
from xpops.api.elementwise.powers import hypot, pow, reciprocal, sqrt, square
from xpops.api.elementwise.rounding import ceil, floor, round, trunc
from xpops.api.elementwise.signs import abs, negative, positive, sign
from xpops.api.elementwise.trigonometric import acos, asin, atan, atan2, cos, sin, tan
from xpops.api.fusion import fuse
from xpops.api.graph import graph
from xpops.api.indexing import take, take_along_axis
from xpops.api.inspection import __array_namespace_info__, get_include
from xpops.api.linear_algebra import einsum, matmul, tensordot, vecdot
from xpops.api.manipulation.axes import flip, matrix_transpose, moveaxis, permute_dims, unstack
from xpops.api.manipulation.joining import concat, stack
from xpops.api.manipulation.padding import pad
from xpops.api.manipulation.repetition import repeat, roll, tile
from xpops.api.manipulation.shapes import (
    broadcast_arrays,
    broadcast_shapes,
    broadcast_to,
    expand_dims,
    reshape,
    squeeze,
)
from xpops.api.searching import argmax, argmin, count_nonzero, nonzero, searchsorted, where
from xpops.api.sets import isin, unique_all, unique_counts, unique_inverse, unique_values
from xpops.api.sorting import argsort, sort
from xpops.api.starting import start as _start
from xpops.api.statistics.extremes import max, min
from xpops.api.statistics.moments import mean, std, var
from xpops.api.statistics.nan_extremes import nanargmax, nanargmin, nanmax, nanmin
from xpops.api.statistics.nan_moments import nanmean, nanstd, nanvar
from xpops.api.statistics.nan_sums import nancumprod, nancumsum, nanprod, nansum
from xpops.api.statistics.order_statistics import median, nanmedian, quantile
from xpops.api.statistics.sums import cumulative_prod, cumulative_sum, prod, sum
from xpops.api.utility import all, any, diff
from xpops.arrays import Array, allow_host_copies
from xpops.core.devices import Device
from xpops.core.dtypes import (
    bfloat16,
    bool,
    complex64,
    complex128,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from xpops.core.errors import CompileError, DeviceError, HostCopyError, OutOfMemoryError
from xpops.core.lazy import import_later as _import_later
from xpops.engine.cuda.runtime.streams import stream

if _TYPE_CHECKING:
    from xpops import fft, kernel, linalg, nn, numpy, random, special, testing

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

__all__ = [
    "Array",
    "CompileError",
    "Device",
    "DeviceError",
    "HostCopyError",
    "OutOfMemoryError",
    "__array_api_version__",
    "__array_namespace_info__",
    "__version__",
    "abs",
    "acos",
    "acosh",
    "add",
    "all",
    "allow_host_copies",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "bfloat16",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bool",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "ceil",
    "clip",
    "complex64",
    "complex128",
    "concat",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "default_device",
    "diff",
    "divide",
    "e",
    "einsum",
    "empty",
    "empty_like",
    "equal",
    "exp",
    "expand_dims",
    "expm1",
    "eye",
    "fft",
    "finfo",
    "flip",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "frameworks",
    "from_dlpack",
    "full",
    "full_like",
    "fuse",
    "get_include",
    "graph",
    "greater",
    "greater_equal",
    "hypot",
    "iinfo",
    "imag",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "isdtype",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "kernel",
    "less",
    "less_equal",
    "linalg",
    "linspace",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "min",
    "minimum",
    "moveaxis",
    "multiply",
    "nan",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
    "negative",
    "newaxis",
    "nextafter",
    "nn",
    "nonzero",
    "not_equal",
    "numpy",
    "ones",
    "ones_like",
    "pad",
    "permute_dims",
    "pi",
    "positive",
    "pow",
    "prod",
    "quantile",
    "random",
    "real",
    "reciprocal",
    "remainder",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "searchsorted",
    "set_default_device",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sort",
    "special",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "stream",
    "subtract",
    "sum",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "testing",
    "tile",
    "tril",
    "triu",
    "trunc",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vecdot",
    "where",
    "zeros",
    "zeros_like",
]

_start()
if not _TYPE_CHECKING:  # a type checker would take any name for an attribute
    __getattr__, __dir__ = _import_later(__name__, __all__)
