"""The plan of `isin`, over the primitives."""

from __future__ import annotations

from xpops.core import dtypes as dt
from xpops.core.layouts import layout_of
from xpops.core.promotion import promote
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import make_dense, require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import copier
from xpops.engine.program import Data, Program
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.signature import Operand


@differentiable()
def plan_membership(engine: Engine, specs: tuple[Operand, ...], invert: bool) -> Program:
    """The program of `isin` for two real arrays: sort the second, and search it for each element of the first."""
    x1, x2 = (require_array(spec, "isin", name) for spec, name in zip(specs, ("x1", "x2"), strict=True))
    dtype, device = promote((x1.dtype, x2.dtype), "isin"), x1.device
    out = layout_of(dt.bool, x1.shape, None, device)
    if x2.size == 0:
        fill = call_for(IDENTITY, (bool,), device, dt.bool, out).kernel
        return Program((out,), lambda stream, out, *operands: fill(stream, out, invert))
    common = dt.uint8 if dtype == dt.bool else dtype  # bool is searched as uint8
    queries, among = (layout_of(common, shape, None, device) for shape in (x1.shape, (x2.size,)))
    places = layout_of(dt.int64, x1.shape, None, device)
    flat, flatten = make_dense(engine, x2, (x2.size,))
    casts = copier(x1, queries), copier(flat, among)
    sort, search = engine.sort(among, among, None, False), engine.searchsorted(among, queries, False, places)
    clip = call_for(OPERATORS["minimum"], (places, int), device, None, places).kernel
    take = engine.gather(among, (0,), (places,), 0, ("isin: places",)).kernel
    compare = call_for(OPERATORS["not_equal" if invert else "equal"], (queries, queries), device, None, out).kernel

    def kernel(stream: int, out: Data, x1: Data, x2: Data) -> None:
        wanted = [queries, among, among, places, queries]
        made = [engine.allocate(layout, stream) for layout in wanted]
        query, other, ordered, place, found = (data for data, _ in made)
        flattened, owner = flatten(stream, x2)
        casts[0](stream, query, x1)
        casts[1](stream, other, flattened)
        sort(stream, ordered, other)
        search(stream, place, ordered, query)
        clip(stream, place, place, among.size - 1)
        take(stream, found, ordered, place)
        compare(stream, out, found, query)
        del made, owner  # kept until the kernels were launched

    return Program((out,), kernel)
