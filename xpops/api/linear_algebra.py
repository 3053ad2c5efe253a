"""Products of matrices and vectors."""

from __future__ import annotations

import operator
from typing import Any

from xpops.api.signatures import binary_function, contraction
from xpops.core import dtypes as dt
from xpops.core.errors import describe
from xpops.core.layouts import Layout
from xpops.core.promotion import promote
from xpops.dispatch.contraction import contract
from xpops.dispatch.dense import require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import call
from xpops.dispatch.products import NAMES, product, require_factors
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.ops.derivatives import products as derivative
from xpops.plan.signature import Operand
from xpops.plan.strides import views
from xpops.plan.strides.broadcast import broadcast_shapes

__all__ = ["einsum", "matmul", "tensordot", "vecdot"]


@binary_function
def matmul(x1: Any, x2: Any, /, *, tf32: bool = False) -> Any:
    """The product of matrices, or of stacks of them.

    Parameters
    ----------
    x1 : array
        Of shape (..., M, K), or (K,), which means one row. Any dtype but float8.
    x2 : array
        Of shape (..., K, N), or (K,), which means one column. Stacks broadcast.
    tf32 : bool
        Whether a GPU may round float32 and complex64 operands to 11 bits first, which is several times as fast.

    Returns
    -------
    array
        Of shape (..., M, N), without the axis that a 1-d operand lacks, in the dtype that both promote to.
        float16 and bfloat16 are added in float32. Integers wrap. For bool it is whether any product is true.

    Raises
    ------
    TypeError
        If the dtypes do not promote to a common dtype or are not accepted, or an operand is not an array.
    ValueError
        If an operand has no axis, or the shapes do not fit.

    Notes
    -----
    On CUDA, cuBLASLt multiplies floating-point dtypes, and xpops' own kernels all others.

    Examples
    --------
    >>> xp.matmul(xp.asarray([[1, 2], [3, 4]]), xp.asarray([5, 6]))
    Array([17, 39], dtype=int64, device='cpu')
    """
    return call(product, "matmul", NAMES, (x1, x2), bool(tf32))


