"""Broadcasting: the shapes of results, and the strides of operands in the shape of a result."""

from __future__ import annotations


def broadcast_shapes(*shapes: tuple[int, ...], function: str = "broadcast_shapes") -> tuple[int, ...]:
    """The shape that `shapes` broadcast to.

    Raises
    ------
    ValueError
        If two lengths differ and neither is 1.

    Examples
    --------
    >>> broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    if not shapes:
        return ()
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    result = [1] * max(map(len, shapes))
    for shape in shapes:
        for axis in range(-len(shape), 0):
            length = shape[axis]
            if result[axis] == 1:
                result[axis] = length
            elif length not in (1, result[axis]):
                given = ", ".join(map(str, shapes))
                raise ValueError(
                    f"{function}: shapes {given} cannot be broadcast; along axis {axis} the lengths "
                    f"{result[axis]} and {length} differ, and neither is 1"
                )
    return tuple(result)


def broadcast_strides(shape: tuple[int, ...], strides: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array of `shape` when it is read in the shape `target`: 0 along every repeated axis.

    Examples
    --------
    >>> broadcast_strides((3, 1), (1, 0), (2, 3, 4))
    (0, 1, 0)
    """
    new = len(target) - len(shape)
    kept = (
        0 if length == 1 and wanted != 1 else stride
        for length, stride, wanted in zip(shape, strides, target[new:], strict=True)
    )
    return (0,) * new + tuple(kept)
