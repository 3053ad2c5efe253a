"""Python functions as one kernel."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from xpops.api.signatures import FusedFunction
from xpops.core.devices import CPU
from xpops.core.layouts import Layout, layout_of
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch import Tensor, state
from xpops.dispatch.fusing import program, record, results_of, sources
from xpops.dispatch.keys import call_key
from xpops.dispatch.operands import Operands
from xpops.dispatch.primitives import compute
from xpops.dispatch.state import inline, launches
from xpops.dispatch.traced_arrays import Traced
from xpops.engine.protocol import Data, Engine, Measure, Program
from xpops.plan.signature import Operand

if TYPE_CHECKING:
    from xpops.engine.cuda.engine import CudaEngine

__all__ = ["Fused", "fuse"]

P = ParamSpec("P")
R = TypeVar("R")


def fuse(function: Callable[P, R], /) -> FusedFunction[P, R]:
    """Make a function of elements one kernel: each argument is read once, each result written once.

    The function is run once for each kind of arguments, on values without elements, which record what is computed. It
    may use xpops' elementwise functions, operators and reductions, and return an array or a tuple of them. Real
    elementwise results are those of the function itself, bit for bit: dtypes promote and every operator rounds as
    always. Reductions along the last axis are part of the one kernel, but for many short rows and few long ones; any
    other is a kernel of its own, which computes what it reduces. Only where an operand lies across another, transposed,
    is that written first.

    Parameters
    ----------
    function : callable
        Of arrays of any framework and Python scalars; NumPy's scalars become Python's first. A scalar argument is a
        parameter of the kernel, which other values use again. What the function names otherwise, and a default that no
        argument replaces, is a constant.

    Returns
    -------
    Fused
        A function of the same arguments, by their places or names. On the CPU it just calls `function`; its method
        `source` says there, too, whether it can be fused.

    Raises
    ------
    TypeError
        In the first call of a kind, if something cannot be fused: any other function, a branch on elements or on a
        scalar argument, an array that is no argument. In any call, if a power of scalar arguments is of another kind
        than that of ones, like ``2**-1``.
    OverflowError
        In any call, if a scalar argument is an integer that a dtype it is used as cannot hold.

    Examples
    --------
    >>> @xp.fuse
    ... def swish(x, scale):
    ...     return x / (1 + xp.exp(-scale * x))
    >>> swish(xp.asarray([0.0, 1.0]), 2.0)
    Array([0.        , 0.88079708], dtype=float64, device='cpu')
    """
    return cast("FusedFunction[P, R]", Fused(function))


class Fused:
    """What `fuse` returns."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"fuse: function is {function!r}; accepted: a function of arrays")
        functools.update_wrapper(self, function, updated=())
        self.function, self._name = function, getattr(function, "__name__", "fuse")
        # For each kind of call with arguments by names: the function of all of them by their places, the last of which
        # have these names.
        self._by_names: dict[tuple[int, tuple[str, ...]], Fused] = {}
        self._named: tuple[str, ...] = ()
        # Equal and hashed by identity: they are keys of plans.
        self._plan = functools.partial(_plan, self)

    def __repr__(self) -> str:
        return f"<fused {self._name}>"

    def __call__(self, /, *arguments: Any, **named: Any) -> Any:
        """The function's results."""
        if named:
            return self._by_position(len(arguments), tuple(named))(*arguments, *named.values())
        cls = state.array_class
        specs = tuple([x._layout if x.__class__ is cls else x.__class__ for x in arguments])
        launch = launches.get(call_key(self._plan, specs))
        if launch is not None:
            return launch(*[x._data if x.__class__ is cls else x for x in arguments])
        if _is_plain_call(arguments):
            return self.function(*arguments)
        if len(arguments) in (1, 2) and arguments[0].__class__ in inline:
            result = inline[arguments[0].__class__].call(call_key(self._plan, ()), *(*arguments, None)[:2], None)
            if result is not None:
                return result
        return compute(self._plan, self._name, self._names(arguments), arguments, steady=True)

    def _by_position(self, count: int, names: tuple[str, ...]) -> Fused:
        """The function of `count` arguments, and of those with names behind them."""
        found = self._by_names.get((count, names))
        if found is None:

            @functools.wraps(self.function)
            def call_by_position(*values: Any) -> Any:
                return self.function(*values[:count], **dict(zip(names, values[count:], strict=True)))

            found = Fused(call_by_position)
            found._named = names
            self._by_names[count, names] = found
        return found

    def _names(self, arguments: tuple[Any, ...]) -> tuple[str, ...]:
        """What errors call the arguments."""
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
        operands = Operands(self._name, self._names(arguments), arguments)
        operands.release()
        return "\n".join(sources(record(self._name, self.function, operands.specs)))


def _is_plain_call(arguments: tuple[Any, ...]) -> bool:
    """Whether the function itself answers: inside of another one, or for our own arrays on the CPU and scalars."""
    if any(isinstance(x, Traced) for x in arguments):
        return True
    arrays = [x for x in arguments if x.__class__ not in SCALAR_TYPES]
    return bool(arrays) and all(x.__class__ is state.array_class and x._layout.device == CPU for x in arrays)


def _plan(fused: Fused, engine: Engine, specs: tuple[Operand, ...]) -> Program | Measure:
    if any(isinstance(spec, Layout) and spec.device == CPU for spec in specs):
        return functools.partial(_run_on_cpu, fused, specs)
    recorded = record(fused._name, fused.function, specs)
    return program(cast("CudaEngine", engine), recorded, fused._names(specs))


def _run_on_cpu(fused: Fused, specs: tuple[Operand, ...], stream: int, *values: Any) -> Program:
    """On the CPU, for arrays of other frameworks: the function itself."""
    arguments = (
        state.array_class(spec, value, None) if isinstance(spec, Layout) else value
        for spec, value in zip(specs, values, strict=True)
    )
    results = results_of(fused._name, fused.function(*arguments), Tensor)

    def copy(stream: int, *data: Data) -> None:
        for out, result in zip(data, results, strict=False):
            out[...] = result._data

    return Program(tuple(layout_of(each._layout.dtype, each._layout.shape, None, CPU) for each in results), copy)
