"""Gradients of fused functions and of users' kernels; backward passes as one fused function."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.gradients import Case, operands
from xpops.core.layouts import Layout, layout_of
from xpops.dispatch import _recorded
from xpops.dispatch.gradients.calls import RecordedCall
from xpops.dispatch.gradients.rules import rule_of
from xpops.engine.program import Program
from xpops.frameworks.differentiable import Facts
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import OPERATORS
from xpops.ops.operator import Operator
from xpops.ops.special import SPECIAL

torch = pytest.importorskip("torch")
ROWS = [op for op in (*OPERATORS.values(), *ACTIVATIONS.values(), *SPECIAL.values()) if op.derivatives]


def layer_norm(x: Any, weight: Any, bias: Any, eps: Any) -> Any:
    deviations = x - xp.mean(x, axis=-1, keepdims=True)
    variance = xp.mean(xp.square(deviations), axis=-1, keepdims=True)
    return deviations / xp.sqrt(variance + eps) * weight + bias


def rms_norm(x: Any, weight: Any) -> Any:
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * weight


def two_results(x: Any, y: Any) -> Any:
    product = xp.exp(x * 0.5) * y
    return product, xp.sum(xp.where(x > 0, product, x), axis=-1)


FUNCTIONS: list[tuple[Callable[..., Any], tuple[tuple[int, ...], ...], tuple[Any, ...]]] = [
    (layer_norm, ((3, 5), (5,), (5,)), (1e-5,)),
    (rms_norm, ((3, 5), (5,)), ()),
    (two_results, ((3, 4), (3, 1)), ()),
    (lambda x: xp.max(x, axis=1) * xp.var(x), ((3, 4),), ()),
    (lambda x: xp.exp(x) / xp.sum(xp.exp(x), axis=-1, keepdims=True), ((3, 4),), ()),
    (lambda x: xp.astype(xp.astype(x, xp.float32), xp.float64) + xp.floor(x), ((3,),), ()),
]


def tensors(shapes: tuple[tuple[int, ...], ...], device: str, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    return operands(Case("", lambda: None, shapes), dtype, device)


@pytest.mark.parametrize(("function", "shapes", "scalars"), FUNCTIONS[:5])
@pytest.mark.parametrize("round_each", [True, False])
def test_fused_functions(function: Any, shapes: Any, scalars: Any, round_each: bool, torch_device: str) -> None:
    fused, given = xp.fuse(function, round_each=round_each), tensors(shapes, torch_device)
    for _ in range(2):
        assert torch.autograd.gradcheck(lambda *x: fused(*x, *scalars), given, fast_mode=True)
        assert torch.autograd.gradgradcheck(lambda *x: fused(*x, *scalars), given, fast_mode=True)


def test_a_fused_function_agrees_with_torch(torch_device: str) -> None:
    given = tensors(((3, 5), (5,), (5,)), torch_device, torch.float32)
    ours, theirs = xp.fuse(layer_norm)(*given, 1e-5), torch.nn.functional.layer_norm(given[0], (5,), *given[1:])
    torch.testing.assert_close(torch.autograd.grad(ours.sum(), given), torch.autograd.grad(theirs.sum(), given))


def test_named_arguments_and_missing_gradients(torch_device: str) -> None:
    fused, (x, y) = xp.fuse(lambda x, y, scale: xp.exp(x) * scale + xp.floor(y)), tensors(((3,), (3,)), torch_device)
    found = torch.autograd.grad(fused(x, y=y, scale=2.0).sum(), (x, y))
    torch.testing.assert_close(found, (2 * x.exp(), torch.zeros_like(y)))


def test_a_step_without_a_derivative_is_named(torch_device: str) -> None:
    (x,) = tensors(((3,),), torch_device)
    made = xp.fuse(lambda x: xp.floor_divide(x, 2.0) + x)(x)
    with pytest.raises(NotImplementedError, match="floor_divide has no derivative"):
        made.sum().backward()


@pytest.mark.parametrize(("function", "shapes", "scalars"), [each for each in FUNCTIONS if each[0] is not two_results])
def test_the_backward_pass_of_a_fused_function_is_fused(function: Any, shapes: Any, scalars: Any) -> None:
    fused = xp.fuse(function)
    arrays = [xp.ones(shape, dtype=xp.float64) for shape in shapes]
    result = function(*arrays, *scalars)

    def backward(g: Any, *operands: Any) -> Any:
        made = tuple(each for each in fused._cotangents(None, g, operands) if each is not None)
        return made if len(made) > 1 else made[0]

    if len(result.shape) == 1 and len(shapes[0]) > 1:
        with pytest.raises(TypeError, match="cannot be fused"):  # a reduced axis that must be inserted again
            xp.fuse(backward).source(result, *arrays, *scalars)
    else:
        assert "const" in xp.fuse(backward).source(result, *arrays, *scalars)


@pytest.mark.parametrize("shape", [(1,), (3, 1), (1, 2, 1), (3, 2, 1, 2)])
@pytest.mark.parametrize("reduce", [xp.sum, xp.mean, xp.var])
def test_the_backward_pass_of_a_whole_reduction_is_fused(shape: tuple[int, ...], reduce: Callable[..., Any]) -> None:
    """Its cotangent has no axes, also where the operand has one of length 1."""
    fused = xp.fuse(lambda x: reduce(xp.where(xp.isnan(x), 0, x)))

    def backward(g: Any, x: Any) -> Any:
        (found,) = fused._cotangents(None, g, (x,))
        return found

    assert "const" in xp.fuse(backward).source(xp.asarray(2.0), xp.ones(shape))


@pytest.mark.parametrize("op", ROWS, ids=str)
def test_backward_passes_of_operators_are_fused(op: Operator) -> None:
    """One fused function computes what the expressions compute one by one, and a GPU can run it."""
    count = op.arity - op.parameters
    arrays = [xp.asarray(np.linspace(1.1, 1.9, 12).reshape(3, 4) * (1 + i)) for i in range(count)]
    if op.name in ("acos", "asin", "atanh"):
        arrays = [each / 4 for each in arrays]
    if op.condition:
        arrays[0] = arrays[0] > 1.5
    arrays[-1] = arrays[-1][:1] if count > 1 else arrays[-1]
    given = (*arrays, *op.defaults)
    call = _recorded(op, None)
    facts = tuple(Facts(x.shape, x.dtype) if isinstance(x, xp.Array) else None for x in given)
    has_derivative = [each is not None for each in op.derivatives] + [False] * (op.arity - len(op.derivatives))
    wanted = tuple(
        has and fact is not None and fact.dtype == xp.float64 for fact, has in zip(facts, has_derivative, strict=True)
    )
    result = call.compute(*given)
    g = xp.ones(result.shape, dtype=result.dtype)
    alone = call.cotangents(wanted, g, facts, list(given), result, False)
    for _ in range(2):
        together = call.cotangents(wanted, g, facts, list(given), result, True)
        for one, other in zip(alone, together, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_array_equal(other.to_numpy(), one.to_numpy())
    places, needs_result = call.saved(wanted)
    for backward in call._fused.values():
        function = backward.function
        assert function is not None
        values = [given[place] for place in places]
        assert function.source(g, *values, *((result,) if needs_result else ()))


def test_what_cannot_be_fused_is_computed_step_by_step() -> None:
    fused = xp.fuse(lambda x: xp.sum(xp.exp(x), axis=-1))
    x, g = xp.asarray([[1.0, 2.0], [3.0, 4.0]]), xp.asarray([1.0, 10.0])
    rule = rule_of(fused._plan, ())
    assert rule is not None
    call = RecordedCall("fused", ("x",), {}, rule, fused, ())
    call._fuse((True,), g, (Facts(x.shape, x.dtype),)).function = cannot_be_fused
    for _ in range(2):
        (found,) = call.cotangents((True,), g, (Facts(x.shape, x.dtype),), [x], None, True)
        np.testing.assert_allclose(found.to_numpy(), np.exp(x.to_numpy()) * [[1], [10]])


def cannot_be_fused(*values: object) -> object:
    raise TypeError("reshape cannot be fused")


def _square_on_the_host(operation: Any, engine: Any, specs: tuple[Any, ...], *parameters: Any) -> Program:
    (x, *_) = (spec for spec in specs if isinstance(spec, Layout))
    out = layout_of(x.dtype, x.shape, None, x.device)

    def kernel(stream: int, out: Any, *values: Any) -> None:
        out[...] = np.asarray(values[0]) ** 2 * np.asarray(values[1])

    return Program((out,), kernel)


@pytest.fixture
def host_kernels(torch_device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of users that compute ``x * x * y``: on the host, where none are compiled, by NumPy."""
    if torch_device.type == "cuda":
        return
    for module in ("elementwise", "functor"):
        monkeypatch.setattr(import_module(f"xpops.api.kernel.{module}"), "_plan", _square_on_the_host)


