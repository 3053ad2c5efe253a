"""Dtypes: what is accepted, their names, and the standard's categories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from xpops.core import dtypes as dt
from xpops.core.dtypes import as_dtype

TYPES = Path(__file__).resolve().parents[2] / "native" / "xpops" / "core" / "types.cuh"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.float32, dt.float32),
        (np.dtype("float32"), dt.float32),
        ("float32", dt.float32),
        ("f4", dt.float32),
        (bool, dt.bool),
        (int, dt.int64),
        (float, dt.float64),
        (complex, dt.complex128),
        ("bool", dt.bool),
        ("bfloat16", dt.bfloat16),
        (ml_dtypes.bfloat16, dt.bfloat16),
        ("float8_e4m3fn", dt.float8_e4m3fn),
        (ml_dtypes.float8_e5m2, dt.float8_e5m2),
    ],
)
def test_what_names_a_dtype(given: Any, expected: Any) -> None:
    assert as_dtype(given) is expected


@pytest.mark.parametrize(
    "given", [None, "float33", "", "U3", "S", "O", object, str, "datetime64[s]", 3, [], "i4,f4", np.longdouble, ">f4"]
)
def test_what_does_not(given: Any) -> None:
    with pytest.raises(TypeError, match=r"zeros: dtype .* is not supported; accepted: bool, int8, .*float8_e5m2"):
        as_dtype(given, "zeros")


def test_dtypes_are_numpys_own_and_hash_alike() -> None:
    assert all(isinstance(dtype, np.dtype) for dtype in dt.INFO)
    assert dt.INFO[np.dtype("float32")].c_type == "float"
    assert len(dt.INFO) == 17


def test_names_in_dlpack_are_as_wide_as_the_dtype() -> None:
    for dtype, info in dt.INFO.items():
        code, bits = info.dlpack
        assert bits == 8 * dtype.itemsize
        if dtype.isbuiltin == 1:  # NumPy's own dtypes; those of ml_dtypes have other codes
            assert code == {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}[dtype.kind]
    pairs = [info.dlpack for info in dt.INFO.values()]
    assert len(set(pairs)) == len(pairs)


def test_names_in_cpp_are_declared() -> None:
    text = TYPES.read_text()
    for info in dt.INFO.values():
        name = info.c_type.partition("<")[0]
        assert name in ("bool", "float", "double") or name in text


CATEGORIES = {
    # category: the kinds of its dtypes, as the standard's chapter "Data Types" has them
    "boolean": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integer": "iu",
    "integer or boolean": "biu",
    "real floating-point": "f",
    "complex floating-point": "c",
    "floating-point": "fc",
    "real-valued": "iuf",
    "numeric": "iufc",
    "arithmetic": "biufc",
}


@pytest.mark.parametrize("category", CATEGORIES)
def test_categories(category: str) -> None:
    def kind(dtype: Any) -> str:
        return "f" if dtype == dt.bfloat16 else dtype.kind

    expected = {dtype for dtype in dt.INFO if dtype not in dt.FLOAT8 and kind(dtype) in CATEGORIES[category]}
    assert dt.CATEGORIES[category] == expected


def test_any_holds_float8_too() -> None:
    assert dt.CATEGORIES["any"] == set(dt.INFO)
    assert set(dt.CATEGORIES) == {*CATEGORIES, "any"}


def test_kinds_are_the_standards() -> None:
    assert set(dt.KINDS) == {
        "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric",
    }  # fmt: skip


def test_real_and_complex_counterparts() -> None:
    for cplx, real in dt.REAL_OF.items():
        assert np.zeros(0, cplx).real.dtype == real
        assert dt.COMPLEX_OF[real] == cplx
