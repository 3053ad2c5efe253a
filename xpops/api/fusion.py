"""Python functions as one kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from xpops.api import extremes, moments, sums, utility
from xpops.api.complex_numbers import conj
from xpops.api.data_types import astype
from xpops.api.rounding import clip
from xpops.core.devices import CPU
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import Tensor, state
from xpops.dispatch.operands import Operands
from xpops.dispatch.primitives import compute
from xpops.dispatch.reductions import reduction
from xpops.dispatch.state import inline, launches
from xpops.dispatch.tracing import Derived, Reduced, Trace, Traced
from xpops.engine.protocol import Data, Engine, Kernel, Measure, Owner, Program
from xpops.plan.expression import Expression
from xpops.plan.fused_rows import Stage, fits
from xpops.plan.result import reduced, result_layout
from xpops.plan.signature import Operand, Signature

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

__all__ = ["Fused", "fuse"]


def fuse(function: Callable[..., Any], /) -> Fused:
    """Make a function of elements one kernel: each argument is read once, each result written once.

    The function is run once for each kind of arguments, on values without elements, which record what is computed. It
    may use xpops' elementwise functions, operators and reductions, and return an array or a tuple of them. Real
    elementwise results are those of the function itself, bit for bit: dtypes promote and every operator rounds as
    always. Reductions along the last axis, of many rows that are not short, are part of the one kernel; any other is a
    kernel of its own, behind one that computes what it reduces.

    Parameters
    ----------
    function : callable
        Of arrays of any framework and Python scalars. A scalar argument is a parameter of the kernel: another value is
        no other kernel. What the function names otherwise is a constant.

    Returns
    -------
    Fused
        A function of the same arguments. On the CPU it just calls `function`.

    Raises
    ------
    TypeError
        In the first call of a kind, if something cannot be fused: any other function, a branch on elements, an array
        that is no argument.

    Examples
    --------
    >>> @xp.fuse
    ... def swish(x, scale):
    ...     return x / (1 + xp.exp(-scale * x))
    >>> swish(xp.asarray([0.0, 1.0]), 2.0)
    Array([0.        , 0.88079708], dtype=float64, device='cpu')
    """
    return Fused(function)


class Fused:
    """What `fuse` returns."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"fuse: function is {function!r}; accepted: a function of arrays")
        functools.update_wrapper(self, function, updated=())
        self.function, self._name = function, getattr(function, "__name__", "fuse")
        # Equal and hashed by identity: they are keys of plans.
        self._plan = functools.partial(_plan, self)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """The function's results."""
        if options:
            raise TypeError(
                f"{self._name}: {next(iter(options))} is given by name; accepted: arguments by their places"
            )
        cls = state.array_class
        launch = launches.get((self._plan, *[x._layout if x.__class__ is cls else x.__class__ for x in arguments]))
        if launch is not None:
            return launch(*[x._data if x.__class__ is cls else x for x in arguments])
        if any(isinstance(x, Traced) or (x.__class__ is cls and x._layout.device == CPU) for x in arguments):
            return self.function(*arguments)
        if len(arguments) in (1, 2) and arguments[0].__class__ in inline:
            result = inline[arguments[0].__class__].call((self._plan,), *(*arguments, None)[:2], None)
            if result is not None:
                return result
        return compute(self._plan, self._name, _names(arguments), arguments, steady=True)

    def source(self, *arguments: Any) -> str:
        """The C++ of the kernels that compute the function of such arguments. Needs no GPU.

        Examples
        --------
        >>> text = xp.fuse(lambda x: x * x + 1).source(xp.zeros(8, dtype=xp.float32))
        >>> print(text[text.index("    const") : text.index("    return")])
            const float v1 = cast<float>(mul_rn(cast<float>(v0), cast<float>(v0)));
            const float v2 = cast<float>(add_rn(cast<float>(v1), cast<float>(double(0x1.0000000000000p+0))));
        <BLANKLINE>
        """
        from xpops.engine.cuda.fused import fused_source
        from xpops.engine.cuda.fused_rows import rows_source

        operands = Operands(self._name, _names(arguments), arguments)
        operands.release()
        traced = _traced(self, operands.specs)
        found = _stages(traced, len(arguments))
        if found is not None:
            return rows_source(traced.whole, found.stages, found.full, traced.layouts, found.inputs, 90).source
        return "\n".join(fused_source(part.expression, part.outs, 90).source for part in traced.parts)


