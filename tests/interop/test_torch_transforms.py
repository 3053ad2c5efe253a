"""`torch.func`: calls within vmap, grad and their compositions are those of each element of the batch."""

from __future__ import annotations

from typing import Any

import pytest

import xpops as xp
from tests.helpers.gradient_cases import CASES
from tests.helpers.gradients import Case, operands

torch = pytest.importorskip("torch")
func = torch.func

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:torch", "ignore::DeprecationWarning:torch")
BATCHED = [
    pytest.param(case, dtype, id=f"{number}-{case.name}-{dtype}".replace("torch.", ""))
    for number, case in enumerate(CASES)
    for dtype in (torch.float64, torch.complex128)[: 1 + case.complex]
]


def last(results: Any) -> Any:
    return results[-1] if isinstance(results, tuple) else results


def batches(case: Case, dtype: torch.dtype, device: str) -> list[torch.Tensor]:
    """Three operands for each one of a case."""
    plain = [x.detach() for x in operands(case, dtype, device)]
    return [torch.stack([x, x * 0.75 + (0 if dtype.is_complex else 0.1), x]) for x in plain]


def rows(function: Any, given: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack([function(*(x[row] for x in given)) for row in range(3)])


@pytest.mark.parametrize(("case", "dtype"), BATCHED)
def test_vmap(case: Case, dtype: torch.dtype, torch_device: str) -> None:
    def call(*given: Any) -> Any:
        return last(case.call(*given))

    def size(*given: Any) -> Any:
        return (call(*given).abs() ** 2).sum()

    given = batches(case, dtype, torch_device)
    torch.testing.assert_close(func.vmap(call)(*given), rows(call, given))
    if len(given) > 1:
        first, others = given[0], [x[0] for x in given[1:]]
        found = func.vmap(call, in_dims=(0, *[None] * len(others)))(first, *others)
        torch.testing.assert_close(found, rows(lambda x: call(x, *others), [first]))
    each = func.vmap(func.grad(size))(*given)
    torch.testing.assert_close(each, rows(func.grad(size), given))


@pytest.mark.parametrize(("case", "dtype"), BATCHED)
def test_jvp(case: Case, dtype: torch.dtype, torch_device: str) -> None:
    """Tangents and cotangents agree: ``re(conj(u) * J t)`` is ``re(conj(J^H u) * t)``."""

    def call(*given: Any) -> Any:
        return last(case.call(*given))

    given = tuple(x.detach() for x in operands(case, dtype, torch_device))
    along = tuple(map(torch.randn_like, given))
    found = func.jvp(call, given, along)[1]
    result, pull_back = func.vjp(call, *given)
    assert (found.shape, found.dtype) == (result.shape, result.dtype)
    cotangent = torch.randn_like(result)
    back = pull_back(cotangent)
    wanted = sum((x.conj() * t).sum().real for x, t in zip(back, along, strict=True))
    torch.testing.assert_close((cotangent.conj() * found).sum().real, wanted)


@pytest.mark.usefixtures("on_torch_device")
def test_hessians_and_jacobians() -> None:
    x, t = torch.rand(3, dtype=torch.float64), torch.rand(3, dtype=torch.float64)
    torch.testing.assert_close(func.hessian(lambda v: xp.sum(xp.exp(v)))(x), x.exp().diag())
    torch.testing.assert_close(func.jacfwd(xp.nn.softmax)(x), func.jacrev(lambda v: v.softmax(-1))(x))
    for ours, theirs in ((xp.exp, torch.exp), (xp.sin, torch.sin), (xp.nn.softmax, lambda v: v.softmax(-1))):
        for _ in range(2):
            torch.testing.assert_close(func.jacfwd(func.jacfwd(ours))(x), func.jacfwd(func.jacfwd(theirs))(x))
    each = func.vmap(lambda v, u: func.jvp(xp.sin, (v,), (u,))[1])(x, t)
    torch.testing.assert_close(each, x.cos() * t)


@pytest.mark.usefixtures("on_torch_device")
def test_vmap_within_vmap_and_batches_along_other_axes() -> None:
    x, y = torch.rand(2, 4, 3), torch.rand(3, 4)
    found = func.vmap(func.vmap(xp.add, in_dims=(0, 1)), in_dims=(0, None))(x, y)
    wanted = func.vmap(func.vmap(torch.add, in_dims=(0, 1)), in_dims=(0, None))(x, y)
    torch.testing.assert_close(found, wanted)
    moved = func.vmap(lambda v: xp.cumulative_sum(v, axis=0), in_dims=1, out_dims=1)(y)
    torch.testing.assert_close(moved, y.cumsum(0))


@pytest.mark.usefixtures("on_torch_device")
def test_gradients_of_each_sample() -> None:
    weight = torch.rand(4, 3)
    x, target = torch.rand(5, 4), torch.randint(0, 3, (5, 1))

    def loss(ns: Any, weight: Any, x: Any, target: Any) -> Any:
        if ns is torch:
            return -torch.log_softmax(x @ weight, -1).gather(0, target).mean()
        scores = xp.nn.log_softmax(xp.matmul(x, weight))
        return xp.negative(xp.mean(xp.take_along_axis(scores, target)))

    ours, theirs = (
        func.vmap(func.grad(lambda w, x, t, ns=ns: loss(ns, w, x, t)), (None, 0, 0))(weight, x, target)
        for ns in (xp, torch)
    )
    torch.testing.assert_close(ours, theirs)
    jacobian = func.jacrev(lambda v: xp.exp(xp.matmul(v, weight)))(x[0])
    torch.testing.assert_close(jacobian, func.jacrev(lambda v: torch.exp(v @ weight))(x[0]))


@pytest.mark.usefixtures("on_torch_device")
def test_functions_without_a_derivative() -> None:
    x = torch.rand(3, 4)
    assert torch.equal(func.vmap(lambda v: xp.argmax(v))(x), x.argmax(1))
    assert torch.equal(func.vmap(lambda v: xp.floor_divide(v, 0.3))(x), torch.floor_divide(x, 0.3))
    assert func.vmap(xp.exp)(x[:0]).shape == (0, 4)
    captured = torch.full((3, 4), 0.5)
    found = func.vmap(lambda v: xp.add(v, xp.sum(xp.exp(captured), axis=0)))(x)
    torch.testing.assert_close(found, x + captured.exp().sum(0))
    swish = xp.fuse(lambda v: v / (1 + xp.exp(-v)))
    torch.testing.assert_close(func.vmap(swish)(x), torch.nn.functional.silu(x))


@pytest.mark.usefixtures("on_torch_device")
def test_refusals() -> None:
    x = torch.rand(3, 4)
    for _ in range(2):
        with pytest.raises(TypeError, match="floor_divide: x1 needs a gradient"):
            func.grad(lambda v: xp.sum(xp.floor_divide(v, 0.3)))(x)
        with pytest.raises(TypeError, match="zeros_like: x is traced"):
            func.vmap(xp.zeros_like)(x)
        with pytest.raises(ValueError, match="vmap: the batch is empty"):
            func.vmap(xp.sum)(x[:0])
        with pytest.raises(RuntimeError, match=r"same|equal"):
            func.vmap(lambda v: xp.nonzero(v)[0])(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