def _by_hand(g: Any, x: Any, y: Any) -> tuple[Any, Any]:
    return xp.multiply(g, xp.multiply(xp.multiply(x, y), 2)), xp.multiply(g, xp.square(x))


@pytest.mark.usefixtures("host_kernels")
def test_an_elementwise_kernel_with_a_gradient(torch_device: str) -> None:
    kernel = xp.kernel.ElementwiseKernel("T x, T y", "T z", "z = x * x * y", "weighted", backward=_by_hand)
    given = tensors(((3, 4), (3, 4)), torch_device)
    for _ in range(2):
        assert torch.autograd.gradcheck(kernel, given, fast_mode=True)
        assert torch.autograd.gradgradcheck(kernel, given, fast_mode=True)
    with pytest.raises(RuntimeError, match="weighted: an argument requires grad, and out has no gradient"):
        kernel(*given, out=torch.zeros_like(given[0]).detach())


@pytest.mark.usefixtures("host_kernels")
def test_a_functor_with_a_gradient(torch_device: str) -> None:
    source = """
    struct Weighted {
      double weight;
      template <class T> XPOPS_DEVICE T operator()(T x) const { return x * x * weight; }
    };
    """
    weighted = xp.kernel.functor(
        source, parameters="float64 weight", backward=lambda g, x, weight: xp.multiply(g, xp.multiply(x, 2 * weight))
    )
    given = tensors(((3, 4),), torch_device)
    for _ in range(2):
        assert torch.autograd.gradcheck(lambda x: weighted(x, weight=1.5), given, fast_mode=True)


@pytest.mark.usefixtures("host_kernels")
def test_mistakes_in_backward(torch_device: str) -> None:
    make = xp.kernel.ElementwiseKernel
    given = tensors(((3,), (3,)), torch_device)
    with pytest.raises(TypeError, match="half: backward is an int; accepted: a function"):
        make("T x, T y", "T z", "z = x", "half", backward=2)
    with pytest.raises(TypeError, match="plain: x requires grad, and this call has no gradient"):
        make("T x, T y", "T z", "z = x", "plain")(*given)
    made = make("T x, T y", "T z", "z = x", "short", backward=lambda g, x, y: g)(*given)
    with pytest.raises(ValueError, match="short: backward returns 1 arrays; accepted: 2, one for each operand"):
        made.sum().backward()
