"""Random expressions over random layouts, and the error that a reduction of one may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from conformance.references import reduced, terms
from xpops.ops import reduction as rows

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(12)
NAMES = "xyz"
# Not argmax and argmin, whose axis argument differs; nor products, which overflow.
REDUCTIONS = tuple(name for name, op in rows.REDUCTIONS.items() if not op.positional and op.cpu is not np.multiply)
# The dtypes of an expression have one kind, so that NumPy promotes as we do.
KINDS = (("f4", "f8"), ("f2", "f4"), ("i1", "i4"))
SIDES = ((7, 33), (8, 32), (3, 130), (130, 3), (300, 64))
UNARY, BINARY = ("negative", "square", "abs"), ("add", "maximum", "multiply", "subtract")
VIEWS: tuple[Callable[[NDArray], NDArray], ...] = (
    lambda x: x,
    np.asfortranarray,
    lambda x: np.ascontiguousarray(np.flip(x))[(slice(None, None, -1),) * x.ndim],
    lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    lambda x: np.concatenate([x[..., :1], x], axis=-1)[..., 1:] if x.ndim else x,
)


def _has_operand(tree: Any) -> bool:
    return tree in NAMES if isinstance(tree, str) else isinstance(tree, tuple) and any(map(_has_operand, tree[1:]))


TREES = st.recursive(
    st.sampled_from([*NAMES, 3]),
    lambda inner: (
        st.tuples(st.sampled_from(UNARY), inner.filter(_has_operand))
        | st.tuples(st.sampled_from(BINARY), inner.filter(_has_operand), inner)
    ),
    max_leaves=6,
).filter(_has_operand)


def evaluate(tree: Any, values: dict[str, Any], module: Any) -> Any:
    """The value of an expression, computed with the functions of a module."""
    if not isinstance(tree, tuple):
        return values.get(tree, tree)
    return getattr(module, tree[0])(*(evaluate(each, values, module) for each in tree[1:]))


@st.composite
def operands(draw: st.DrawFn) -> dict[str, NDArray]:
    """Arrays of small whole numbers, with shapes that broadcast and any strides."""
    rows, columns = draw(st.sampled_from(SIDES))
    kinds, whole = draw(st.sampled_from(KINDS)), [(rows, columns), (2, rows, columns)]
    shapes = st.sampled_from([*whole, (columns,), (rows, 1), (1, columns), (), (2, 1, 1)])
    found = {}
    for name in NAMES:
        x = RANDOM.integers(-3, 4, draw(shapes)).astype(draw(st.sampled_from(kinds)))
        found[name] = draw(st.sampled_from(VIEWS))(x)
    return found


def axes_of(ndim: int) -> st.SearchStrategy[Any]:
    """A random `axis` argument of a reduction."""
    return st.sampled_from([None, *range(-ndim, ndim), tuple(range(1, ndim)), tuple(range(ndim - 1))])


def assert_reduces(got: NDArray, name: str, value: NDArray, axis: Any, keepdims: bool) -> None:
    """Raise AssertionError if `got` differs from the reduction of `value` by more than rounding errors."""
    wide = value.astype(np.float64) if value.dtype.kind == "f" else value
    with np.errstate(all="ignore"):
        op = rows.REDUCTIONS[name]
        wanted = reduced(op, wide, axis, keepdims)
        size = np.max(np.abs(terms(op, wide)).astype(np.float64), initial=0, where=np.isfinite(wide))
        assert got.shape == wanted.shape
        rounded = wanted.astype(got.dtype).astype(np.float64)
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, wanted)
        return
    # 16-bit floats are summed in float32, and rounded once at the end.
    ulp, inner = (
        float(np.finfo(got.dtype.name).eps),
        float(np.finfo(np.float64 if got.dtype == "f8" else np.float32).eps),
    )
    got = got.astype(np.float64)
    if op.root:  # the bound is for the variance
        got, rounded, size = got**2, rounded**2, size**2
    count = 1 if op.averages else value.size // max(got.size, 1)
    square = size if op.dispersion and not op.root else 1
    np.testing.assert_allclose(got, rounded, rtol=4 * ulp, atol=16 * inner * size * count * square)
