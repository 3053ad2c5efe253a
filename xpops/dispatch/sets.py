"""Plans of functions of sets: the distinct elements of an array, with first indices, inverse and counts; and `isin`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, alignment, layout_of
from xpops.core.promotion import promote
from xpops.dispatch.calls import call_for
from xpops.dispatch.dense import make_dense, require_array
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.primitives import copier
from xpops.engine.program import Data, Kernel, Measure, Owner, Program
from xpops.engine.protocol import Engine
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.cache import BoundedDict
from xpops.plan.signature import Operand

# For each part of the result: the part of `Engine.runs` from which it is made.
_PLACES = ("unique: places",)
_RUNS = {"values": "values", "indices": "starts", "counts": "starts", "inverse_indices": "groups"}


class _Scratch:
    """Temporary memory of one call, kept until its kernels are launched."""

    def __init__(self, engine: Engine, stream: int) -> None:
        self._engine, self._stream = engine, stream
        self._owners: list[Any] = []

    def new(self, layout: Layout) -> Data:
        data, owner = self._engine.allocate(layout, self._stream)
        self.keep(owner)
        return data

    def keep(self, owner: Any) -> None:
        self._owners.append(owner)

    def clear(self) -> None:
        self._owners.clear()


# (stream, data, scratch) -> the sorted elements, and the permutation that sorts them (None if no part needs it).
Arrange = Callable[[int, Data, _Scratch], tuple[Data, Data]]
# (stream, data) -> the elements in one dimension, and the owner of their memory.
Flatten = Callable[[int, Data], tuple[Data, Owner]]


def plan_unique(engine: Engine, specs: tuple[Operand, ...], function: str, parts: tuple[str, ...]) -> Measure:
    """The measure of the distinct elements of one array, in ascending order.

    Parameters
    ----------
    parts : tuple of str
        "values", then any of "indices" (of first occurrences), "inverse_indices" and "counts".

    Raises
    ------
    TypeError
        If it is no array, or its dtype is float8.
    """
    x = require_array(specs[0], function, "x")
    if x.dtype not in dt.CATEGORIES["arithmetic"]:
        raise TypeError(f"{function}: dtype {x.dtype} is not accepted; accepted: any dtype but float8")
    flat, flatten = make_dense(engine, x, (x.size,))
    counted = engine.distinct(flat, parts)
    if counted is not None:
        return _by_counting(x, counted, flatten, parts)
    arrange = _arrangement(engine, flat, parts)
    wanted = tuple(dict.fromkeys(_RUNS[part] for part in parts))
    runs = engine.runs(_new_layout(flat), wanted)
    inverse = layout_of(dt.int64, x.shape, None, x.device)
    statistics: BoundedDict[int, Callable[..., None]] = BoundedDict(64)  # by the number of runs

    def measure(stream: int, data: Data) -> Program:
        scratch = _Scratch(engine, stream)
        flattened, owner = flatten(stream, data)
        scratch.keep(owner)
        ordered, order = arrange(stream, flattened, scratch)
        operands = (ordered, order) if "groups" in wanted else (ordered,)
        found = runs(stream, *operands)
        values = found.layouts[0]
        layouts, derive = {"values": values, "inverse_indices": inverse}, None
        if "starts" in wanted:
            starts = layout_of(dt.int64, (values.size + 1,), None, x.device)
            layouts["indices"] = layouts["counts"] = layout_of(dt.int64, values.shape, None, x.device)
            derive = statistics.get(values.size)
            if derive is None:
                derive = statistics[values.size] = _run_statistics(engine, x.size, starts, parts)

        def kernel(stream: int, *results: Data) -> None:
            by_name = dict(zip(parts, results, strict=False))  # `results` ends with the operand
            targets = {_RUNS[part]: result for part, result in by_name.items()}
            if derive is not None:
                targets["starts"] = scratch.new(starts)
            shown = (engine.view(targets[each], 0, view) for each, view in zip(wanted, found.layouts, strict=True))
            found.kernel(stream, *shown, *operands)
            if derive is not None:
                derive(stream, by_name, targets["starts"], order)
            scratch.clear()

        return Program(tuple([layouts[part] for part in parts]), kernel)

    return measure


def _by_counting(x: Layout, counted: Measure, flatten: Flatten, parts: tuple[str, ...]) -> Measure:
    """The measure that uses `Engine.distinct`."""

    def measure(stream: int, data: Data) -> Program:
        flattened, owner = flatten(stream, data)
        found = counted(stream, flattened)

        def kernel(stream: int, *data: Data, kept: Owner = owner) -> None:
            found.kernel(stream, *data[: len(parts)], flattened)

        layouts = dict(zip(parts, found.layouts, strict=True))
        if "inverse_indices" in layouts:
            layouts["inverse_indices"] = layout_of(dt.int64, x.shape, None, x.device)
        return Program(tuple(layouts.values()), kernel)

    return measure


def _new_layout(x: Layout, dtype: DType | None = None) -> Layout:
    """A C-contiguous layout with the shape of `x`, for new memory."""
    return layout_of(x.dtype if dtype is None else dtype, x.shape, None, x.device)


def _run_statistics(engine: Engine, size: int, starts: Layout, parts: tuple[str, ...]) -> Callable[..., None]:
    """A function ``(stream, results by name, starts, order)`` that writes "indices" and "counts" if they are results.

    Both follow from the starts of the runs. `starts` has one element more than there are runs: the end of the last run.
    """
    count, device = starts.size - 1, starts.device
    lower, one = (layout_of(dt.int64, (length,), None, device) for length in (count, 1))
    upper = layout_of(dt.int64, (count,), None, device, alignment(dt.int64.itemsize))
    line = layout_of(dt.int64, (size,), None, device)
    take = engine.gather(line, (0,), (lower,), 0, _PLACES).kernel if "indices" in parts else None
    subtract = call_for(OPERATORS["subtract"], (upper, lower), device, None, lower).kernel
    end = engine.arange(one)

    def derive(stream: int, results: dict[str, Data], starts: Data, order: Data) -> None:
        firsts = engine.view(starts, 0, lower)
        if take is not None:
            take(stream, results["indices"], order, firsts)
        if "counts" in results:
            end(stream, engine.view(starts, count, one), size, 0)
            subtract(stream, results["counts"], engine.view(starts, 1, upper), firsts)

    return derive


def _arrangement(engine: Engine, x: Layout, parts: tuple[str, ...]) -> Arrange:
    """The function that sorts the elements of a 1-d `x`, as `parts` need it."""
    if x.dtype in dt.COMPLEX_FLOATS:
        return _complex_arrangement(engine, x)
    values, order = _new_layout(x), _new_layout(x, dt.int64)
    if not {"indices", "inverse_indices"}.intersection(parts):
        sort = engine.sort(x, values, None, False)

        def arrange(stream: int, data: Data, scratch: _Scratch) -> tuple[Data, Data]:
            ordered = scratch.new(values)
            sort(stream, ordered, data)
            return ordered, None

        return arrange
    # Equal elements must keep their order, but a sort puts -0.0 before 0.0.
    unsigned = _without_negative_zeros(x) if "indices" in parts and x.dtype in dt.REAL_FLOATS else None
    sort_both = engine.sort(x if unsigned is None else values, values, order, False)

    def arrange_both(stream: int, data: Data, scratch: _Scratch) -> tuple[Data, Data]:
        if unsigned is not None:
            signed, data = data, scratch.new(values)
            unsigned(stream, data, signed, 0.0)
        ordered, places = scratch.new(values), scratch.new(order)
        sort_both(stream, ordered, places, data)
        return ordered, places

    return arrange_both


def _complex_arrangement(engine: Engine, x: Layout) -> Arrange:
    """Sort by imaginary parts, then stably by real parts. Elements with a NaN in either part come last, as in NumPy."""
    values, line, order = _new_layout(x), _new_layout(x, dt.REAL_OF[x.dtype]), _new_layout(x, dt.int64)
    unsigned, sort = _without_negative_zeros(x), engine.sort(line, None, order, False)
    imag, real = (call_for(OPERATORS[name], (values,), x.device, None, line).kernel for name in ("imag", "real"))
    flags = _new_layout(x, dt.bool)
    isnan = call_for(OPERATORS["isnan"], (values,), x.device, None, flags).kernel
    where = call_for(OPERATORS["where"], (flags, float, line), x.device, None, line).kernel
    take_values, take_line, take_order = (
        engine.gather(each, (0,), (order,), 0, _PLACES).kernel for each in (values, line, order)
    )

    def arrange(stream: int, data: Data, scratch: _Scratch) -> tuple[Data, Data]:
        source, ordered = scratch.new(values), scratch.new(values)
        keys, gathered = scratch.new(line), scratch.new(line)
        by_imag, by_real, places = scratch.new(order), scratch.new(order), scratch.new(order)
        unknown = scratch.new(flags)
        unsigned(stream, source, data, 0.0)
        imag(stream, keys, source)
        sort(stream, by_imag, keys)
        real(stream, keys, source)
        isnan(stream, unknown, source)
        where(stream, keys, unknown, math.nan, keys)
        take_line(stream, gathered, keys, by_imag)
        sort(stream, by_real, gathered)
        take_order(stream, places, by_imag, by_real)
        take_values(stream, ordered, source, places)
        return ordered, places

    return arrange


def _without_negative_zeros(x: Layout) -> Kernel:
    """The kernel ``(stream, out, x, 0.0)`` that adds 0.0, which turns -0.0 into 0.0."""
    return call_for(OPERATORS["add"], (x, float), x.device, None, _new_layout(x)).kernel


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
