"""Calls of which torch records the gradient, each like an earlier one but for one fact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import xpops as xp
from xpops.dispatch.steady import launches
from xpops.frameworks.differentiable import Record

torch = pytest.importorskip("torch")

CALLS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "multiply": (xp.multiply, lambda x, y: x * y),
    "pow": (lambda x, y: xp.pow(x, 3.0) + xp.pow(y, 2.0), lambda x, y: x**3 + y**2),
    "where": (lambda x, y: xp.where(x > y, x, y), lambda x, y: torch.where(x > y, x, y)),
    "sum": (lambda x, y: xp.sum(x, axis=0) + xp.mean(y), lambda x, y: x.sum(0) + y.mean()),
    "matmul": (lambda x, y: xp.matmul(x, xp.matrix_transpose(y)), lambda x, y: x @ y.mT),
    "softmax": (lambda x, y: xp.nn.softmax(x + y), lambda x, y: (x + y).softmax(-1)),
    "vector norm": (
        lambda x, y: x * xp.linalg.vector_norm(y, axis=(0, 1)),
        lambda x, y: x * torch.linalg.vector_norm(y, dim=(0, 1)),
    ),
    "norm": (xp.fuse(lambda x, y: x / xp.sqrt(xp.sum(x * y))), lambda x, y: x / (x * y).sum().sqrt()),
}


@pytest.fixture
def make(torch_device: Any) -> Callable[..., Any]:
    """A function that makes tensors of 2 rows of random numbers."""

    def tensor(needs: bool = True, columns: int = 3, dtype: Any = torch.float64) -> Any:
        return (torch.rand(2, columns, device=torch_device, dtype=dtype) + 0.5).requires_grad_(needs)

    return tensor


@pytest.mark.parametrize("name", CALLS)
def test_operands_that_differ_in_one_fact(name: str, make: Any) -> None:
    ours, theirs = CALLS[name]
    facts = [
        {},
        {"needs": False},
        {"columns": 4},
        {"dtype": torch.float32},
        {"needs": False, "columns": 4},
    ]
    for _ in range(3):
        for first in facts:
            second = {**first, "needs": True}
            for pair in ((make(**first), make(**second)), (make(**second), make(**first))):
                needed = [x for x in pair if x.requires_grad]
                got, wanted = ours(*pair), theirs(*pair)
                assert got.requires_grad
                torch.testing.assert_close(got, wanted)
                g = torch.rand_like(wanted)
                torch.testing.assert_close(torch.autograd.grad(got, needed, g), torch.autograd.grad(wanted, needed, g))
        x, y = make(), make()
        with torch.no_grad():
            assert not ours(x, y).requires_grad
        with torch.inference_mode():
            assert ours(x, y).is_inference()
        x, y = make(needs=False), make(needs=False)
        assert not ours(x, y).requires_grad
        torch.testing.assert_close(ours(x, y), theirs(x, y))


def test_such_calls_are_remembered(make: Any) -> None:
    x, y = make(columns=7), make(columns=7)
    before = set(launches)
    xp.hypot(x, y)
    made = [launch for key, launch in launches.items() if key not in before]
    assert sorted(isinstance(each, Record) for each in made) == [False, True]
    xp.hypot(x, y)
    assert len(launches) == len(before) + 2


@pytest.mark.parametrize("name", CALLS)
def test_the_operands_whose_gradient_is_wanted_differ(name: str, make: Any) -> None:
    ours, theirs = CALLS[name]
    x, y = make(), make()
    for _ in range(2):
        for needed in ([x], [x, y], [y]):
            got, wanted = ours(x, y).sum(), theirs(x, y).sum()
            torch.testing.assert_close(torch.autograd.grad(got, needed), torch.autograd.grad(wanted, needed))


@pytest.mark.parametrize("name", CALLS)
def test_second_derivatives(name: str, make: Any) -> None:
    ours, theirs = CALLS[name]
    x, y = make(), make()
    for _ in range(2):
        found = []
        for function in (ours, theirs):
            (first,) = torch.autograd.grad(function(x, y).square().sum(), [x], create_graph=True)
            found.append(torch.autograd.grad(first.square().sum(), [x, y]))
        torch.testing.assert_close(*found)


def test_scalars_of_other_values(make: Any) -> None:
    x = make()
    for value in (2.0, 3.0, 0.5, 2):
        (got,) = torch.autograd.grad(xp.pow(x, value).sum(), [x])
        torch.testing.assert_close(got, value * x.detach() ** (value - 1))
    exponent = make()
    for base in (2.0, 3.0):
        (got,) = torch.autograd.grad(xp.pow(base, exponent).sum(), [exponent])
        torch.testing.assert_close(got, torch.autograd.grad((base**exponent).sum(), [exponent])[0])


@pytest.mark.filterwarnings("ignore:`torch.jit.script`:DeprecationWarning")  # torch.func itself
def test_transforms_between_recorded_calls(make: Any) -> None:
    x, y = make(), make()
    for _ in range(2):
        xp.multiply(x, y)
        got = torch.func.grad(lambda x: xp.multiply(x, y).sum())(x)
        torch.testing.assert_close(got, y)
        wanted = torch.func.vmap(lambda x: x * y[0])(x)
        torch.testing.assert_close(torch.func.vmap(lambda x: xp.multiply(x, y[0]))(x), wanted)
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
            tangent = torch.autograd.forward_ad.unpack_dual(xp.multiply(dual, y)).tangent
        torch.testing.assert_close(tangent, y)


def test_saved_operands_that_were_overwritten(make: Any) -> None:
    x, y = make(), make(needs=False)
    for _ in range(2):
        found = xp.multiply(x, y)
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            found.sum().backward()


def test_hooks_and_parameters(make: Any) -> None:
    x = torch.nn.Parameter(make().detach())
    for _ in range(2):
        x.grad, y = None, xp.exp(x)
        y.register_hook(lambda g: g * 2)
        y.sum().backward()
        torch.testing.assert_close(x.grad, 2 * y.detach())


def test_conjugates(torch_device: Any) -> None:
    x = torch.rand(3, device=torch_device, dtype=torch.complex128, requires_grad=True)
    y = torch.rand(3, device=torch_device, dtype=torch.complex128)
    for _ in range(2):
        for other in (y, y.conj()):
            for each in (x, x.conj()):
                got = torch.autograd.grad(xp.multiply(each, other).abs().sum(), [x])
                torch.testing.assert_close(got, torch.autograd.grad((each * other).abs().sum(), [x]))


def test_places_of_no_elements(torch_device: Any) -> None:
    x = torch.rand(0, 3, device=torch_device, requires_grad=True)
    places = torch.zeros(0, dtype=torch.int64, device=torch_device)
    for _ in range(2):
        (got,) = torch.autograd.grad(xp.take(x, places, axis=0).sum(), [x])
        assert got.shape == (0, 3)
        (got,) = torch.autograd.grad(xp.take_along_axis(x, places.reshape(0, 1), axis=0).sum(), [x])
        assert got.shape == (0, 3)


def test_places_counted_from_the_end(torch_device: Any) -> None:
    x = torch.rand(4, 3, device=torch_device, requires_grad=True)
    for dtype in (torch.int64, torch.int32, torch.int8):
        places = torch.tensor([[-1, 0], [2, -3]], dtype=dtype, device=torch_device)
        for axis, wanted in ((0, x[places.long()]), (1, x[:, places.long()])):
            g = torch.rand_like(wanted)
            got = torch.autograd.grad(xp.take(x, places, axis=axis), [x], g)
            torch.testing.assert_close(got, torch.autograd.grad(wanted, [x], g))
        along, g = places.repeat(2, 1), torch.rand(4, 2, device=torch_device)
        got = torch.autograd.grad(xp.take_along_axis(x, along, axis=1), [x], g)
        torch.testing.assert_close(got, torch.autograd.grad(x.gather(1, along.long() % 3), [x], g))
