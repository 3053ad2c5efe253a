"""Signatures of calls, and errors: each names the operator, the operand and what is accepted."""

from __future__ import annotations

from typing import Any

import pytest

from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.core.errors import CompileError
from xpops.core.layouts import Layout, layout_of
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.plan.signature import Signature, signature_of


def array(dtype: Any, *shape: int) -> Layout:
    return layout_of(dtype, shape, None, CPU)


F32, C64, I8, BOOL = (array(dtype, 3) for dtype in (dt.float32, dt.complex64, dt.int8, dt.bool))


@pytest.mark.parametrize(
    ("name", "operands", "loop", "result", "shape"),
    [
        ("add", (F32, F32), dt.float32, dt.float32, (3,)),
        ("add", (I8, float), dt.float64, dt.float64, (3,)),
        ("add", (I8, int), dt.int8, dt.int8, (3,)),
        ("add", (F32, complex), dt.complex64, dt.complex64, (3,)),
        ("add", (array(dt.float16, 3), array(dt.bfloat16, 3)), dt.float32, dt.float32, (3,)),
        ("add", (array(dt.int8, 2, 1), array(dt.float32, 3)), dt.float32, dt.float32, (2, 3)),
        ("less", (F32, I8), dt.float32, dt.bool, (3,)),
        ("abs", (C64,), dt.complex64, dt.float32, (3,)),
        ("abs", (I8,), dt.int8, dt.int8, (3,)),
        ("exp", (I8,), dt.float64, dt.float64, (3,)),
        ("exp", (BOOL,), dt.float64, dt.float64, (3,)),
        ("divide", (I8, I8), dt.float64, dt.float64, (3,)),
        ("logical_and", (F32, I8), dt.bool, dt.bool, (3,)),
        ("clip", (F32, float, F32), dt.float32, dt.float32, (3,)),
    ],
)
def test_signatures(name: str, operands: Any, loop: Any, result: Any, shape: Any) -> None:
    assert signature_of(OPERATORS[name], operands) == Signature((loop,) * len(operands), result, shape)


def test_the_condition_of_where_is_outside_promotion() -> None:
    signature = signature_of(OPERATORS["where"], (array(dt.bool, 2, 1), F32, float))
    assert signature == Signature((dt.bool, dt.float32, dt.float32), dt.float32, (2, 3))


@pytest.mark.parametrize("source", dt.INFO, ids=str)
def test_casts(source: Any) -> None:
    for target in dt.INFO:
        assert signature_of(IDENTITY, (array(source, 3),), target) == Signature((source,), target, (3,))


BAD = [
    (
        "bitwise_and",
        (F32, F32),
        r"bitwise_and: dtype float32, float32 is not accepted; accepted: integer or boolean dtypes \(bool, int8",
    ),
    ("bitwise_invert", (F32,), "bitwise_invert: dtype float32 is not accepted; accepted: integer or boolean"),
    (
        "bitwise_left_shift",
        (BOOL, BOOL),
        "bitwise_left_shift: dtype bool, bool is not accepted; accepted: integer dtypes",
    ),
    ("bitwise_or", (I8, float), "bitwise_or: dtype int8, Python float is not accepted"),
    ("less", (C64, C64), "less: dtype complex64, complex64 is not accepted; accepted: real-valued dtypes"),
    ("less", (F32, complex), "less: dtype float32, Python complex is not accepted"),
    ("maximum", (C64, F32), "maximum: dtype complex64, float32 is not accepted; accepted: real-valued"),
    ("clip", (C64, float, float), "clip: dtype complex64, Python float, Python float is not accepted"),
    ("floor", (C64,), "floor: dtype complex64 is not accepted"),
    ("add", (BOOL, BOOL), "add: dtype bool, bool is not accepted; accepted: numeric dtypes"),
    ("negative", (BOOL,), "negative: dtype bool is not accepted"),
    ("atan2", (C64, F32), "atan2: dtype complex64, float32 is not accepted; accepted: real floating-point"),
    ("signbit", (C64,), "signbit: dtype complex64 is not accepted"),
    ("where", (F32, F32, F32), "where: the condition has dtype float32; accepted: bool"),
    ("where", (int, F32, F32), "where: the condition has dtype Python int; accepted: bool"),
    (
        "add",
        (array(dt.float8_e5m2, 3), F32),
        "add: float8_e5m2 and float32 have no common dtype; convert one with astype",
    ),
    ("add", (array(dt.float8_e5m2, 3), float), "add: float8_e5m2 is for storage and casts only"),
    ("exp", (array(dt.float8_e4m3fn, 3),), "exp: dtype float8_e4m3fn is not accepted; accepted: floating-point dtypes"),
    (
        "equal",
        (array(dt.float8_e4m3fn, 3),) * 2,
        "equal: dtype float8_e4m3fn, float8_e4m3fn is not accepted; accepted: bool, ",
    ),
]


@pytest.mark.parametrize(("name", "operands", "message"), BAD)
def test_dtypes_that_are_not_accepted(name: str, operands: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        signature_of(OPERATORS[name], operands)


@pytest.mark.parametrize("op", OPERATORS.values(), ids=lambda op: op.name)
def test_every_operator_takes_what_its_row_says_and_nothing_else(op: Any) -> None:
    for dtype in dt.INFO:
        operands = (BOOL,) * op.condition + (array(dtype, 3),) * (op.arity - op.condition)
        accepted = dtype in dt.CATEGORIES[op.accepts] or (op.floating and dtype in dt.CATEGORIES["integer or boolean"])
        if accepted:
            assert signature_of(op, operands).shape == (3,)
        else:
            with pytest.raises(TypeError, match=f"{op.public}: .*{dtype}.*accepted: "):
                signature_of(op, operands)


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(
        ValueError, match=r"add: shapes \(3,\), \(2, 4\) cannot be broadcast; along axis -1 the lengths 3 and 4 differ"
    ):
        signature_of(OPERATORS["add"], (F32, array(dt.float32, 2, 4)))


@pytest.mark.parametrize(("kind", "dtype"), [(float, dt.int8), (complex, dt.float32), (int, dt.bool), (float, dt.bool)])
def test_scalars_that_a_cast_would_change_are_refused(kind: type, dtype: Any) -> None:
    with pytest.raises(
        TypeError, match=f"assignment: a Python {kind.__name__} does not fit {dtype}; convert the value"
    ):
        signature_of(IDENTITY, (kind,), dtype)


def test_a_compile_error_tells_everything() -> None:
    error = CompileError("add", ("--std=c++17", "-arch"), "one\ntwo", "a log\n")
    assert str(error) == "NVRTC failed on add\na log\noptions: --std=c++17 -arch\n   1 | one\n   2 | two"
    assert (error.key, error.options, error.source, error.log) == (
        "add",
        ("--std=c++17", "-arch"),
        "one\ntwo",
        "a log\n",
    )