class _Part(NamedTuple):
    """What one kernel computes: results of one shape, their places, and those of the inputs that it reads."""

    expression: Expression
    outs: tuple[Layout, ...]
    results: tuple[int, ...]
    inputs: tuple[int, ...]


class _Traced(NamedTuple):
    """What became of a function: how inputs behind the arguments are made, its kernels, and its results' layouts."""

    whole: Expression
    shapes: tuple[tuple[int, ...], ...]
    derived: tuple[Derived, ...]
    parts: tuple[_Part, ...]
    layouts: tuple[Layout, ...]


# step(stream, inputs): one more input, of those there are, and what keeps it alive.
_Step = Callable[[int, list[Data]], tuple[Data, Owner]]


def _names(arguments: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(f"arguments[{number}]" for number in range(len(arguments)))


def _traced(fused: Fused, specs: tuple[Operand, ...]) -> _Traced:
    (device, *_) = (spec.device for spec in specs if isinstance(spec, Layout))
    trace = Trace(fused._name, specs, device)
    results = _several(fused, fused.function(*trace.arguments()), Traced)
    expression, derived = trace.expression(results)
    layouts = tuple(result_layout(Signature((), each.dtype, each.shape), specs, device) for each in results)
    parts = []
    for shape in dict.fromkeys(layout.shape for layout in layouts):
        places = tuple(place for place, layout in enumerate(layouts) if layout.shape == shape)
        part, inputs = expression.pruned(tuple(expression.results[place] for place in places))
        parts.append(_Part(part, tuple(layouts[place] for place in places), places, inputs))
    return _Traced(expression, trace.shapes(), derived, tuple(parts), layouts)


def _several(fused: Fused, returned: Any, kind: type) -> tuple[Any, ...]:
    """The results as a tuple."""
    results = returned if isinstance(returned, tuple) else (returned,)
    for each in results:
        if not isinstance(each, kind) or (returned is results and len(results) == 1):
            raise TypeError(
                f"{fused._name}: the function returns a {type(each).__module__}.{type(each).__qualname__}; accepted: "
                "an array that is computed of its arguments, or a tuple of two such arrays or more"
            )
    return results


def _plan(fused: Fused, engine: Engine, specs: tuple[Operand, ...]) -> Program | Measure:
    if any(isinstance(spec, Layout) and spec.device == CPU for spec in specs):
        return functools.partial(_run, fused, specs)
    from xpops.engine.cuda.fused import fused as kernel_of

    traced = _traced(fused, specs)
    rows = _rows(engine, traced, len(specs))
    if rows is not None:
        return rows
    kernels = [kernel_of(cast("CudaEngine", engine), part.expression, part.outs) for part in traced.parts]
    count, steps = len(traced.layouts), [_step(engine, traced.whole, each) for each in traced.derived]
    if not steps and [part.inputs for part in traced.parts] == [tuple(range(len(specs)))]:
        return Program(traced.layouts, kernels[0])

    def kernel(stream: int, *data: Data) -> None:
        results, inputs, owners = data[:count], list(data[count:]), []
        for step in steps:
            made, owner = step(stream, inputs)
            inputs.append(made)
            owners.append(owner)
        for launch, part in zip(kernels, traced.parts, strict=True):
            launch(stream, *(results[place] for place in part.results), *(inputs[place] for place in part.inputs))
        del owners  # kept until the kernels were launched

    return Program(traced.layouts, kernel)


def _rows(engine: Engine, traced: _Traced, given: int) -> Program | None:
    """All of it as one kernel that walks rows; None where that cannot be."""
    found = _stages(traced, given)
    if found is None:
        return None
    from xpops.engine.cuda.fused_rows import fused_rows

    launch = fused_rows(
        cast("CudaEngine", engine), traced.whole, found.stages, found.full, traced.layouts, found.inputs
    )
    count = len(traced.layouts)
    if found.inputs == tuple(range(given)):
        return Program(traced.layouts, launch)

    def kernel(stream: int, *data: Data) -> None:
        values = list(data[count:])
        for derive in traced.derived:  # the reductions are the kernel's own
            values.append(None if isinstance(derive, Reduced) else derive(*values))
        launch(stream, *data[:count], *(values[number] for number in found.inputs))

    return Program(traced.layouts, kernel)


class _Rows(NamedTuple):
    """The reductions along rows, the shape that they reduce, and the inputs that are needed beside them."""

    stages: tuple[Stage, ...]
    full: tuple[int, ...]
    inputs: tuple[int, ...]


def _stages(traced: _Traced, given: int) -> _Rows | None:
    """How one kernel walks the rows; None where that cannot be."""
    whole, stages, full = traced.whole, [], None
    for number, each in enumerate(traced.derived, given):
        if isinstance(each, Reduced):
            axes, loop, _, out = reduced(each.operand, each.op, *each.parameters[:3])
            full = each.operand.shape if full is None else full
            # The kernel takes no first element off, as variances want it.
            if axes != (len(full) - 1,) or each.op.dispersion:
                return None
            stages.append(Stage(number, each.place, each.op, loop, out.dtype))
    if full is None or not fits(whole, traced.shapes, tuple(stages), full, traced.layouts):
        return None
    made = {stage.number for stage in stages}
    needed = whole.needed((*whole.results, *(stage.place for stage in stages)))
    inputs = tuple(number for number in range(len(whole.inputs)) if number in needed and number not in made)
    return _Rows(tuple(stages), full, inputs)


def _step(engine: Engine, whole: Expression, derived: Derived) -> _Step:
    """How an input is made: a scalar by the host; a reduction by a kernel, of an input or of what another one made."""
    if not isinstance(derived, Reduced):
        return lambda stream, inputs: (derived(*inputs), None)
    from xpops.engine.cuda.fused import fused as kernel_of

    place, operand = derived.place, derived.operand
    compute: Kernel | None = None
    if place < len(whole.inputs):
        operand = cast("Layout", whole.inputs[place])
    else:
        part, inputs_of = whole.pruned((place,))
        compute, new = kernel_of(cast("CudaEngine", engine), part, (operand,)), engine.allocator(operand)
    (out,), reduce = reduction(engine, (operand,), derived.op, *derived.parameters)
    allocate = engine.allocator(out)

    def step(stream: int, inputs: list[Data]) -> tuple[Data, Owner]:
        made, owner = allocate(stream)
        if compute is None:
            reduce(stream, made, inputs[place])
        else:
            value, block = new(stream)
            compute(stream, value, *(inputs[each] for each in inputs_of))
            reduce(stream, made, value)
            del block  # kept until the kernels were launched; the pool is ordered on the stream
        return made, owner

    return step


def _run(fused: Fused, specs: tuple[Operand, ...], stream: int, *values: Any) -> Program:
    """On the CPU, for arrays of other frameworks: the function itself."""
    arguments = (
        state.array_class(spec, value, None) if isinstance(spec, Layout) else value
        for spec, value in zip(specs, values, strict=True)
    )
    results = _several(fused, fused.function(*arguments), Tensor)

    def copy(stream: int, *data: Data) -> None:
        for out, result in zip(data, results, strict=False):
            out[...] = result._data

    return Program(tuple(layout_of(each._layout.dtype, each._layout.shape, None, CPU) for each in results), copy)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *arguments, **options: function(self, *arguments, **options)


# What arrays have as methods, too, and can be fused.
_REDUCTIONS = (extremes.max, moments.mean, extremes.min, sums.prod, moments.std, sums.sum, moments.var)
for _function in (*_REDUCTIONS, utility.all, utility.any, astype, clip, conj):
    setattr(Traced, _function.__name__, _method(_function))
