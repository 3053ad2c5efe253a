"""The rows of the reductions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.ops.accuracy import share_of_deviations, share_of_product, share_of_sum
from xpops.ops.derivatives.elementwise import Derivative
from xpops.ops.derivatives.reductions import DERIVATIVES
from xpops.ops.functions import where
from xpops.ops.torch import NARROW, REAL
from xpops.ops.torch import TorchFunction as Torch

NDArray = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """One reduction, as data. Rows hash by identity: they are keys of the plan cache.

    Attributes
    ----------
    name : str
        The reducer in ``native/`` has this name in CamelCase.
    accepts : str
        The category of dtypes it takes. A reduction of floating-point dtypes converts integers and booleans to the
        default floating-point dtype.
    result : {"sum", "own", "real", "bool", "index"}
        The result's dtype. "sum": int64 or uint64 for integers and booleans, else the operand's dtype. "own": the
        operand's dtype. "real": its real counterpart. "bool": bool. "index": the default integer dtype.
    cpu : callable
        What computes it on the CPU. A NumPy ufunc combines elements block by block, in a wider dtype. Any other
        function takes an array and the axes; if `positional`, one axis, or None for all.
    empty : scalar or None
        The result of no elements; None if there is none.
    term : callable or None
        The function of each element that `cpu`, a ufunc, combines; None: the element itself.
    truth : bool
        Whether elements are converted to bool first.
    idempotent : bool
        Whether elements count once, however often they are repeated.
    positional : bool
        Whether the result is a position along the reduced axis.
    averages : bool
        Whether a sum is divided by the number of elements.
    dispersion : bool
        Whether the state is a count, a mean and a sum of squared deviations.
    root : bool
        Whether the result is the square root of the variance.
    compensated : frozenset of DType
        The dtypes in which more than `MANY` elements are reduced by the functor ``Compensated<name>``.
    share : callable or None
        The accuracy promised (`xpops.ops.accuracy`); None: no result needs rounding.
    domain : str
        The values for which results are ordinary numbers, from which tests draw: "any", "finite", "unit" (between -1
        and 1) or "small" (integers around 0, of which some are 0).
    torch : TorchFunction or None
        What computes it on torch's tensors in the host's memory. It takes the axes and whether to keep them, too.
    core : str
        The compiled core's reducer (``native/cpu/reduce.c``), which computes it for float32 and narrower dtypes.
    function : str
        The public function; by default its name is that of the row.
    """

    name: str
    accepts: str
    result: Literal["sum", "own", "real", "bool", "index"]
    cpu: Callable[..., Any]
    empty: bool | float | None = None
    term: Callable[..., Any] | None = None
    truth: bool = False
    idempotent: bool = False
    positional: bool = False
    averages: bool = False
    dispersion: bool = False
    root: bool = False
    compensated: frozenset[DType] = frozenset()
    share: Callable[[DType, int], float] | None = None
    domain: str = "any"
    torch: Torch | None = None
    core: str = ""
    function: str = ""

    @property
    def public(self) -> str:
        """The name of the public function, for errors."""
        return self.function or self.name

    @property
    def functor(self) -> str:
        """The reducer's name in C++."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def derivative(self) -> Derivative | None:
        """The derivative by the operand; None if there is none."""
        return DERIVATIVES.get(self.name)

    @property
    def is_constant(self) -> bool:
        """Whether results are booleans or integers, which have no derivatives."""
        return self.result in ("bool", "index")

    @property
    def header(self) -> str:
        """The header in ``native/xpops/math/`` that holds the reducer."""
        return "position" if self.positional else "moments" if self.dispersion else "reduction"

    def __repr__(self) -> str:
        return f"<reduction {self.name}>"


_NAN = float("nan")
# A sum of halves, in float32, needs no second number.
_EXACT = frozenset((dt.float32, dt.float64, *dt.COMPLEX_FLOATS))

_deviations = partial(
    Reduction,
    accepts="floating-point",
    result="real",
    cpu=np.add,
    empty=_NAN,
    averages=True,
    dispersion=True,
    share=share_of_deviations,
    domain="finite",
)

# Integers are added modulo 2**64 in any order.
_SUM = Torch("sum", frozenset((dt.int64,)), wide=NARROW)

