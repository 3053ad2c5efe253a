"""When torch records a call, and what it requires of a recorded call."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

import xpops as xp

torch = pytest.importorskip("torch")


# Torch's transforms import modules that use its deprecated functions.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),
    pytest.mark.usefixtures("on_torch_device", "fused_backward"),
]


def grads(result: torch.Tensor, *operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.autograd.grad(result.sum(), operands)


def numbers(*shape: int, **options: Any) -> torch.Tensor:
    generator = torch.Generator().manual_seed(len(shape))
    made = torch.rand(*shape, dtype=torch.float64, generator=generator, device="cpu")
    return made.to(torch.get_default_device(), **options).requires_grad_()


def test_nothing_is_recorded_without_grad_mode() -> None:
    x = numbers(3)
    for _ in range(3):
        with torch.no_grad():
            assert not xp.exp(x).requires_grad
            assert not xp.sum(x).requires_grad
        with torch.inference_mode():
            made = xp.exp(x)
            assert made.is_inference()
        assert not xp.exp(x.detach()).requires_grad
        assert xp.exp(x).requires_grad
        assert xp.sum(x).grad_fn is not None


def test_calls_with_and_without_a_gradient_alternate() -> None:
    x = numbers(3)
    for _ in range(3):
        torch.testing.assert_close(grads(xp.exp(x), x)[0], x.detach().exp())
        torch.testing.assert_close(xp.exp(x.detach()), x.detach().exp())


def test_an_inference_tensor_cannot_be_saved() -> None:
    with torch.inference_mode():
        frozen = torch.ones(3, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        xp.multiply(numbers(3), frozen)


@pytest.mark.parametrize("kind", [torch.int32, torch.uint16, torch.bool, torch.float32])
def test_other_dtypes_among_the_operands(kind: torch.dtype) -> None:
    x, other = numbers(2, 3), torch.tensor([1, 0, 1]).to(kind)
    for _ in range(2):
        (found,) = grads(xp.where(xp.astype(other, xp.bool), xp.multiply(x, 2), x), x)
        torch.testing.assert_close(found, torch.tensor([[2.0, 1.0, 2.0]] * 2, dtype=torch.float64))
        if kind is not torch.bool:
            torch.testing.assert_close(grads(xp.multiply(x, other), x)[0], other.to(x.dtype).expand(2, 3))


def test_the_gradient_has_the_dtype_and_the_shape_of_its_operand() -> None:
    x, y = torch.ones(3, 1, dtype=torch.float16, requires_grad=True), numbers(4)
    for _ in range(2):
        first, second = grads(xp.add(x, y), x, y)
        assert (first.dtype, first.shape, second.dtype, second.shape) == (torch.float16, (3, 1), torch.float64, (4,))
        torch.testing.assert_close(first, torch.full_like(x, 4.0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_sums_of_shares_of_a_divisor_do_not_overflow(dtype: torch.dtype) -> None:
    x = torch.full((2**17,), 1000.0, dtype=dtype)
    for shape in ((), (1,)):
        divisor = torch.full(shape, 1000.0, dtype=dtype, requires_grad=True)
        (found,) = grads(xp.divide(x, divisor).to(torch.float32), divisor)
        torch.testing.assert_close(found, torch.full(shape, -(2**17) / 1000, dtype=dtype))


def test_half_of_the_operands_require_grad() -> None:
    x, y = numbers(3), numbers(3).detach()
    made = xp.divide(y, x)
    torch.testing.assert_close(grads(made, x)[0], (-y / x**2).detach())
    assert not xp.divide(y, y).requires_grad


@pytest.mark.parametrize("scalar", [2, 3.5, True])
def test_scalars(scalar: float) -> None:
    x = numbers(3)
    for _ in range(2):
        torch.testing.assert_close(grads(xp.multiply(scalar, x), x)[0], torch.full_like(x, scalar))
        torch.testing.assert_close(grads(xp.pow(x, scalar), x)[0], (scalar * x ** float(scalar - 1)).detach())
        torch.testing.assert_close(grads(xp.pow(scalar, x), x)[0], grads(torch.pow(float(scalar), x), x)[0])


@pytest.mark.parametrize("exponent", [0, 0.0, 1, 2.0, -1.5])
def test_powers_of_zero(exponent: float) -> None:
    x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    torch.testing.assert_close(grads(xp.pow(x, exponent), x), grads(torch.pow(x, exponent), x))
    y = torch.full((3,), float(exponent), requires_grad=True)
    torch.testing.assert_close(grads(xp.pow(x, y), x), grads(torch.pow(x, y), x))


@pytest.mark.parametrize(
    ("ours", "theirs", "values"),
    [
        (xp.abs, torch.abs, [-1.0, 0.0, -0.0, 2.0]),
        (lambda x: xp.maximum(x, torch.ones(4)), lambda x: torch.maximum(x, torch.ones(4)), [1.0, 0.0, 2.0, 1.0]),
        (xp.max, torch.amax, [3.0, 3.0, 1.0, 3.0]),
        (xp.prod, torch.prod, [0.0, 2.0, 3.0, 4.0]),
        (xp.prod, torch.prod, [0.0, 0.0, 3.0, 4.0]),
        (lambda x: xp.cumulative_prod(x, axis=0), lambda x: x.cumprod(0), [2.0, 0.0, 3.0, 4.0]),
        (lambda x: xp.cumulative_prod(x, axis=0), lambda x: x.cumprod(0), [2.0, 0.0, 3.0, 0.0]),
        (lambda x: xp.clip(x, 0.0, 1.0), lambda x: x.clamp(0.0, 1.0), [0.0, 1.0, 2.0, -1.0]),
        (xp.nn.relu, torch.relu, [0.0, -0.0, 1.0, -1.0]),
        (xp.nn.gelu, torch.nn.functional.gelu, [0.0, 1e-30, 20.0, -20.0]),
        (xp.std, lambda x: torch.std(x, correction=0), [1.0, 1.0, 1.0, 1.0]),
        (xp.linalg.vector_norm, torch.linalg.vector_norm, [0.0, 0.0, 0.0, 0.0]),
        (xp.sign, torch.sign, [0.0, 1.0, 2.0, -1.0]),
        (xp.nansum, torch.nansum, [float("nan"), 1.0, 2.0, -1.0]),
        (lambda x: xp.copysign(x, -1.0), lambda x: torch.copysign(x, torch.tensor(-1.0)), [0.0, -1.0, 2.0, -0.0]),
    ],
)
def test_where_the_derivative_jumps(ours: Any, theirs: Any, values: list[float]) -> None:
    x = torch.tensor(values, requires_grad=True)
    torch.testing.assert_close(grads(ours(x), x), grads(theirs(x), x))


@pytest.mark.parametrize("view", [lambda x: x.mT, lambda x: x[::2, 1:], lambda x: x[1], lambda x: x.expand(2, 4, 6)])
def test_views(view: Any) -> None:
    x = numbers(4, 6)
    for _ in range(2):
        torch.testing.assert_close(grads(xp.exp(view(x)), x), grads(torch.exp(view(x)), x))
        torch.testing.assert_close(grads(xp.cumulative_sum(view(x), axis=0), x), grads(view(x).cumsum(0), x))


def test_lazy_conjugates() -> None:
    x = torch.complex(numbers(3).detach(), numbers(3).detach()).requires_grad_()
    for _ in range(2):
        torch.testing.assert_close(grads(xp.abs(xp.square(x.conj())), x), grads(torch.abs(torch.square(x.conj())), x))


def test_empty_arrays() -> None:
    x = numbers(0, 3)
    assert grads(xp.multiply(x, x), x)[0].shape == (0, 3)
    assert grads(xp.sum(x, axis=0), x)[0].shape == (0, 3)
    assert grads(xp.linalg.matmul(x, numbers(3, 2)), x)[0].shape == (0, 3)


def test_a_saved_tensor_that_was_written_is_refused() -> None:
    x = numbers(3)
    y = xp.exp(x)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        grads(y, x)


def test_what_need_not_be_saved_may_be_written() -> None:
    x, y = numbers(3), numbers(3).detach()
    made = xp.add(x, y)
    y.add_(1)
    torch.testing.assert_close(grads(made, x)[0], torch.ones_like(x))


def test_memory_is_freed_with_the_graph() -> None:
    x = numbers(3)
    made = xp.multiply(x, 2 * x.detach())
    saved = weakref.ref(made.grad_fn)
    made.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        made.sum().backward()
    del made
    xp.square(x).sum().backward()  # the thread in which torch runs a GPU's backward passes keeps the last one
    gc.collect()
    assert saved() is None


def test_hooks_and_accumulation() -> None:
    x, seen = numbers(3), []
    made = xp.square(x)
    made.register_hook(lambda g: seen.append(g.clone()) or 2 * g)
    made.sum().backward()
    xp.sum(x).backward()
    torch.testing.assert_close(seen, [torch.ones_like(x)])
    torch.testing.assert_close(x.grad, (4 * x + 1).detach())


@pytest.mark.parametrize("out_requires", [False, True])
def test_out_is_refused_as_torch_refuses_it(out_requires: bool) -> None:
    x, out = numbers(3), torch.zeros(3, dtype=torch.float64, requires_grad=out_requires)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="exp: an argument requires grad, and out has no gradient"):
            xp.exp(x, out=out)
    with torch.no_grad():
        assert xp.exp(x, out=out) is out
    if out_requires:
        with pytest.raises(RuntimeError, match="requires grad"):
            xp.exp(x.detach(), out=out)
    else:
        assert xp.exp(x.detach(), out=out) is out


def test_other_frameworks_among_the_operands_are_refused(torch_device: Any) -> None:
    x, ours = numbers(3), xp.ones(3, device=torch_device)
    for other in (ours, ours.to_numpy()):
        with pytest.raises(TypeError, match="add: x1 requires grad, and this call has no gradient"):
            xp.add(x, other)


def test_a_parameter_of_a_module_trains() -> None:
    weight = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    xp.sum(xp.square(weight)).backward()
    optimizer.step()
    torch.testing.assert_close(weight.detach(), torch.full((3,), 0.8))


def test_several_threads(torch_device: Any) -> None:
    found: dict[int, torch.Tensor] = {}

    def work(number: int) -> None:
        x = torch.full((50,), float(number), device=torch_device, requires_grad=True)
        for _ in range(20):
            (found[number],) = grads(xp.sum(xp.multiply(xp.exp(x), number)), x)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for number in range(4):
        torch.testing.assert_close(found[number], torch.full((50,), number * 2.718281828459045**number))


def test_checkpoints_recompute() -> None:
    x = numbers(3)
    made = torch.utils.checkpoint.checkpoint(lambda x: xp.exp(xp.sin(x)), x, use_reentrant=False)
    torch.testing.assert_close(grads(made, x), grads(torch.exp(torch.sin(x)), x))


def test_the_transform_grad() -> None:
    x = numbers(3).detach()
    found = torch.func.grad(lambda x: xp.sum(xp.multiply(xp.sin(x), x)))(x)
    torch.testing.assert_close(found, x.cos() * x + x.sin())
    second = torch.func.grad(lambda x: torch.func.grad(lambda x: xp.sum(xp.sin(x)))(x).sum())(x)
    torch.testing.assert_close(second, -x.sin())


@pytest.mark.parametrize("ord", [0, 0.0])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_a_count_of_nonzeros_has_gradients_of_zeros(ord: float, axis: Any, keepdims: bool) -> None:
    for values in ([[1.0, 0.0, float("inf")], [2.0, 3.0, 0.0]], [[]]):
        x = torch.tensor(values, requires_grad=True)
        xp.linalg.vector_norm(x, axis=axis, ord=ord, keepdims=keepdims).sum().backward()
        assert x.grad.shape == x.shape
        assert not x.grad.any()


def test_arguments_without_a_derivative_are_refused() -> None:
    x, q = torch.rand(4, requires_grad=True), torch.tensor([0.5], requires_grad=True)
    with pytest.raises(TypeError, match="quantile: an argument after x needs a gradient"):
        xp.quantile(x, q)
    with pytest.raises(TypeError, match="q requires grad"):
        xp.quantile(x.detach(), q)
    xp.quantile(x, q.detach()).backward()
    gamma = torch.tensor(0.5, requires_grad=True)
    with pytest.raises((TypeError, ValueError)):
        xp.nn.discounted_cumsum(x, gamma)


@pytest.mark.parametrize("include_self", [True, False])
def test_products_that_are_scattered_have_exact_gradients_around_zeros(include_self: bool, torch_device: Any) -> None:
    generator = torch.Generator().manual_seed(5)
    for _ in range(20):
        x, source = (
            torch.randint(-1, 3, shape, generator=generator, device="cpu").double().to(torch_device)
            for shape in ((3, 2), (3, 5))
        )
        index = torch.randint(0, 2, (3, 5), generator=generator, device="cpu").to(torch_device)
        x.requires_grad_(), source.requires_grad_()
        wanted = x.scatter_reduce(1, index, source, "prod", include_self=include_self)
        found = xp.nn.scatter_reduce(x, index, source, "prod", axis=1, include_self=include_self)
        cotangent = torch.rand(3, 2, generator=generator, dtype=torch.float64, device="cpu").to(torch_device)
        for ours, theirs in zip(
            torch.autograd.grad(found, (x, source), cotangent),
            torch.autograd.grad(wanted, (x, source), cotangent),
            strict=True,
        ):
            torch.testing.assert_close(ours, theirs)
