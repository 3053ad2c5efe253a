"""Names of recorded calls: texts from which the same call is made again, also by another process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from xpops.api.linalg import norms
from xpops.dispatch.gradients.calls import call_named, makers
from xpops.dispatch.gradients.names import _digest, decode, encode
from xpops.dispatch.keys import Fixed
from xpops.dispatch.reductions import reduction
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import OPERATORS
from xpops.ops.reduction import HOST_REDUCTIONS, NUMBER_POSITIONS, REDUCTIONS
from xpops.ops.scan import SCANS

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text()
    | st.binary()
    | st.sampled_from([np.dtype("int8"), xp.bfloat16, np.float32(0.5), np.int64(-3)]),
    lambda values: (
        st.lists(values)
        | st.lists(values).map(tuple)
        | st.lists(values).map(Fixed)
        | st.dictionaries(st.text(), values)
    ),
    max_leaves=8,
)


def same(one: Any, other: Any) -> bool:
    """Whether values are equal, and have the same types at every level."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(each, other[name]) for name, each in one.items())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@given(VALUES)
def test_values_come_back(value: Any) -> None:
    assert same(decode(encode(value)), value)


def test_nan_and_infinity_come_back() -> None:
    (nan, low) = decode(encode((float("nan"), -float("inf"))))
    assert np.isnan(nan)
    assert low == -float("inf")


@pytest.mark.parametrize(
    "rows", [OPERATORS, ACTIVATIONS, REDUCTIONS, HOST_REDUCTIONS, NUMBER_POSITIONS, SCANS], ids=len
)
def test_rows_and_functions_come_back(rows: dict[str, Any]) -> None:
    for row in rows.values():
        found, plan = decode(encode((row, reduction)))
        assert found is row
        assert plan is reduction


def test_the_call_of_a_name_computes_the_same() -> None:
    total = makers["plan"](reduction, (REDUCTIONS["sum"], 1, True, None, 0.0), "sum", ("x",), True)
    x = xp.asarray([[1.0, 2.0], [3.0, 5.0]])
    for _ in range(2):
        assert call_named(total.name).compute(x).to_numpy().tolist() == [[3.0], [8.0]]
    add = makers["elementwise"](OPERATORS["add"], None)
    assert call_named(add.name).compute(x, 1.5).to_numpy().tolist() == [[2.5, 3.5], [4.5, 6.5]]


def test_fused_functions() -> None:
    assert decode(encode(doubled._plan)) is doubled._plan
    assert '"fused": ["test_call_names:doubled"' in encode(doubled._plan)
    within = xp.fuse(lambda x: x * 3)
    assert "local" in encode(within._plan)
    assert decode(encode(within._plan)) is within._plan


def test_members_of_families() -> None:
    family = norms._vector_norm
    plan = family.member((0, True, 3.5), 1)._plan
    assert '"member"' in encode(plan)
    assert decode(encode(plan)) is plan


def test_another_version_of_a_function_has_another_name() -> None:
    versions = [lambda x: x * 2, lambda x: x * 3, lambda x: [y * 2 for y in x], lambda x: [y * 3 for y in x]]
    assert len({_digest(xp.fuse(each)) for each in versions}) == 4
    assert _digest(xp.fuse(lambda x: [y * 2 for y in x])) == _digest(xp.fuse(lambda x: [y * 2 for y in x]))


@xp.fuse
def doubled(x: Any) -> Any:
    return x * 2


def test_what_another_process_does_not_have() -> None:
    with pytest.raises(ValueError, match="the program calls a function of the process that made it"):
        decode('{"local": "0123456789abcdef"}')
    with pytest.raises(ValueError, match="the program calls the fused function other of tests, and this process has"):
        decode('{"fused": ["tests:other", "0"]}')
    changed = encode(doubled._plan).replace('", "', '", "0')
    with pytest.raises(ValueError, match="accepted: the program after `import test_call_names`"):
        decode(changed)
    with pytest.raises(ValueError, match="os:system is not a part of xpops"):
        decode('{"object": "os:system"}')
