"""The promotion table, and the rules for Python scalars in calls with arrays."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from itertools import product

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

SCALAR_TYPES: tuple[type, ...] = (builtins.bool, int, float, complex)


def _build_table() -> dict[tuple[DType, DType], DType]:
    signed, unsigned = dt.SIGNED_INTEGERS, dt.UNSIGNED_INTEGERS
    integers = signed + unsigned
    table = {(d, d): d for d in dt.CATEGORIES["arithmetic"]}
    ladders: tuple[tuple[DType, ...], ...] = (
        signed,
        unsigned,
        (dt.float16, dt.float32, dt.float64),
        dt.COMPLEX_FLOATS,
    )
    for row in ladders:
        for (i, x), (j, y) in product(enumerate(row), repeat=2):
            table[x, y] = row[max(i, j)]
    for (i, s), (j, u) in product(enumerate(signed), enumerate(unsigned)):
        # The smallest signed dtype that holds both. None holds int64 and uint64: float64, as in NumPy.
        wide = max(i, j + 1)
        table[s, u] = signed[wide] if wide < 4 else dt.float64
    table[dt.bfloat16, dt.float16] = dt.float32
    for wide_float in (dt.float32, dt.float64):
        table[dt.bfloat16, wide_float] = wide_float
    for real in dt.REAL_FLOATS:
        table[real, dt.complex64] = dt.complex128 if real == dt.float64 else dt.complex64
        table[real, dt.complex128] = dt.complex128
    # Mixed kinds are unspecified in the standard. Here the "higher" kind decides: int64 and float32 give float32.
    for integer in integers:
        table[dt.bool, integer] = integer
    for low, high in product((dt.bool, *integers), dt.REAL_FLOATS + dt.COMPLEX_FLOATS):
        table[low, high] = high
    table.update({(y, x): result for (x, y), result in table.items()})
    return table


TABLE = _build_table()


def scalar_dtype(kind: type, dtype: DType | None) -> DType:
    """The dtype that an array of `dtype` and a Python scalar of type `kind` promote to.

    If `dtype` is None, there is no array: the result is the default dtype of the kind.
    """
    if kind is builtins.bool:
        return dtype or dt.bool
    if kind is int:
        # Not "dtype in (None, dt.bool)": NumPy says that float64 == None.
        return dt.DEFAULT_INTEGER if dtype is None or dtype == dt.bool else dtype
    if dtype is None or dtype in dt.CATEGORIES["integer or boolean"]:
        return dt.DEFAULT_FLOAT if kind is float else dt.DEFAULT_COMPLEX
    return dt.COMPLEX_OF[dtype] if kind is complex and dtype in dt.REAL_FLOATS else dtype


def _is_inexact(dtype: DType) -> builtins.bool:
    return dtype not in dt.CATEGORIES["integer or boolean"]


def promote(operands: Iterable[DType | type], function: str = "result_type") -> DType:
    """The common dtype of dtypes and Python scalar types.

    Parameters
    ----------
    operands : iterable of numpy.dtype or of bool, int, float, complex
        Arrays by their dtype, Python scalars by their type.
    function : str
        The public function to name in the error.

    Raises
    ------
    TypeError
        If there is no operand, or the table has no entry for a pair (float8 with anything else).

    Examples
    --------
    >>> promote([dt.int32, dt.float32]), promote([dt.float32, float])
    (dtype('float32'), dtype('float32'))
    """
    operands = list(operands)
    result: DType | None = None
    scalars = [operand for operand in operands if isinstance(operand, type)]
    # Integers and booleans first: a float between two integers must not change the common dtype of these.
    arrays = sorted((operand for operand in operands if not isinstance(operand, type)), key=_is_inexact)
    for operand in arrays:
        if result is None:
            result = operand
        elif operand != result:
            try:
                result = TABLE[result, operand]
            except KeyError:
                raise TypeError(
                    f"{function}: {result} and {operand} have no common dtype; convert one with astype"
                ) from None
    for scalar in scalars:
        if result in dt.FLOAT8:
            raise TypeError(f"{function}: {result} is for storage and casts only; convert with astype first")
        result = scalar_dtype(scalar, result)
    if result is None:
        raise TypeError(f"{function}: at least one array, dtype or Python scalar is required")
    return result
