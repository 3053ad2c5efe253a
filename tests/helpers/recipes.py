"""Calls of every public function. Both engines must give the same results.

A recipe takes a random generator and returns arguments. Tests convert its ndarrays to arrays on a device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.helpers.rows import STANDARD, parameters
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import OPERATORS
from xpops.ops.reduction import REDUCTIONS

NDArray = np.ndarray[Any, Any]
Random = np.random.Generator
Recipe = Callable[[Random], tuple[Any, ...]]

SHAPES = ((), (0,), (1,), (7,), (33,), (3, 5), (4, 1, 6), (2, 0, 3), (17, 40), (2, 3, 4, 5))
SORTED = (dt.bool, dt.int8, dt.uint16, dt.int64, dt.float16, dt.bfloat16, dt.float32, dt.float64)
NUMBERS = (dt.int8, dt.uint8, dt.int32, dt.uint64, dt.float16, dt.bfloat16, dt.float32, dt.float64, *dt.COMPLEX_FLOATS)
ANY = (dt.bool, *NUMBERS)
FLOATS = (dt.float32, dt.float64, *dt.COMPLEX_FLOATS)
REALS = (dt.float32, dt.float64)


def pick(random: Random, choices: Any) -> Any:
    return choices[int(random.integers(len(choices)))]


def array(random: Random, dtypes: tuple[DType, ...] = ANY, shape: tuple[int, ...] | None = None) -> NDArray:
    """Small numbers, with fractions if the dtype has them. Some arrays are transposed, some have a step of 2."""
    shape = pick(random, SHAPES) if shape is None else shape
    dtype = pick(random, dtypes)
    if len(shape) > 1 and random.random() < 0.3:
        return np.swapaxes(_dense(random, dtype, (*shape[:-2], shape[-1], shape[-2])), -1, -2)
    if shape and random.random() < 0.3:
        return _dense(random, dtype, (*shape[:-1], 2 * shape[-1]))[..., ::-2]
    return _dense(random, dtype, shape)


def _dense(random: Random, dtype: DType, shape: tuple[int, ...]) -> NDArray:
    if dtype == dt.bool:
        return np.asarray(random.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(random.integers(0 if dtype.kind == "u" else -9, 10, shape)).astype(dtype)
    found = np.asarray(random.normal(size=shape))
    if dtype.kind == "c":
        return np.asarray(found + 1j * random.normal(size=shape)).astype(dtype)
    return found.astype(dtype)


def axis_of(random: Random, x: NDArray) -> int | None:
    return int(random.integers(-x.ndim, x.ndim)) if x.ndim and random.random() < 0.8 else None


def elementwise(name: str) -> Recipe:
    op = OPERATORS[name]
    dtypes = tuple(d for d in ANY if d in dt.CATEGORIES[op.accepts])

    def recipe(random: Random) -> tuple[Any, ...]:
        x = array(random, dtypes)
        others = [array(random, (x.dtype,), x.shape) for _ in range(op.arity - 1)]
        words = op.domain.split()[1:]
        others = [_fitted(other, word) for other, word in zip(others, words, strict=True)]
        return (x, *others)

    return recipe


def _fitted(x: NDArray, word: str) -> NDArray:
    """An operand limited to a domain. Outside of it results are NaN, or differ between engines."""
    if word == "shift":
        return np.abs(x) % 7
    if word == "nonzero":
        return np.where(x == 0, 1, x).astype(x.dtype)
    return np.abs(x) % 4 if word == "unit" and x.dtype.kind in "iu" else x


def activation(name: str) -> Recipe:
    """A recipe for one of the rows of an activation, with parameters that are not the defaults."""
    rows = [op for op in ACTIVATIONS.values() if op.public == name]

    def recipe(random: Random) -> tuple[Any, ...]:
        op = pick(random, rows)
        named = dict(zip(op.arguments[1:], parameters(op, dt.float64)[-1], strict=True))
        return (array(random, dt.REAL_FLOATS), {**op.options, **named})

    return recipe


def reduction(dtypes: tuple[DType, ...] = ANY, **options: Any) -> Recipe:
    def recipe(random: Random) -> tuple[Any, ...]:
        x = array(random, dtypes, pick(random, [shape for shape in SHAPES if 0 not in shape]))
        return (x, {"axis": axis_of(random, x), **options})

    return recipe


def along(dtypes: tuple[DType, ...], **options: Any) -> Recipe:
    """A recipe: an array, and one of its axes."""

    def recipe(random: Random) -> tuple[Any, ...]:
        x = array(random, dtypes, pick(random, [shape for shape in SHAPES if shape]))
        return (x, {"axis": int(random.integers(-x.ndim, x.ndim)), **options})

    return recipe


def missing(recipe: Recipe) -> Recipe:
    """The same recipe, with some NaNs in the first argument."""

    def holes(random: Random) -> tuple[Any, ...]:
        x, *rest = recipe(random)
        x = x.copy()
        x[random.random(x.shape) < 0.2] = np.nan
        return (x, *rest)

    return holes


def matrix(random: Random, square: bool = True, dtypes: tuple[DType, ...] = FLOATS, kind: str = "any") -> NDArray:
    """Well-conditioned matrices, in stacks."""
    stack, n = pick(random, [(), (3,), (2, 2)]), int(random.integers(1, 9))
    x = array(random, dtypes, (*stack, n, n if square else int(random.integers(1, 9))))
    if kind != "any":
        x = x @ np.conj(np.swapaxes(x, -1, -2))
    return x + (4 * np.eye(n, dtype=x.dtype) if square else 0)


def flat(random: Random, dtypes: tuple[DType, ...] = SORTED) -> NDArray:
    return array(random, dtypes, (int(random.integers(1, 50)),))


def with_indices(random: Random) -> tuple[Any, ...]:
    x = array(random, ANY, (6, 7))
    axis = int(random.integers(2))
    return (x, random.integers(-x.shape[axis], x.shape[axis], 11), {"axis": axis})


def scattered(random: Random) -> tuple[Any, ...]:
    x = array(random, (*REALS, dt.int8, dt.uint32), (9, 5))
    options = {"deterministic": bool(random.integers(2))}
    return (x, random.integers(0, 9, (30, 4)), array(random, (x.dtype,), (31, 5)), options)


def shaped(*shape: int, dtypes: tuple[DType, ...] = ANY) -> Recipe:
    return lambda random: (array(random, dtypes, shape),)


def pair(*shapes: tuple[int, ...], dtypes: tuple[DType, ...] = NUMBERS, **options: Any) -> Recipe:
    def recipe(random: Random) -> tuple[Any, ...]:
        dtype = pick(random, dtypes)
        return (*(array(random, (dtype,), shape) for shape in shapes), options)

    return recipe


def transform(shape: tuple[int, ...], dtypes: tuple[DType, ...], **options: Any) -> Recipe:
    return lambda random: (
        array(random, dtypes, shape),
        {"norm": pick(random, ("backward", "ortho", "forward")), **options},
    )


def _several(random: Random) -> tuple[Any, ...]:
    dtype = pick(random, ANY)
    return ([array(random, (dtype,), (3, 4)) for _ in range(3)], {"axis": int(random.integers(2))})


def _numbers(random: Random) -> tuple[Any, ...]:
    return (array(random, SORTED, (3, 4, 5)),)


MAIN: dict[str, Recipe] = {
    **{op.name: elementwise(op.name) for op in STANDARD},
    **{name: reduction(tuple(d for d in ANY if d in dt.CATEGORIES[op.accepts])) for name, op in REDUCTIONS.items()},
    **{name: reduction(REALS) for name in ("std", "var", "median")},
    **{name: missing(reduction(REALS)) for name in ("nansum", "nanprod", "nanmean", "nanstd", "nanvar", "nanmedian")},
    **{name: missing(reduction(REALS)) for name in ("nanmin", "nanmax")},
    **{name: reduction(REALS) for name in ("nanargmin", "nanargmax")},
    **{name: missing(along(REALS)) for name in ("nancumsum", "nancumprod")},
    "quantile": lambda random: (*reduction(REALS)(random)[:1], pick(random, (0.0, 0.3, 0.5, 1.0))),
    "cumulative_sum": along(NUMBERS),
    "cumulative_prod": along(NUMBERS, include_initial=True),
    "sort": along(SORTED),
    "argsort": along(SORTED, descending=True),
    "searchsorted": lambda random: (np.sort(flat(random, REALS)), array(random, REALS)),
    "nonzero": shaped(5, 6),
    "isin": lambda random: (array(random, (dt.int8,)), array(random, (dt.int8,))),
    **{name: (lambda random: (flat(random),)) for name in ("unique_all", "unique_counts", "unique_inverse")},
    "unique_values": lambda random: (flat(random),),
    "diff": along(NUMBERS),
    "take": with_indices,
    "take_along_axis": lambda random: (array(random, ANY, (6, 7)), random.integers(-6, 6, (3, 7)), {"axis": 0}),
    "concat": _several,
    "stack": _several,
    "repeat": lambda random: (array(random, ANY, (3, 4)), random.integers(0, 4, 4), {"axis": 1}),
    "roll": lambda random: (array(random, ANY, (3, 4)), (5, -1), {"axis": (0, 1)}),
    "tile": lambda random: (array(random, ANY, (3, 4)), (2, 1, 3)),
    "pad": lambda random: (array(random, NUMBERS, (3, 4)), ((1, 2), (0, 3))),
    "flip": along(ANY),
    "reshape": lambda random: (array(random, ANY, (4, 6)), (3, 8)),
    "permute_dims": lambda random: (array(random, ANY, (2, 3, 4)), (2, 0, 1)),
    "moveaxis": lambda random: (array(random, ANY, (2, 3, 4)), 0, -1),
    "matrix_transpose": lambda random: (array(random, ANY, (2, 3, 4)),),
    "expand_dims": lambda random: (array(random), {"axis": 0}),
    "squeeze": lambda random: (array(random, ANY, (4, 1, 6)), {"axis": 1}),
    "unstack": lambda random: (array(random, ANY, (3, 4)),),
    "broadcast_to": lambda random: (array(random, ANY, (3, 1)), (2, 3, 5)),
    "broadcast_arrays": lambda random: (array(random, ANY, (3, 1)), array(random, ANY, (4,))),
    "meshgrid": lambda random: (array(random, REALS, (3,)), array(random, REALS, (4,))),
    "tril": lambda random: (array(random, ANY, (2, 5, 4)), {"k": int(random.integers(-3, 4))}),
    "triu": lambda random: (array(random, ANY, (2, 5, 4)), {"k": int(random.integers(-3, 4))}),
    "where": lambda random: (array(random, (dt.bool,), (3, 4)), *pair((3, 4), (4,))(random)[:2]),
    "clip": lambda random: (array(random, REALS), -0.5, 0.5),
    "astype": lambda random: (array(random, (dt.int8, dt.float32)), pick(random, (dt.float64, dt.int16, dt.float16))),
    "matmul": pair((3, 5, 17), (17, 6)),
    "vecdot": pair((3, 9), (9,)),
    "tensordot": pair((3, 4, 5), (4, 5, 2)),
    "einsum": lambda random: ("ij,kj->ik", *pair((3, 5), (4, 5))(random)[:2]),
    "ones_like": lambda random: (array(random),),
    "zeros_like": lambda random: (array(random),),
    "full_like": lambda random: (array(random, NUMBERS), 3),
}
# Creation functions, which take `device=`.
CREATION: dict[str, Recipe] = {
    "arange": lambda random: (int(random.integers(20)), {"dtype": pick(random, (dt.int16, dt.float32))}),
    "eye": lambda random: (4, 5, {"k": int(random.integers(-3, 4)), "dtype": pick(random, ANY)}),
    "full": lambda random: ((2, 3), 2.5),
    "linspace": lambda random: (0.0, float(random.normal()), 9, {"dtype": pick(random, REALS)}),
    "ones": lambda random: ((2, 3), {"dtype": pick(random, ANY)}),
    "zeros": lambda random: ((2, 3), {"dtype": pick(random, ANY)}),
    "asarray": lambda random: (array(random).tolist(),),
}
SQUARE: Recipe = lambda random: (matrix(random),)  # noqa: E731
LINALG: dict[str, Recipe] = {
    **dict.fromkeys(("det", "inv", "slogdet", "matrix_norm", "trace", "diagonal", "matrix_transpose"), SQUARE),
    "cholesky": lambda random: (matrix(random, kind="definite"),),
    **{name: (lambda random: (matrix(random, kind="definite"),)) for name in ("eigvalsh",)},
    "svdvals": lambda random: (matrix(random, square=False),),
    "pinv": lambda random: (matrix(random),),
    "matrix_rank": SQUARE,
    "matrix_power": lambda random: (matrix(random), int(random.integers(-2, 4))),
    "solve": lambda random: (x := matrix(random), array(random, (x.dtype,), (*x.shape[:-1], 3))),
    "matmul": MAIN["matmul"],
    "tensordot": MAIN["tensordot"],
    "vecdot": MAIN["vecdot"],
    "outer": pair((5,), (4,)),
    "cross": pair((4, 3), (4, 3)),
    "vector_norm": reduction(FLOATS),
}
SPECTRUM, SIGNAL = dt.COMPLEX_FLOATS, REALS
FFT: dict[str, Recipe] = {
    **{name: transform((3, 15), SPECTRUM) for name in ("fft", "ifft", "hfft", "irfft")},
    **{name: transform((4, 6, 5), SPECTRUM) for name in ("fftn", "ifftn", "irfftn")},
    **{name: transform((3, 15), SIGNAL) for name in ("rfft", "ihfft")},
    "rfftn": transform((4, 6, 5), SIGNAL),
    "fftshift": lambda random: (array(random, FLOATS, (4, 5)),),
    "ifftshift": lambda random: (array(random, FLOATS, (4, 5)),),
}
FFT_CREATION: dict[str, Recipe] = {
    "fftfreq": lambda random: (int(random.integers(1, 20)), {"d": 0.5}),
    "rfftfreq": lambda random: (int(random.integers(1, 20)), {"d": 0.5}),
}
NN: dict[str, Recipe] = {
    **{op.public: activation(op.public) for op in ACTIVATIONS.values()},
    **{name: along(dt.REAL_FLOATS) for name in ("softmax", "log_softmax")},
    "bincount": lambda random: (random.integers(0, 20, 50),),
    "histogram": lambda random: (array(random, SORTED[1:]), pick(random, (1, 7, [-3, 0, 0.5, 2])), (-4, 4)),
    "scatter_add": scattered,
    "scatter_reduce": lambda random: (*scattered(random)[:3], pick(random, ("prod", "min", "max", "mean"))),
    "index_add": lambda random: (
        x := array(random, REALS, (9, 5)),
        random.integers(0, 9, 30),
        array(random, (x.dtype,), (30, 5)),
        {"deterministic": bool(random.integers(2))},
    ),
    "embedding_backward": lambda random: (array(random, REALS, (30, 8)), random.integers(0, 6, 30), 6),
    "discounted_cumsum": lambda random: (array(random, REALS, (3, 40)), 0.9, {"axis": 1}),
    "upsample_nearest2d": lambda random: (
        array(random, ANY, (2, 3, 4, 5)),
        {"scale": pick(random, (2, 0.7, (3, 1.5)))},
    ),
    "upsample_nearest2d_backward": lambda random: (array(random, REALS, (2, 3, 8, 10)), (4, 5)),
    "topk": lambda random: (array(random, REALS, (3, 40)), 5, {"axis": 1}),
}
# Decompositions are unique only up to phases: tests/engine/test_linalg.py multiplies their factors instead.
UP_TO_PHASE = {"eig", "eigh", "eigvals", "qr", "svd"}
# Functions without arrays of a device, or whose values are not specified.
NO_VALUES = {
    "allow_host_copies",
    "fuse",
    "get_include",
    "graph",
    "broadcast_shapes",
    "can_cast",
    "default_device",
    "empty",
    "empty_like",
    "finfo",
    "from_dlpack",
    "iinfo",
    "isdtype",
    "result_type",
    "set_default_device",
    "stream",
}
