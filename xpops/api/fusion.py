"""Fusion: one kernel from a Python function of arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from xpops.api.compilation import offer
from xpops.api.signatures import FusedFunction
from xpops.core.layouts import Layout
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch import Tensor, steady
from xpops.dispatch.direct import arrays_on, run_directly
from xpops.dispatch.fusion.results import results_of
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.gradients.rules import differentiable
from xpops.dispatch.keys import way_of
from xpops.dispatch.operands import Operands
from xpops.dispatch.primitives import call, copier
from xpops.dispatch.steady import known
from xpops.engine import engine_of, is_cuda
from xpops.engine.program import Data, Measure, Program
from xpops.engine.protocol import Engine
from xpops.plan.signature import Operand

if TYPE_CHECKING:
    from xpops.dispatch.fusion.recording import FusedRecording

__all__ = ["Fused", "fuse"]

P = ParamSpec("P")
R = TypeVar("R")


@overload
def fuse(function: Callable[P, R], /, *, round_each: bool = True) -> FusedFunction[P, R]: ...
@overload
def fuse(*, round_each: bool = True) -> Callable[[Callable[P, R]], FusedFunction[P, R]]: ...
def fuse(
    function: Callable[P, R] | None = None, /, *, round_each: bool = True
) -> FusedFunction[P, R] | Callable[[Callable[P, R]], FusedFunction[P, R]]:
    """Compile a function of arrays to one kernel, which reads each argument once and writes each result once.

    For each combination of layouts and scalar types, `function` runs once, on placeholders that record the calls. It
    may use xpops' elementwise functions, operators and reductions, and return an array or a tuple of arrays. Real
    elementwise results equal those of the function without fusion, bit for bit: dtypes promote and operators round as
    they do there. Reductions along the last axis are part of the same kernel, except for many short rows or few long
    ones. Every other reduction is a separate kernel, which also computes the elements that it reduces. Only if one
    operand is transposed relative to another, these elements are written to memory first.

    Parameters
    ----------
    function : callable
        Takes arrays of any framework and scalars; NumPy scalars become Python scalars first. A scalar argument is a
        parameter of the kernel, so other values use the same kernel. Other values that the function uses, and default
        values of arguments that are not passed, are constants of the kernel.
    round_each : bool, optional
        Whether each operator rounds to the dtype that it has without fusion. If not, float16 and bfloat16 are float32
        between the operators, `function` sees float32 arrays, and products and sums contract, unless something is
        compared with them: that is faster, and more exact. If there are reductions along rows, float32 and float64
        contract, too; a quotient by a value that was reduced along the row is a product with its inverse, within 2
        units in the last place; and factors that the elements of a row share multiply sums along the row, not each
        element, so that a sum may overflow or vanish where its terms with these factors would not. The results have
        the same dtypes, and other last bits. It changes nothing for other functions, nor on the CPU. In a fused
        function that another one calls, the other's choice counts.

    Returns
    -------
    Fused
        A function with the same arguments, by position or by name. On the CPU it calls `function`. Its method `source`
        tells without a GPU whether the function can be fused.

    Raises
    ------
    TypeError
        In the first call, if something cannot be fused: another function, a branch on elements or on a scalar
        argument, an array that is not an argument. In any call, if a power of scalar arguments has another Python type
        than ``1**1`` has, as ``2**-1`` does.
    OverflowError
        In any call, if a scalar argument is an integer that is out of range for a dtype in which it is used.

    Examples
    --------
    >>> @xp.fuse
    ... def swish(x, scale):
    ...     return x / (1 + xp.exp(-scale * x))
    >>> swish(xp.asarray([0.0, 1.0]), 2.0)
    Array([0.        , 0.88079708], dtype=float64, device='cpu')

    >>> @xp.fuse(round_each=False)
    ... def norm(x):
    ...     return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True))
    >>> norm(xp.asarray([3.0, 4.0], dtype=xp.float16)).dtype
    dtype('float16')
    """
    if function is None:
        return cast("Callable[[Callable[P, R]], FusedFunction[P, R]]", functools.partial(Fused, round_each=round_each))
    return cast("FusedFunction[P, R]", Fused(function, round_each=round_each))


class Fused:
    """A fused function, as `fuse` returns it."""

    def __init__(
        self,
        function: Callable[..., Any],
        named: tuple[str, ...] = (),
        *,
        round_each: bool = True,
        member_of: tuple[Any, ...] | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(f"fuse: function is {function!r}; accepted: a function of arrays")
        if not isinstance(round_each, bool):
            raise TypeError(f"fuse: round_each is {round_each!r}; accepted: True, False")
        functools.update_wrapper(self, function, updated=())
        self.function, self._name = function, getattr(function, "__name__", "fuse")
        # (number of positional arguments, names of the others) -> the same function with all arguments by position.
        self._by_names: dict[tuple[int, tuple[str, ...]], Fused] = {}
        # The names of the last arguments, for errors.
        self._named, self._round_each = named, round_each
        # The family that made this function, and the arguments of its `member`: `names.py` finds it by them.
        self.member_of = member_of
        # A key of plans: equal only to itself.
        self._plan = functools.partial(_plan, self)
        self._way = way_of(self._plan, ())
        differentiable(whole=self._cotangents, fuses=True)(self._plan)
        offer(self)

    def __repr__(self) -> str:
        return f"<fused {self._name}>"

    def __call__(self, /, *arguments: Any, **named: Any) -> Any:
        """The function's results."""
        if named:
            return self._by_position(len(arguments), tuple(named))(*arguments, *named.values())
        result = known(self._way, arguments)
        if result is not None:
            return result
        if _is_plain_call(arguments):
            return self.function(*arguments)
        return call(self._plan, self._name, self._names(arguments), arguments)

    def known(self, *arguments: Any) -> Any:
        """The results of a call like an earlier one; None if there was none."""
        return known(self._way, arguments)

    def _by_position(self, count: int, names: tuple[str, ...]) -> Fused:
        """The same function with all arguments by position: first `count`, then those that were passed by `names`."""
        found = self._by_names.get((count, names))
        if found is None:

            @functools.wraps(self.function)
            def call_by_position(*values: Any) -> Any:
                return self.function(*values[:count], **dict(zip(names, values[count:], strict=True)))

            found = Fused(call_by_position, names, round_each=self._round_each)
            self._by_names[count, names] = found
        return found

    def _cotangents(self, xp: object, g: Any, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        """The cotangents of the arguments."""
        from xpops.dispatch.gradients.expressions import cotangents_of

        return cotangents_of(self._name, self.function, g if isinstance(g, tuple) else (g,), operands)

    def _names(self, arguments: tuple[Any, ...]) -> tuple[str, ...]:
        """The names of the arguments in errors."""
        return (*(f"arguments[{number}]" for number in range(len(arguments) - len(self._named))), *self._named)

    def source(self, /, *arguments: Any, **named: Any) -> str:
        """The C++ of the kernels that compute the function of such arguments. Needs no GPU.

        Examples
        --------
        >>> text = xp.fuse(lambda x: x * x + 1).source(xp.zeros(8, dtype=xp.float32))
        >>> print(text[text.index("    const") : text.index("    return")])
            const float v1 = cast<float>(mul_rn(cast<float>(v0), cast<float>(v0)));
            const float v2 = cast<float>(add_rn(cast<float>(v1), cast<float>(double(0x1.0000000000000p+0))));
        <BLANKLINE>
        """
        if named:
            return self._by_position(len(arguments), tuple(named)).source(*arguments, *named.values())
        from xpops.dispatch.fusion.programs import sources

        operands = Operands(self._name, self._names(arguments), arguments)
        operands.release()
        return "\n".join(sources(self._record(operands.specs)))

    def _record(self, specs: tuple[Operand, ...]) -> FusedRecording:
        """The recording of a call."""
        # Imported here, because they take long to import and only GPUs need them.
        from xpops.dispatch.fusion.recording import record
        from xpops.dispatch.fusion.widening import without_rounding

        function = self.function if self._round_each else without_rounding(self._name, self.function, specs)
        return record(self._name, function, specs, exact=self._round_each)


def _is_plain_call(arguments: tuple[Any, ...]) -> bool:
    """Whether to call the function itself: inside another fused function, or for xpops arrays on the CPU."""
    if any(isinstance(x, Traced) for x in arguments):
        return True
    arrays = [x for x in arguments if x.__class__ not in SCALAR_TYPES]
    own = steady.array_class
    return bool(arrays) and all(x.__class__ is own and not is_cuda(engine_of(x._layout.device)) for x in arrays)


def _plan(fused: Fused, engine: Engine, specs: tuple[Operand, ...]) -> Program | Measure:
    if not is_cuda(engine):
        return functools.partial(run_directly, fused._name, fused.function, specs)
    from xpops.dispatch.fusion.programs import program

    return program(engine, fused._record(specs), fused._names(specs))


def plan_expression(
    engine: Engine, name: str, function: Callable[..., Any], specs: tuple[Layout, ...], outs: tuple[Layout, ...] = ()
) -> Program:
    """The program of an elementwise expression of arrays, as a part of another plan: one kernel on a GPU.

    Parameters
    ----------
    name : str
        The public function.
    function : callable
        Takes one array for each of `specs`, and reads all of them.
    outs : tuple of Layout, optional
        Where the results go, such as views of one array. By default they are dense.
    """
    from xpops.dispatch.fusion.recording import record

    recorded = record(name, function, specs)
    layouts = outs or recorded.layouts
    if is_cuda(engine):
        from xpops.engine.cuda.fused.elementwise import fused

        (part,) = recorded.parts
        return Program(layouts, fused(engine, part.expression, layouts))
    copies = [copier(*each) for each in zip(recorded.layouts, layouts, strict=True)]

    def kernel(stream: int, *data: Data) -> None:
        results = results_of(name, function(*arrays_on(specs, data[len(layouts) :])), Tensor)
        for copy, out, result in zip(copies, data, results, strict=False):
            copy(stream, out, result._data)

    return Program(layouts, kernel)
