"""The promotion table against the standard's, written out, and against NumPy where both define a pair."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xpops.core import dtypes as dt
from xpops.core.promotion import TABLE, promote, scalar_dtype

ARITHMETIC = [dtype for dtype in dt.INFO if dtype not in dt.FLOAT8]
INTEGERS = dt.SIGNED_INTEGERS + dt.UNSIGNED_INTEGERS
NAMES = {"i1": dt.int8, "i2": dt.int16, "i4": dt.int32, "i8": dt.int64} | {
    "u1": dt.uint8, "u2": dt.uint16, "u4": dt.uint32, "u8": dt.uint64,
    "f4": dt.float32, "f8": dt.float64, "c8": dt.complex64, "c16": dt.complex128,
}  # fmt: skip

# The chapter "Type Promotion Rules", table by table. Columns are in the first line.
STANDARD = [
    """    i1 i2 i4 i8
       i1 i1 i2 i4 i8
       i2 i2 i2 i4 i8
       i4 i4 i4 i4 i8
       i8 i8 i8 i8 i8""",
    """    u1 u2 u4 u8
       u1 u1 u2 u4 u8
       u2 u2 u2 u4 u8
       u4 u4 u4 u4 u8
       u8 u8 u8 u8 u8""",
    """    u1 u2 u4
       i1 i2 i4 i8
       i2 i2 i4 i8
       i4 i4 i4 i8
       i8 i8 i8 i8""",
    """    f4 f8 c8 c16
       f4 f4 f8 c8 c16
       f8 f8 f8 c16 c16
       c8 c8 c16 c8 c16
       c16 c16 c16 c16 c16""",
]


def standard_pairs() -> list[tuple[Any, Any, Any]]:
    found = [(dt.bool, dt.bool, dt.bool)]
    for table in STANDARD:
        columns, *lines = (line.split() for line in table.splitlines())
        for row, *results in lines:
            found += [
                (NAMES[row], NAMES[column], NAMES[result]) for column, result in zip(columns, results, strict=True)
            ]
    return found


@pytest.mark.parametrize(("x", "y", "result"), standard_pairs(), ids=str)
def test_the_standards_tables(x: Any, y: Any, result: Any) -> None:
    assert promote([x, y]) == promote([y, x]) == result


def test_the_table_holds_every_pair_but_float8() -> None:
    assert set(TABLE) == set(product(ARITHMETIC, repeat=2))
    assert set(TABLE.values()) <= set(ARITHMETIC)


@pytest.mark.parametrize("dtype", dt.INFO, ids=str)
def test_idempotent(dtype: Any) -> None:
    assert promote([dtype]) == promote([dtype, dtype]) == dtype


def test_symmetric() -> None:
    assert all(TABLE[x, y] == TABLE[y, x] for x, y in TABLE)


def test_numpys_where_both_keep_the_kind() -> None:
    for x, y in TABLE:
        mixed_kinds = (x.kind in "biu") != (y.kind in "biu")
        if mixed_kinds or dt.bfloat16 in (x, y) or {x, y} == {dt.int64, dt.uint64}:
            continue
        assert TABLE[x, y] == np.result_type(x, y), (x, y)


def test_mixed_kinds_take_the_floating_dtype() -> None:
    for low, high in product((dt.bool, *INTEGERS), dt.REAL_FLOATS + dt.COMPLEX_FLOATS):
        assert promote([low, high]) == high


@pytest.mark.parametrize(
    ("x", "y", "result"),
    [
        (dt.float16, dt.bfloat16, dt.float32),
        (dt.bfloat16, dt.float32, dt.float32),
        (dt.bfloat16, dt.float64, dt.float64),
        (dt.float16, dt.float32, dt.float32),
        (dt.bfloat16, dt.complex64, dt.complex64),
        (dt.float16, dt.complex128, dt.complex128),
        (dt.float64, dt.complex64, dt.complex128),
        (dt.uint64, dt.int64, dt.float64),
        (dt.uint64, dt.int8, dt.float64),
    ],
    ids=str,
)
def test_beyond_the_standard(x: Any, y: Any, result: Any) -> None:
    assert promote([x, y]) == promote([y, x]) == result


@pytest.mark.parametrize(
    ("dtypes", "result"),
    [
        ((dt.uint8, dt.int8, dt.int16), dt.int16),
        ((dt.uint64, dt.int64, dt.float32), dt.float64),
        ((dt.uint64, dt.int64, dt.float16, dt.bool), dt.float64),
        ((dt.uint64, dt.int8, dt.bfloat16), dt.float64),
        ((dt.uint64, dt.int64, dt.complex64), dt.complex128),
        ((dt.uint8, dt.int8, dt.float16), dt.float16),
        ((dt.float16, dt.bfloat16, dt.int64), dt.float32),
    ],
    ids=str,
)
def test_several_do_not_depend_on_the_order(dtypes: tuple[Any, ...], result: Any) -> None:
    """Two integers may promote to float64. A float between them must not be promoted with one of them first."""
    for order in permutations(dtypes):
        assert promote(order) == result


@given(st.lists(st.sampled_from(ARITHMETIC), min_size=3, max_size=5), st.randoms())
def test_any_do_not_depend_on_the_order(dtypes: list[Any], random: Any) -> None:
    shuffled = random.sample(dtypes, len(dtypes))
    assert promote(shuffled) == promote(dtypes)


PYTHON = {
    # For a scalar's type, the result with each kind of dtype; None means the dtype itself
    bool: {"b": None, "i": None, "u": None, "f": None, "c": None},
    int: {"b": dt.int64, "i": None, "u": None, "f": None, "c": None},
    float: {"b": dt.float64, "i": dt.float64, "u": dt.float64, "f": None, "c": None},
}


@pytest.mark.parametrize("dtype", ARITHMETIC, ids=str)
@pytest.mark.parametrize("kind", PYTHON)
def test_python_scalars_are_weak(kind: type, dtype: Any) -> None:
    letter = "f" if dtype == dt.bfloat16 else dtype.kind
    expected = PYTHON[kind][letter] or dtype
    assert promote([dtype, kind]) == promote([kind, dtype]) == expected


@pytest.mark.parametrize("dtype", ARITHMETIC, ids=str)
def test_python_complex_beside_arrays(dtype: Any) -> None:
    expected = {
        dt.float16: dt.complex64,
        dt.bfloat16: dt.complex64,
        dt.float32: dt.complex64,
        dt.complex64: dt.complex64,
    }.get(dtype, dt.complex128)
    assert promote([dtype, complex]) == expected


def test_python_scalars_alone_have_the_default_dtypes() -> None:
    assert [scalar_dtype(kind, None) for kind in (bool, int, float, complex)] == [
        dt.bool, dt.int64, dt.float64, dt.complex128,
    ]  # fmt: skip
    assert promote([int, float]) == dt.float64
    assert promote([bool, int]) == dt.int64


def test_scalars_come_after_all_arrays() -> None:
    assert promote([float, dt.int8, dt.float32]) == dt.float32
    assert promote([dt.uint8, int, dt.int16]) == dt.int16


@pytest.mark.parametrize("float8", dt.FLOAT8, ids=str)
def test_float8_is_refused_beside_anything(float8: Any) -> None:
    for other in dt.INFO:
        if other != float8:
            with pytest.raises(TypeError, match=r"add: .* have no common dtype; convert one with astype"):
                promote([float8, other], "add")
    for kind in (bool, int, float, complex):
        with pytest.raises(TypeError, match=f"add: {float8} is for storage and casts only; convert with astype first"):
            promote([float8, kind], "add")


def test_nothing_to_promote() -> None:
    with pytest.raises(TypeError, match="result_type: at least one array, dtype or Python scalar is required"):
        promote([])