@binary_function
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The products of vectors, conjugating the first: ``sum(conj(x1) * x2)`` along an axis.

    Parameters
    ----------
    x1, x2 : array
        Any dtype but float8. They have the same length along `axis`; the other axes broadcast.
    axis : int
        A negative axis counts from the end of each operand.

    Returns
    -------
    array
        The broadcast shape without `axis`, in the dtype that both promote to. Sums as in `matmul`.

    Raises
    ------
    TypeError
        If the dtypes do not promote to a common dtype or are not accepted, or an operand is not an array.
    ValueError
        If the shapes do not fit.
    IndexError
        If one of the operands has no such axis.

    Examples
    --------
    >>> xp.vecdot(xp.asarray([[1.0, 2.0], [3.0, 4.0]]), xp.asarray([1.0, 10.0]))
    Array([21., 43.], dtype=float64, device='cpu')
    """
    return call(_plan_vecdot, "vecdot", NAMES, (x1, x2), axis)


@binary_function
def tensordot(x1: Any, x2: Any, /, *, axes: int | tuple[Any, Any] = 2) -> Any:
    """The sum of products over some axes of each of two arrays.

    Parameters
    ----------
    x1, x2 : array
        Any dtype but float8.
    axes : int or tuple of (sequence of int, sequence of int)
        A number of axes: the last of `x1` and the first of `x2`. Or the axes of `x1` and the matching axes of `x2`.

    Returns
    -------
    array
        Has the other axes of `x1`, then those of `x2`, in the dtype that both promote to. Sums as in `matmul`.

    Raises
    ------
    TypeError
        If the dtypes have none in common, are not accepted, or `axes` is neither.
    ValueError
        If the axes differ in length or number, or there are not so many.
    IndexError
        If there is no such axis.

    Examples
    --------
    >>> xp.tensordot(xp.asarray([[1, 2], [3, 4]]), xp.asarray([[1, 0], [0, 1]]), axes=2)
    Array(5, dtype=int64, device='cpu')
    """
    return call(_plan_tensordot, "tensordot", NAMES, (x1, x2), axes)


@differentiable(derivative.vecdot_first, derivative.vecdot_second)
def _plan_vecdot(engine: Engine, specs: tuple[Operand, ...], axis: Any) -> Program:
    x1, x2, dtype = require_factors(specs, "vecdot")
    try:
        place = operator.index(axis)
    except TypeError:
        raise TypeError(f"vecdot: axis is {axis!r}; accepted: an integer") from None
    least = min(x1.ndim, x2.ndim)
    if not -least <= place < (least if x1.ndim == x2.ndim else 0):
        raise IndexError(f"vecdot: axis is {place}; accepted: -{least} to -1, for shapes {x1.shape} and {x2.shape}")
    lengths = x1.shape[place], x2.shape[place]
    if lengths[0] != lengths[1]:
        raise ValueError(
            f"vecdot: x1 has length {lengths[0]} along axis {place} and x2 {lengths[1]}; accepted: one length"
        )
    ndim = len(broadcast_shapes(x1.shape, x2.shape, function="vecdot"))
    labels = [tuple(range(ndim - x.ndim, ndim)) for x in (x1, x2)]
    inner = place % ndim if place < 0 else place
    kept = [label for label in range(ndim) if label != inner]
    return contract(engine, (x1, x2), labels, kept, dtype, conjugate=True)


@differentiable(derivative.tensordot_first, derivative.tensordot_second)
def _plan_tensordot(engine: Engine, specs: tuple[Operand, ...], axes: Any) -> Program:
    x1, x2, dtype = require_factors(specs, "tensordot")
    first, second = _contracted_axes(axes, x1, x2)
    if len(first) != len(second) or any(x1.shape[i] != x2.shape[j] for i, j in zip(first, second, strict=True)):
        raise ValueError(
            f"tensordot: axes is {axes!r} for shapes {x1.shape} and {x2.shape}; accepted: axes of the same lengths"
        )
    left = [("x1", axis) for axis in range(x1.ndim)]
    right = [("x2", axis) for axis in range(x2.ndim)]
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    kept = [label for axis, label in enumerate(left) if axis not in first]
    kept += [label for axis, label in enumerate(right) if axis not in second]
    return contract(engine, (x1, x2), (left, right), kept, dtype)


def _contracted_axes(axes: Any, x1: Layout, x2: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, tuple) and len(axes) == 2:
        lists = [each if isinstance(each, tuple) else (each,) for each in axes]
        first, second = (
            views.axes_of(each, x.ndim, "tensordot", "axes") for each, x in zip(lists, (x1, x2), strict=True)
        )
        return first, second
    try:
        count = operator.index(axes)
    except TypeError:
        raise TypeError(f"tensordot: axes is {axes!r}; accepted: an integer, or two sequences of integers") from None
    if not 0 <= count <= min(x1.ndim, x2.ndim):
        raise ValueError(f"tensordot: axes is {count}; accepted: 0 to {min(x1.ndim, x2.ndim)}")
    return tuple(range(x1.ndim - count, x1.ndim)), tuple(range(count))


@contraction
def einsum(subscripts: str, /, *operands: Any) -> Any:
    """Sums of products by Einstein's convention.

    Parameters
    ----------
    subscripts : str
        A letter for each axis of each operand and of the result, as in ``"ij,jk->ik"``. Axes that are not in the
        result are summed over. Without ``->`` the result has the letters that occur once, in alphabetical order.
        An ellipsis means all other axes, which broadcast.
    *operands : array
        Any dtype but float8.

    Returns
    -------
    array
        In the dtype that all promote to. Operands are multiplied two at a time, from left to right, as in `matmul`.

    Raises
    ------
    TypeError
        If `subscripts` is no string, or a dtype is not accepted.
    ValueError
        If the subscripts do not describe the operands.

    Examples
    --------
    >>> x = xp.asarray([[1, 2], [3, 4]])
    >>> xp.einsum("ii->", x), xp.einsum("ij,kj->ik", x, x)
    (Array(5, dtype=int64, device='cpu'), Array([[ 5, 11],
           [11, 25]], dtype=int64, device='cpu'))
    """
    inputs, output = _parse_subscripts(subscripts, len(operands))
    if len(operands) == 1:
        return call(_plan_einsum, "einsum", ("operands[0]",), operands, subscripts, tuple(inputs), output)
    result, labels = operands[0], inputs[0]
    for place in range(1, len(operands)):
        after = "".join(inputs[place + 1 :]) + output
        seen = labels + inputs[place]
        kept = output if place == len(operands) - 1 else "".join(dict.fromkeys(each for each in seen if each in after))
        names = (f"operands[{place - 1}]", f"operands[{place}]")
        both = (result, operands[place])
        result, labels = call(_plan_einsum, "einsum", names, both, subscripts, (labels, inputs[place]), kept), kept
    return result


# Stands for the axes of an ellipsis in subscripts, until the operands are known.
_REST = "."


def _parse_subscripts(subscripts: Any, count: int) -> tuple[list[str], str]:
    """The letters of each of `count` operands, and of the result."""
    if not isinstance(subscripts, str):
        raise TypeError(f"einsum: subscripts is {describe(subscripts)}; accepted: a string")
    text = subscripts.replace(" ", "")
    if "." in text.replace("...", ""):
        raise ValueError(f"einsum: subscripts is {subscripts!r}; accepted: letters, and '...' once for each operand")
    text = text.replace("...", _REST)
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != count:
        raise ValueError(f"einsum: subscripts {subscripts!r} is for {len(inputs)} operands; there are {count}")
    for part in (*inputs, output):
        letters = part.replace(_REST, "", 1)
        if letters and not (letters.isascii() and letters.isalpha()):
            raise ValueError(f"einsum: {part!r} in subscripts {subscripts!r}; accepted: letters, and '...' once")
    if not arrow:
        output = _REST * (_REST in left) + "".join(
            sorted(letter for letter in set(left) if letter.isalpha() and left.count(letter) == 1)
        )
    elif len(set(output)) < len(output) or not set(output) <= set(left):
        raise ValueError(
            f"einsum: {output!r} in subscripts {subscripts!r}; accepted: letters of the operands, each once"
        )
    return inputs, output


@differentiable(whole=derivative.einsum)
def _plan_einsum(
    engine: Engine, specs: tuple[Operand, ...], subscripts: str, inputs: tuple[str, ...], output: str
) -> Program:
    layouts = [require_array(spec, "einsum", f"operands[{place}]") for place, spec in enumerate(specs)]
    labels, rest, sizes = [], 0, dict[Any, int]()
    for layout, letters in zip(layouts, inputs, strict=True):
        if layout.dtype not in dt.CATEGORIES["arithmetic"]:
            raise TypeError(f"einsum: an operand has dtype {layout.dtype}; accepted: any dtype but float8")
        others = layout.ndim - len(letters.replace(_REST, ""))
        if others < 0 or (others and _REST not in letters):
            raise ValueError(f"einsum: {letters!r} in subscripts {subscripts!r} for shape {layout.shape}")
        expanded: list[Any] = []
        for letter in letters:
            expanded += range(-others, 0) if letter == _REST else [letter]
        rest = max(rest, others)
        own = dict(zip(expanded, layout.shape, strict=True))
        if any(own[label] != length for label, length in zip(expanded, layout.shape, strict=True)):
            raise ValueError(f"einsum: {letters!r} in subscripts {subscripts!r} for shape {layout.shape}")
        for label, length in zip(expanded, layout.shape, strict=True):
            if length != 1 and sizes.setdefault(label, length) != length:
                raise ValueError(f"einsum: axis {label} of {subscripts!r} has lengths {sizes[label]} and {length}")
        labels.append(expanded)
    if rest and _REST not in output:
        raise ValueError(
            f"einsum: '...' in subscripts {subscripts!r} is {rest} axes; accepted: it in the result as well"
        )
    kept: list[Any] = []
    for letter in output:
        kept += range(-rest, 0) if letter == _REST else [letter]
    return contract(engine, layouts, labels, kept, promote([layout.dtype for layout in layouts], "einsum"))
