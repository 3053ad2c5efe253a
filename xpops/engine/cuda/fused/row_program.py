"""The ``Program`` of a kernel that computes expressions row by row: what each pass over a row computes."""

from __future__ import annotations

import re

from xpops.core import dtypes as dt
from xpops.core.layouts import Layout
from xpops.engine.cuda.fused.centring import Centring, centring
from xpops.engine.cuda.fused.row_functors import Found, RowFunctors, row_functors
from xpops.engine.cuda.fused.values import list_of, list_type, returned, type_of, unrounded
from xpops.engine.cuda.kernels.glue import truth
from xpops.ops.elementwise import IDENTITY
from xpops.plan.fused.expression import Expression
from xpops.plan.fused.rows import Column, RowsExpression, Stage

_LINEAR = re.compile(r"Mode::k(Linear|Shifted)\b")


def program_source(rows: RowsExpression, reducers: list[str], held: bool, declared: list[str]) -> list[str]:
    """The source: functors for each pass over a row, for elements and for rows, and the types of results.

    Parameters
    ----------
    rows : RowsExpression
    reducers : list of str
        The functor of each stage, without its type.
    held : bool
        Whether threads hold rows in registers. Then a pass computes several stages.
    declared : list of str
        The C++ types of what is in the slots: results, sums along columns, operands.
    """
    expression, stages, columns, full, outs, inputs, *_ = rows
    wide = [place for place, out in enumerate(outs) if out.shape == full]
    operands = dict(zip(inputs, declared[len(outs) + len(columns) :], strict=True))
    narrow = [place for place in range(len(outs)) if place not in wide]
    results = expression.results
    alone: list[tuple[int, ...]] = [(place,) for place in range(len(stages))]
    passes = _passes(expression, stages) if held else alone
    found = tuple(
        tuple(Found(stages[k].number, f"{reducers[k]}<{_compute(stages[k])}>", k) for k in each) for each in passes
    )
    places = *(each.place for each in stages), *(each.place for each in columns)
    functors = row_functors(expression, operands, found, (*places, *results), widened_inputs(rows), full[-1])
    linear = {number for number, operand in operands.items() if held and _LINEAR.search(operand)}
    centred = centring(rows, passes, linear)
    lines = functors.rows(centred.place + 1 if centred else None)
    for number, (each, made) in enumerate(zip(passes, found, strict=True)):
        values = [(_compute(stages[k]), _lift(stages[k])) for k in each]
        compute, value = values[0] if len(each) == 1 else (list_type([kind for kind, _ in values]), list_of(values))
        lines += functors.element(f"Lift{number}", number, tuple(stages[k].place for k in each), value)
        reducers_of = ", ".join(one.reducer for one in made)
        lines += [
            f"struct Stage{number} {{",
            f"  using Compute = {compute};",
            f"  using Reducer = {reducers_of if len(made) == 1 else f'Together<{reducers_of}>'};",
            f"  using Lift = Lift{number};",
            "};",
        ]
    if centred:
        lines += _centred(centred, functors, [stages[k] for k in passes[centred.place + 1]], found[centred.place + 1])
    for k, column in enumerate(columns):
        lines += [
            f"struct Column{k} {{",
            f"  using Compute = {_compute(column)};",
            f"  using Reducer = {column.op.functor}<Compute>;",
            f"  static constexpr int kSlot = {len(outs) + k};",
            "};",
        ]
    if wide or columns:
        value, written = _of_elements(expression, tuple(results[place] for place in wide), columns)
        lines += functors.element("EachElement", len(passes), written, value)
    lines += functors.row("EachRow", returned(expression, tuple(results[place] for place in narrow), True))
    of_rows = ", ".join(f"RowOutput<{dt.INFO[outs[place].dtype].c_type}, {place}>" for place in narrow)
    lines += [
        "struct Program {",
        f"  static constexpr bool kNarrow = {truth(expression.narrow)};",
        f"  static constexpr int kCentred = {centred.place if centred else -1};",
        *["  using Centred = CentredPass;"] * bool(centred),
        *_types("Stage", len(passes)),
        *_types("Column", len(columns)),
        *_types("Row", len(passes) + 1),
        f"  static constexpr bool kWritesElements = {truth(bool(wide))};",
        f"  using RowOut = RowOutputs<{of_rows}>;",
        "  using OfRow = EachRow;",
        *["  using Each = EachElement;"] * bool(wide or columns),
    ]
    if wide:
        out = declared[wide[0]] if len(wide) == 1 else f"Outputs<{', '.join(declared[place] for place in wide)}>"
        lines += [f"  using Out = {out};"]
    return [*lines, "};"]


