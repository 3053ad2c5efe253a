"""The derivatives of products of matrices and vectors, by the first and the second operand."""

from __future__ import annotations

from typing import Any

from xpops.ops.derivatives.axes import Shape, identity_matrix, reduced_axes


def matmul_first(xp: Any, g: Any, x2: Any, x1_shape: Shape, x2_shape: Shape, tf32: bool) -> Any:
    other = xp.conj(x2)
    if len(x2_shape) == 1:
        return xp.multiply(xp.expand_dims(g, axis=-1), other)
    if len(x1_shape) == 1:
        return xp.matmul(other, xp.expand_dims(g, axis=-1), tf32=tf32)[..., 0]
    return xp.matmul(g, xp.matrix_transpose(other), tf32=tf32)


def matmul_second(xp: Any, g: Any, x1: Any, x1_shape: Shape, x2_shape: Shape, tf32: bool) -> Any:
    other = xp.conj(x1)
    if len(x1_shape) == 1:
        columns = xp.expand_dims(other, axis=-1) if len(x2_shape) > 1 else other
        return xp.multiply(columns, xp.expand_dims(g, axis=-2) if len(x2_shape) > 1 else g)
    rows = xp.matrix_transpose(other)
    if len(x2_shape) == 1:
        return xp.matmul(rows, xp.expand_dims(g, axis=-1), tf32=tf32)[..., 0]
    return xp.matmul(rows, g, tf32=tf32)


def vecdot_first(xp: Any, g: Any, x2: Any, axis: int) -> Any:
    return xp.multiply(xp.expand_dims(xp.conj(g), axis=axis), x2)


def vecdot_second(xp: Any, g: Any, x1: Any, axis: int) -> Any:
    return xp.multiply(xp.expand_dims(g, axis=axis), x1)


def cross_first(xp: Any, g: Any, x2: Any, axis: int) -> Any:
    return xp.linalg.cross(xp.conj(x2), g, axis=axis)


def cross_second(xp: Any, g: Any, x1: Any, axis: int) -> Any:
    return xp.linalg.cross(g, xp.conj(x1), axis=axis)


def _contracted(x1_shape: Shape, x2_shape: Shape, axes: Any) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """The pairs of axes that are contracted, and the axes of both operands that are not."""
    if isinstance(axes, tuple):
        pairs = list(zip(reduced_axes(x1_shape, axes[0]), reduced_axes(x2_shape, axes[1]), strict=True))
    else:
        pairs = [(len(x1_shape) - axes + place, place) for place in range(axes)]
    first = [place for place in range(len(x1_shape)) if place not in {i for i, _ in pairs}]
    second = [place for place in range(len(x2_shape)) if place not in {j for _, j in pairs}]
    return pairs, first, second


def tensordot_first(xp: Any, g: Any, x2: Any, x1_shape: Shape, x2_shape: Shape, axes: Any) -> Any:
    pairs, first, second = _contracted(x1_shape, x2_shape, axes)
    rest = tuple(range(len(first), len(first) + len(second)))
    found = xp.tensordot(g, xp.conj(x2), axes=(rest, tuple(second)))
    order = [*first, *(i for i, _ in sorted(pairs, key=lambda pair: pair[1]))]
    return xp.permute_dims(found, tuple(order.index(place) for place in range(len(order))))


def tensordot_second(xp: Any, g: Any, x1: Any, x1_shape: Shape, x2_shape: Shape, axes: Any) -> Any:
    pairs, first, second = _contracted(x1_shape, x2_shape, axes)
    found = xp.tensordot(xp.conj(x1), g, axes=(tuple(first), tuple(range(len(first)))))
    order = [*(j for _, j in sorted(pairs)), *second]
    return xp.permute_dims(found, tuple(order.index(place) for place in range(len(order))))


def einsum(
    xp: Any, g: Any, operands: tuple[Any, ...], shapes: tuple[Shape, ...], inputs: tuple[str, ...], output: str
) -> tuple[Any, ...]:
    """The derivatives by one operand, or by two: the same contraction with the cotangent in place of the operand."""
    sizes: dict[str, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        if "." not in labels:
            for label, length in zip(labels, shape, strict=True):
                sizes[label] = max(length, sizes.get(label, 1))
        else:
            front = labels.index(".")
            back = len(labels) - front - 1
            named = [*zip(labels[:front], shape, strict=False), *zip(labels[::-1][:back], shape[::-1], strict=False)]
            for label, length in named:
                sizes[label] = max(length, sizes.get(label, 1))
    made = []
    for place, labels in enumerate(inputs):
        others = [(inputs[each], operands[each]) for each in range(len(inputs)) if each != place]
        made.append(_einsum_by(xp, g, output, others, labels, shapes[place], sizes))
    return tuple(made)


def _einsum_by(
    xp: Any, g: Any, output: str, others: list[tuple[str, Any]], labels: str, shape: Shape, sizes: dict[str, int]
) -> Any:
    distinct = "".join(dict.fromkeys(labels.replace(".", "")))
    known = [label for label in distinct if label in output or any(label in each for each, _ in others)]
    rest = "." * ("." in output or any("." in each for each, _ in others))  # in front, to be summed if broadcast
    text = ",".join([output, *(each for each, _ in others)]) + "->" + rest + "".join(known)
    found = xp.einsum(text.replace(".", "..."), g, *(xp.conj(x) for _, x in others))
    extra = len(xp.facts(found).shape) - len(known)
    for place, label in enumerate(distinct):  # labels that were summed over in this operand only
        if label not in known:
            found = xp.expand_dims(found, axis=extra + place)
            target = list(xp.facts(found).shape)
            target[extra + place] = sizes[label]
            found = xp.broadcast_to(found, tuple(target))
    used, final = set[str](), ""
    for label in labels.replace(".", ""):  # a label that occurs twice is a diagonal
        if label in used:
            fresh = next(each for each in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                         if each not in labels and each not in final)  # fmt: skip
            made = "..." + distinct + "," + label + fresh + "->..." + distinct + fresh
            eye = identity_matrix(xp, found, sizes[label])
            found, distinct, final = xp.einsum(made, found, eye), distinct + fresh, final + fresh
        else:
            used.add(label)
            final += label
    found = xp.einsum("..." + distinct + "->..." + final, found) if distinct != final else found
    return _place_rest(xp, found, labels, shape) if rest else found


def _place_rest(xp: Any, x: Any, labels: str, shape: Shape) -> Any:
    """Sum over the axes in front that the operand does not have, and move the others to the place of the ellipsis."""
    extra = len(xp.facts(x).shape) - len(shape)
    if extra:
        x = xp.sum(x, axis=tuple(range(extra)))
    if "." not in labels:
        return x
    count = len(shape) - (len(labels) - 1)
    front = labels.index(".")
    order = (*range(count, count + front), *range(count), *range(count + front, len(shape)))
    return xp.permute_dims(x, order)
