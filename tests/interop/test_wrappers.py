"""Wrappers, which have more than memory: operators return NotImplemented, functions raise, and no mask is lost."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import xpops
from tests.helpers.producers import Producer
from xpops.frameworks.registry import adapter_of, is_wrapper

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")

DATA = np.arange(4.0)


class Namespaced(Producer):
    """Like a masked array of another library: it has DLPack, and a namespace of its own."""

    def __array_namespace__(self, *, api_version=None):
        return pytest


class Reflecting(Namespaced):
    """A wrapper with reflected operators."""

    def __radd__(self, other):
        return "mine"

    def __rmatmul__(self, other):
        return "mine"

    def __gt__(self, other):
        return "mine"


class Unit(np.ndarray):
    """Like a unit array: it overrides NumPy's functions."""

    def __array_ufunc__(self, *arguments, **keywords):
        return NotImplemented


class Labelled(np.ndarray):
    def __array_function__(self, *arguments, **keywords):
        return NotImplemented


class Plain(np.ndarray):
    pass


WRAPPERS = {
    "namespace": lambda: Namespaced(DATA),
    "masked": lambda: np.ma.masked_array(DATA, [False, True, False, False]),
    "unit": lambda: DATA.view(Unit),
    "labelled": lambda: DATA.view(Labelled),
    "matrix": lambda: np.matrix(DATA),
}


@pytest.fixture(params=WRAPPERS)
def wrapper(request):
    return WRAPPERS[request.param]()


@pytest.fixture
def marray():
    return pytest.importorskip("marray").numpy.asarray(DATA, mask=np.asarray([False, True, False, False]))


@pytest.fixture
def _default_device(device):
    xpops.set_default_device(device)
    yield
    xpops.set_default_device(None)


def mean_of(x):
    return xpops.mean(xpops.exp(x))


def calls(x):
    """Calls with a wrapper in every position that accepts an array."""
    mask = x > 1
    out = xpops.zeros(4)
    return {
        "add, x1": lambda m: xpops.add(m, x),
        "add, x2": lambda m: xpops.add(x, m),
        "add, scalar": lambda m: xpops.add(m, 1),
        "add, out": lambda m: xpops.add(x, x, out=m),
        "exp": xpops.exp,
        "sum": xpops.sum,
        "cumulative_sum": xpops.cumulative_sum,
        "sort": xpops.sort,
        "where, condition": lambda m: xpops.where(m, x, x),
        "where, x1": lambda m: xpops.where(mask, m, x),
        "clip": lambda m: xpops.clip(x, m, 3.0),
        "concat": lambda m: xpops.concat([x, m]),
        "reshape": lambda m: xpops.reshape(m, (2, 2)),
        "matmul": lambda m: xpops.matmul(m, x),
        "take": lambda m: xpops.take(x, m),
        "repeat": lambda m: xpops.repeat(x, m),
        "quantile": lambda m: xpops.quantile(x, m),
        "astype": lambda m: xpops.astype(m, xpops.float32),
        "result_type": lambda m: xpops.result_type(m, x),
        "zeros_like": xpops.zeros_like,
        "full": lambda m: xpops.full((4,), m),
        "asarray": xpops.asarray,
        "asarray, list": lambda m: xpops.asarray([m, m]),
        "asarray, copy": lambda m: xpops.asarray(m, copy=True, device="cpu"),
        "permutation": lambda m: xpops.random.Generator(1).permutation(m),
        "choice, p": lambda m: xpops.random.Generator(1).choice(4, p=m),
        "fuse": lambda m: xpops.fuse(mean_of)(m),
        "fused closure": lambda m: xpops.fuse(lambda y: xpops.add(y, m))(x),
        "index": lambda m: x[m],
        "index, tuple": lambda m: x[m, ...],
        "__setitem__, key": lambda m: operator.setitem(out, m, 1.0),
        "__setitem__, value": lambda m: operator.setitem(out, slice(None), m),
        "__setitem__, mask": lambda m: operator.setitem(out, mask, m),
    }


@pytest.mark.parametrize("name", calls(xpops.asarray(DATA, device="cpu")))
@pytest.mark.usefixtures("_default_device")
def test_functions_refuse_wrappers(name, wrapper, device):
    call = calls(xpops.asarray(DATA, device=device))[name]
    for _ in range(3):  # the steady state, too
        with pytest.raises(TypeError, match=r"wraps data with more, .*; accepted: its plain data|that is no argument"):
            call(wrapper)


OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul")


@pytest.mark.parametrize("name", [*OPERATORS, *(f"r{name}" for name in OPERATORS), *(f"i{name}" for name in OPERATORS)])
def test_operators_leave_wrappers_alone(name, wrapper, device):
    x = xpops.asarray(DATA, device=device)
    for _ in range(3):
        assert getattr(x, f"__{name}__")(wrapper) is NotImplemented
    assert x.to_numpy().tolist() == DATA.tolist()


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_leave_wrappers_alone(name, wrapper, device):
    assert getattr(xpops.asarray(DATA, device=device), f"__{name}__")(wrapper) is NotImplemented


def test_the_wrappers_own_methods_answer(device):
    x, other = xpops.asarray(DATA, device=device), Reflecting(DATA)
    assert x + other == "mine"
    assert x @ other == "mine"
    assert (x < other) == "mine"
    with pytest.raises(TypeError, match="unsupported operand type"):
        x - other
    with pytest.raises(TypeError, match="unsupported operand type"):
        other - x


def test_a_masked_sum_keeps_its_mask():
    x = xpops.asarray(DATA, device="cpu")
    result = x + np.ma.masked_array(DATA, [False, True, False, False])
    assert isinstance(result, np.ma.MaskedArray)
    assert result.tolist() == [0, None, 4, 6]


@pytest.mark.parametrize(
    ("make", "way"),
    [
        ("masked", r"obj\.filled\(\)"),
        ("unit", r"obj\.view\(numpy\.ndarray\)"),
        ("matrix", r"obj\.view\(numpy\.ndarray\)"),
        ("namespace", r"obj\.data or xpops\.from_dlpack\(obj\)"),
    ],
)
def test_errors_say_the_way_to_the_data(make, way):
    with pytest.raises(TypeError, match=f"asarray: obj is a.*; accepted: its plain data, such as {way}"):
        xpops.asarray(WRAPPERS[make]())


def test_from_dlpack_is_the_explicit_request(wrapper):
    assert xpops.from_dlpack(wrapper, device="cpu").to_numpy().ravel().tolist() == DATA.tolist()


def test_marray(marray):
    x = xpops.asarray(DATA, device="cpu")
    assert x.__add__(marray) is NotImplemented
    for call in (xpops.sum, xpops.asarray, lambda m: xpops.add(x, m), lambda m: x[m > 1]):
        with pytest.raises(TypeError, match=r"is a marray\..*; accepted: its plain data, such as .*\.data or xpops\."):
            call(marray)


def test_plain_arrays_of_other_libraries_are_no_wrappers(tmp_path):
    for x in (DATA.view(Plain), DATA.view(np.recarray), np.memmap(tmp_path / "x", float, "w+", shape=(4,)), DATA):
        assert adapter_of(type(x)).name == "numpy"
        assert type(xpops.add(x, 1)) is np.ndarray
    for cls in (Producer, xpops.Array, np.float64, list, int):
        assert not is_wrapper(cls)


def test_array_api_strict():
    strict = pytest.importorskip("array_api_strict")
    x = strict.asarray([1.0, 2.0])
    assert xpops.add(x, 1).to_numpy().tolist() == [2, 3]
    assert xpops.asarray(x).to_numpy().tolist() == [1, 2]