def _centred(found: Centring, functors: RowFunctors, sums: list[Stage], finished: tuple[Found, ...]) -> list[str]:
    """The source of a pass with sums of differences; see ``centred.cuh``."""
    kind = _compute(sums[0])
    terms = [(kind, f"cast<{kind}>(v{found.difference})"), *((_compute(each), _lift(each)) for each in sums)]
    reducers = ", ".join(each.reducer for each in finished)
    numbers = found.difference, *(each.place for each in sums)
    return [
        *functors.element("CentredTerms", found.place + 1, numbers, list_of(terms)),
        "struct CentredPass {",
        f"  using Element = {kind};",
        f"  static constexpr int kSums = {len(sums)};",
        "  XPOPS_DEVICE static constexpr Element inverse_length() {",
        f"    return Element({(1 / functors.length).hex()});",
        "  }",
        *_numbered("order", found.orders),
        *_numbered("weight", found.weights),
        f"  using Compute = {list_type([kind for kind, _ in terms])};",
        "  using Lift = CentredTerms;",
        f"  using Reducer = Together<Sum<{kind}>, {reducers}>;",
        f"  using Finished = Together<{reducers}>;",
        "};",
    ]


def _numbered(name: str, values: tuple[int, ...]) -> list[str]:
    """A function that gives each of some values by its place."""
    *others, last = values
    chosen = "".join(f"k == {place} ? {value} : " for place, value in enumerate(others))
    return [f"  XPOPS_DEVICE static constexpr int {name}(int k) {{ return {chosen}{last}; }}"]


def widened_inputs(rows: RowsExpression) -> set[int]:
    """The inputs of 16 bits that are only used as float32, if the expression is not exact."""
    expression = rows.expression
    used = {each for node in expression.nodes if node.op is not IDENTITY for each in node.operands}
    used.update(expression.results, (each.place for each in rows.stages), (each.place for each in rows.columns))
    halves = (
        number for number, each in enumerate(expression.inputs) if isinstance(each, Layout) and each.dtype in dt.HALVES
    )
    return set() if expression.exact else set(halves) - used


def _of_elements(
    expression: Expression, written: tuple[int, ...], columns: tuple[Column, ...]
) -> tuple[str, tuple[int, ...]]:
    """What the functor for elements returns, and the numbers of the values in it: what is written, and then the values
    that sums along columns add.
    """
    several = len(written) > 1
    if len(written) == 1:
        written = (unrounded(written[0], expression),)
    value = returned(expression, written, several) if written else ""
    if columns:
        kinds = [type_of(each, expression) for each in written]
        first = [(list_type(kinds) if several else kinds[0], value)] if written else []
        value = list_of(first + [(_compute(each), _lift(each)) for each in columns])
    return value, (*written, *(each.place for each in columns))


def _passes(expression: Expression, stages: tuple[Stage, ...]) -> list[tuple[int, ...]]:
    """The places of the stages that one pass over a row computes together, in the order of the passes.

    They need only results of earlier passes. A variance has a pass of its own, because it needs a number near the mean.
    """
    place_of = {stage.number: place for place, stage in enumerate(stages)}
    # How many passes follow. A later stage may need an earlier one. Late passes have computed more for other stages.
    left = [0] * len(stages)
    for place in reversed(range(len(stages))):
        for number in expression.needed((stages[place].place,)) & place_of.keys():
            left[place_of[number]] = max(left[place_of[number]], left[place] + 1)
    passes = []
    for depth in sorted(set(left), reverse=True):
        places = [place for place, each in enumerate(left) if each == depth]
        together = tuple(place for place in places if not stages[place].op.dispersion)
        passes += [(place,) for place in places if place not in together] + [together] * bool(together)
    return passes


def _compute(reduced: Stage | Column) -> str:
    """The type of the values that a reducer takes."""
    return f"compute_t<{dt.INFO[reduced.loop].c_type}>"


def _lift(reduced: Stage | Column) -> str:
    """A value as what its reducer takes. Reducers ignore the sign of NaN."""
    loop = dt.INFO[reduced.loop].c_type
    widen = "widened" if reduced.loop in dt.HALVES else f"cast<compute_t<{loop}>>"
    return f"{widen}(cast<{loop}>(v{reduced.place}))"


def _types(name: str, count: int) -> list[str]:
    """The members of the program for so many reductions."""
    if not count:
        return []
    listed = ", ".join(f"{name}{k}" for k in range(count))
    return [
        f"  static constexpr int k{name}s = {count};",
        f"  template <int k> using {name} = typename At<k, {listed}>::type;",
    ]