_ROWS = (
    Reduction("all", "arithmetic", "bool", np.all, True, truth=True, idempotent=True, domain="small"),
    Reduction("any", "arithmetic", "bool", np.any, False, truth=True, idempotent=True, domain="small"),
    Reduction("argmax", "real-valued", "index", np.argmax, positional=True),
    Reduction("argmin", "real-valued", "index", np.argmin, positional=True),
    Reduction("count_nonzero", "arithmetic", "index", np.count_nonzero, 0, truth=True, domain="small"),
    Reduction("max", "real-valued", "own", np.max, idempotent=True, torch=Torch("amax", REAL)),
    Reduction(
        "mean", "floating-point", "own", np.add, _NAN, averages=True, compensated=_EXACT, share=share_of_sum, core="sum"
    ),
    Reduction("min", "real-valued", "own", np.min, idempotent=True, torch=Torch("amin", REAL)),
    Reduction(
        "prod",
        "arithmetic",
        "sum",
        np.multiply,
        1,
        compensated=frozenset((dt.float32,)),
        share=share_of_product,
        domain="unit",
        core="prod",
    ),
    _deviations("std", root=True),
    Reduction("sum", "arithmetic", "sum", np.add, 0, compensated=_EXACT, share=share_of_sum, torch=_SUM, core="sum"),
    _deviations("var"),
)

REDUCTIONS: dict[str, Reduction] = {row.name: row for row in _ROWS}

# The sum of float32 numbers for a result that is rounded to 16 bits, which does not show their rounding errors.
SHORT_SUM = replace(REDUCTIONS["sum"], compensated=frozenset())


def _find_number(search: Callable[..., NDArray], x: NDArray, axis: int | None) -> NDArray:
    """The position of the first extreme number; -1 where there are NaNs only."""
    numbers = ~np.isnan(x)
    extreme = (np.fmax if search is np.argmax else np.fmin).reduce(x, axis=axis, keepdims=True)
    found = np.asarray(np.argmax((x == extreme) & numbers, axis=axis))
    return np.where(np.any(numbers, axis=axis), found, -1)


# Positions of numbers among NaNs; -1 where there are NaNs only. The public functions look for it.
NUMBER_POSITIONS: dict[str, Reduction] = {
    name: Reduction(name, "real-valued", "index", partial(_find_number, search), positional=True)
    for name, search in (("nanargmax", np.argmax), ("nanargmin", np.argmin))
}

_sum_of_terms = partial(Reduction, accepts="arithmetic", result="sum", cpu=np.add, empty=0, share=share_of_sum)

# Reductions of functions of elements, which the host computes without a temporary array. A GPU fuses the functions.
HOST_REDUCTIONS: dict[str, Reduction] = {
    row.name: row
    for row in (
        Reduction(
            "nanprod",
            "arithmetic",
            "sum",
            np.multiply,
            1,
            term=lambda x: where(x == x, x, np.ones_like(x)),
            share=share_of_product,
            core="nanprod",
        ),
        _sum_of_terms("nansum", term=lambda x: where(x == x, x, np.zeros_like(x)), core="nansum"),
        _sum_of_terms("sum_of_sizes", term=np.abs, core="sum_of_sizes", function="vector_norm"),
        _sum_of_terms("sum_of_squares", term=np.square, core="sum_of_squares", function="vector_norm"),
    )
}


def reduction_dtypes(op: Reduction, dtype: DType, given: DType | None = None) -> tuple[DType, DType]:
    """The dtype to which elements are converted first, and the result's dtype; `given` is the caller's choice for both.

    Raises
    ------
    TypeError
        If the reduction does not take the dtype.

    Examples
    --------
    >>> reduction_dtypes(REDUCTIONS["sum"], dt.int8)
    (dtype('int64'), dtype('int64'))
    """
    loop = given if given is not None else dtype
    if op.accepts == "floating-point" and loop in dt.CATEGORIES["integer or boolean"]:
        loop = dt.DEFAULT_FLOAT
    if loop not in dt.CATEGORIES[op.accepts] or dtype not in dt.CATEGORIES["arithmetic"]:
        names = ", ".join(each.name for each in dt.INFO if each in dt.CATEGORIES[op.accepts])
        raise TypeError(
            f"{op.name}: dtype {loop if dtype == loop else f'{dtype} as {loop}'} is not accepted; accepted: {names}"
        )
    if dtype in dt.COMPLEX_FLOATS and loop not in dt.COMPLEX_FLOATS:
        raise TypeError(f"{op.name}: dtype is {loop} for {dtype}; accepted: complex dtypes; take xp.real first")
    if op.result == "sum" and given == dt.bool:
        raise TypeError(f"{op.name}: dtype bool is not accepted; accepted: numeric dtypes")
    if op.result == "sum" and given is None:
        if loop in dt.UNSIGNED_INTEGERS:
            loop = dt.uint64
        elif loop in dt.CATEGORIES["integer or boolean"]:
            loop = dt.DEFAULT_INTEGER
    result = {"bool": dt.bool, "index": dt.DEFAULT_INTEGER, "real": dt.REAL_OF.get(loop, loop)}.get(op.result, loop)
    return (dt.bool if op.truth else loop), result
