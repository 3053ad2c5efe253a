"""The rows of the scans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.ops.accuracy import share_of_running_product, share_of_running_sum
from xpops.ops.derivatives.elementwise import Derivative
from xpops.ops.derivatives.scans import DERIVATIVES
from xpops.ops.torch import NARROW
from xpops.ops.torch import TorchFunction as Torch


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """One scan along an axis, as data. Rows hash by identity: they are keys of the plan cache.

    Attributes
    ----------
    name : str
        The public name; the scanner in ``native/xpops/math/scan.cuh`` has this name in CamelCase.
    accepts : str
        The category of dtypes it takes. A scan of floating-point dtypes converts integers and booleans to the default
        floating-point dtype.
    initial : int
        The result before the first element.
    share : callable
        The accuracy promised of a result for the elements up to it (`xpops.ops.accuracy`).
    domain : str
        The values for which results are ordinary numbers, from which tests draw: "finite" or "unit" (between -1 and 1).
    reverse : bool
        Whether it runs from the end of the axis to its beginning. Kernels may then put zeros before the first element
        of the scan, which must not change the results.
    state : int
        The numbers in the state of a run of elements: 1 for a sum, 2 for a recurrence (a factor and a sum).
    ufunc : numpy.ufunc or None
        The NumPy ufunc that accumulates elements on the CPU; None for a recurrence.
    torch : TorchFunction or None
        What computes it on torch's tensors in the host's memory. It takes the axis, too.
    """

    name: str
    accepts: str
    initial: int
    share: Callable[[DType, int], float]
    domain: str = "finite"
    reverse: bool = False
    state: int = 1
    ufunc: np.ufunc | None = None
    torch: Torch | None = None

    @property
    def functor(self) -> str:
        """The scanner's name in C++."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def derivative(self) -> Derivative:
        """The derivative by the operand."""
        return DERIVATIVES[self.name]

    def __repr__(self) -> str:
        return f"<scan {self.name}>"


_WIDE = frozenset((dt.int64, dt.float64))

_ROWS = (
    Scan(
        "cumulative_prod",
        "arithmetic",
        1,
        share_of_running_product,
        "unit",
        ufunc=np.multiply,
        torch=Torch("cumprod", _WIDE, NARROW),
    ),
    Scan("cumulative_sum", "arithmetic", 0, share_of_running_sum, ufunc=np.add, torch=Torch("cumsum", _WIDE, NARROW)),
    Scan("discounted_cumsum", "real floating-point", 0, share_of_running_sum, reverse=True, state=2),
)

SCANS: dict[str, Scan] = {row.name: row for row in _ROWS}


def scan_dtype(op: Scan, dtype: DType, given: DType | None = None) -> DType:
    """The result's dtype, to which elements are converted first; `given` is the caller's choice.

    Raises
    ------
    TypeError
        If the scan does not take `dtype`, or cannot give `given`.

    Examples
    --------
    >>> scan_dtype(SCANS["cumulative_sum"], dt.int8), scan_dtype(SCANS["cumulative_sum"], dt.float16)
    (dtype('int64'), dtype('float16'))
    """
    floating = op.accepts == "real floating-point"
    accepted = dt.CATEGORIES[op.accepts] | (dt.CATEGORIES["integer or boolean"] if floating else frozenset())
    if dtype not in accepted:
        names = ", ".join(each.name for each in dt.INFO if each in accepted)
        raise TypeError(f"{op.name}: dtype {dtype} is not accepted; accepted: {names}")
    if given is not None:
        if given not in dt.CATEGORIES["numeric"] or (dtype in dt.COMPLEX_FLOATS and given not in dt.COMPLEX_FLOATS):
            kind = "complex" if dtype in dt.COMPLEX_FLOATS else "numeric"
            raise TypeError(f"{op.name}: dtype is {given} for an array of {dtype}; accepted: {kind} dtypes")
        return given
    if dtype not in dt.CATEGORIES["integer or boolean"]:
        return dtype
    if floating:
        return dt.DEFAULT_FLOAT
    return dt.uint64 if dtype in dt.UNSIGNED_INTEGERS else dt.DEFAULT_INTEGER
