"""``x[key]`` for keys with arrays."""

from __future__ import annotations

from typing import Any

from xpops.arrays.indexing.keys import NDArray, require_mask, resolve, sole_mask
from xpops.arrays.indexing.selection import Target, select_view
from xpops.core import dtypes as dt
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import Tensor, steady
from xpops.dispatch.dense import plan_on_dense
from xpops.dispatch.keys import Fixed, way_of
from xpops.dispatch.primitives import call
from xpops.engine.program import Data, Guessing, Program
from xpops.engine.protocol import Engine
from xpops.plan.keys import Indexed, Part
from xpops.plan.selection import reads_in_place


def get_known(x: Tensor, key: Any) -> Any:
    """``x[key]`` by the steady state, if the key consists of own arrays only and the call is known; else None."""
    arrays = key if key.__class__ is tuple else (key,)
    for each in arrays:
        if each.__class__ is not steady.array_class:
            return None
    if len(arrays) >= len(_INDEXED):
        return None
    is_mask = len(arrays) == 1 and arrays[0]._layout.dtype == dt.bool
    return steady.known(_MASKED if is_mask else _INDEXED[len(arrays)], (x, *arrays))


def get(x: Tensor, parts: tuple[Part, ...], arrays: list[Tensor | NDArray]) -> Any:
    """``x[key]``, in new memory.

    Raises
    ------
    IndexError
        If an array or a mask does not fit, the arrays do not broadcast, or an index is out of range. Indices on the
        CPU or from the host are checked at once. On CUDA an index out of range is clamped, and the error is raised when
        the host next reads from the device.
    """
    mask = sole_mask(parts, arrays)
    if mask is not None:
        return call(_plan_compress, "index", ("x", "mask"), (x, mask))
    view, indexed = select_view(x, parts)
    indices = resolve(view._layout, indexed, arrays)
    names = ("x", *(f"key[{number}]" for number in range(len(indices))))
    return call(_plan_gather, "index", names, (view, *indices), *indexed)


def _plan_gather(
    engine: Engine, specs: tuple[Layout, ...], axes: tuple[int, ...], names: tuple[str, ...], position: int
) -> Program:
    target = Target(specs[0], Indexed(axes, names, position), specs[1:])
    program = engine.gather(specs[0], axes, target.indices, position, names)
    if target.as_given:
        return program

    def kernel(stream: int, out: Data, x: Data, *indices: Data) -> None:
        program.kernel(stream, out, x, *target.broadcast(indices))

    return Program(program.layouts, kernel)


def _plan_compress(engine: Engine, specs: tuple[Layout, Layout]) -> Program | Guessing:
    x, mask = specs
    require_mask(mask.shape, x.shape)
    if mask.size == 0:
        nothing = layout_of(x.dtype, (0, *x.shape[mask.ndim :]), None, x.device)
        return Program((nothing,), lambda stream, *data: None)
    return plan_on_dense(engine, specs, engine.compress, as_given=(0,) if reads_in_place(x, mask) else ())


# The ways of ``x[key]`` for a key that is a mask, and for one of n integer arrays and nothing else (_INDEXED[n]).
_MASKED = way_of(_plan_compress, ())
_INDEXED = [
    way_of(_plan_gather, (Fixed(range(n)), Fixed(f"index: the array for axis {axis}" for axis in range(n)), 0))
    for n in range(65)
]
