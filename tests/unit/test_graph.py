"""`xp.graph` on the CPU, where it calls the function: arguments, constants, errors and results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.api.graph import Graph
from xpops.dispatch.references import referenced_arrays

NDArray = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Settings:
    factor: float


@xp.graph
def scaled(x: Any, y: Any, factor: Any = 1, *, shift: Any = 0) -> Any:
    assert isinstance(x, xp.Array)
    return x * factor + y + shift, x - y


def arrays() -> tuple[NDArray, NDArray]:
    random = np.random.default_rng(3)
    return random.normal(size=(3, 4)), random.normal(size=(3, 4))


def test_positions_names_and_constants() -> None:
    x, y = arrays()
    calls: dict[str, tuple[Any, float, float]] = {
        "positions": (lambda *pair: scaled(*pair), 1, 0),
        "a constant": (lambda *pair: scaled(*pair, 2.5), 2.5, 0),
        "names": (lambda a, b: scaled(x=a, y=b, factor=3), 3, 0),
        "names in another order": (lambda a, b: scaled(shift=5, y=b, x=a), 1, 5),
        "an array by name": (lambda a, b: scaled(a, y=b, shift=-1.5), 1, -1.5),
    }
    for name, (call, factor, shift) in calls.items():
        for _ in range(3):
            first, second = call(xp.asarray(x, device="cpu"), xp.asarray(y, device="cpu"))
            np.testing.assert_allclose(first.to_numpy(), x * factor + y + shift, err_msg=name)
            np.testing.assert_array_equal(second.to_numpy(), x - y, err_msg=name)


def test_an_array_for_a_constant_and_back() -> None:
    x, y = arrays()
    for factor in (2.0, np.full((3, 4), 3.0), 2.0, np.full((3, 4), 4.0)):
        np.testing.assert_allclose(scaled(x, y, factor)[0], x * factor + y)


@pytest.mark.parametrize(
    "pair",
    [
        (1, 1.0), (1, True), (0.0, -0.0), (1, 1 + 0j), ((1, 2), (1.0, 2)), ((0.0,), (-0.0,)),
        (frozenset({1}), frozenset({1.0})), (Settings(1), Settings(1.0)),
    ],
)  # fmt: skip
def test_equal_constants_that_differ(pair: tuple[Any, Any]) -> None:
    seen: list[Any] = []

    @xp.graph
    def function(x: Any, constant: Any) -> Any:
        seen.append(constant)
        return x + 1

    found: list[Any] = []
    for constant in (*pair, *pair):
        function(xp.ones(2, device="cpu"), constant)
        found.append(repr(seen[-1]))
    assert found == [repr(each) for each in (*pair, *pair)]


def test_results_have_the_framework_of_the_arguments() -> None:
    x, y = arrays()
    assert all(type(each) is np.ndarray for each in scaled(x, y))
    assert all(type(each) is xp.Array for each in scaled(xp.asarray(x, device="cpu"), y))


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    x, y = (torch.from_numpy(each) for each in arrays())
    for _ in range(3):
        first, second = scaled(x, y, 3)
        assert type(first) is torch.Tensor
        torch.testing.assert_close(first, x * 3 + y)
        torch.testing.assert_close(second, x - y)


def test_results_are_new() -> None:
    x = np.arange(6.0)
    same, part = xp.graph(lambda x: (x, x[::2]))(x)
    x[...] = -1
    np.testing.assert_array_equal(same, np.arange(6.0))
    np.testing.assert_array_equal(part, [0.0, 2.0, 4.0])


def test_arguments_are_read_only() -> None:
    def writes(x: Any, y: Any) -> Any:
        x[...] = y
        return x

    def writes_out(x: Any, y: Any) -> Any:
        return xp.add(x, y, out=x)

    for function in (writes, writes_out):
        x = xp.ones(3, device="cpu")
        with pytest.raises(ValueError, match="read-only"):
            xp.graph(function)(x, xp.zeros(3, device="cpu"))
        assert x.to_numpy().tolist() == [1, 1, 1]


class Layer:
    shared = xp.asarray([1.0, 2.0], device="cpu")

    def __init__(self, factor: float) -> None:
        self.weights = [xp.asarray([factor, factor], device="cpu")]

    @xp.graph
    def __call__(self, x: Any) -> Any:
        return x * self.weights[0] + self.shared


def test_methods() -> None:
    """Each object is a constant of its own."""
    x = np.asarray([10.0, 20.0])
    layers = [Layer(2.0), Layer(3.0)]
    for layer, factor in zip((*layers, *layers), (2, 3, 2, 3), strict=True):
        np.testing.assert_array_equal(layer(x), x * factor + [1, 2])
    assert isinstance(Layer.__dict__["__call__"], Graph)


def test_errors_name_the_function_and_the_argument() -> None:
    x = xp.ones(3, device="cpu")
    for call, words in (
        (lambda: scaled(x, [1, 2]), r"scaled: arguments\[1\] is a list; accepted: arrays, and hashable"),
        (lambda: scaled(x, y=(x, 1)), "scaled: y holds an array; accepted: arrays as arguments of their own"),
        (lambda: scaled(1, 2), "scaled: every operand is a Python scalar; accepted: at least one array"),
        (lambda: xp.graph(lambda x: 1)(x), "the function returns an int"),
        (lambda: xp.graph(lambda x: [x])(x), "the function returns a list"),
        (lambda: xp.graph(3), "graph: function is 3; accepted: a function of arrays"),
        (
            lambda: xp.fuse(lambda x: scaled(x, x)[0])(xp.ones(3, dtype=xp.float32, device="cpu")),
            "scaled cannot be fused",
        ),
    ):
        if "fused" in words:  # on the CPU a fused function is called as it is
            continue
        with pytest.raises(TypeError, match=words):
            call()  # type: ignore[no-untyped-call]


def test_an_error_of_the_function_passes_through() -> None:
    @xp.graph
    def fails(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fails(xp.ones(3, device="cpu"))


def test_arrays_that_a_function_refers_to() -> None:
    default, inner, element = (xp.asarray([float(number)], device="cpu") for number in range(3))
    layer = Layer(4.0)
    holder = {"a": [inner]}

    def helper(x: Any) -> Any:
        return x + holder["a"][0]

    def function(x: Any, y: Any = default, *, z: Any = (element,)) -> Any:
        return [helper(x) + layer.weights[0] for _ in range(2)] + [GLOBAL, y, z]

    found = {id(each) for each in referenced_arrays(function)}
    assert found == {id(each) for each in (default, inner, element, layer.weights[0], Layer.shared, GLOBAL)}
    method = referenced_arrays(layer.__call__)
    assert {id(each) for each in method} >= {id(layer.weights[0]), id(Layer.shared)}


GLOBAL = np.ones(3)
