"""Gradients on GPUs: streams, the thread of the backward pass, CUDA graphs, several devices."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import xpops as xp

SIZE = 1 << 16
SLEEP = 20_000_000  # cycles: about ten milliseconds


@xp.fuse
def rms_norm(x: Any, scale: Any) -> Any:
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def ours(x: Any, weight: Any, scale: Any, index: Any) -> Any:
    """Elementwise, collective, fused and scattering calls, and a product."""
    hidden = xp.nn.gelu(rms_norm(xp.matmul(x, weight), scale))
    added = xp.nn.index_add(xp.multiply(hidden, 0.5), index, hidden)
    return xp.negative(xp.mean(xp.multiply(xp.nn.log_softmax(added), xp.tanh(hidden))))


def theirs(torch: Any, x: Any, weight: Any, scale: Any, index: Any) -> Any:
    product = x @ weight
    hidden = torch.nn.functional.gelu(product / torch.sqrt((product * product).mean(-1, keepdim=True) + 1e-6) * scale)
    added = (hidden * 0.5).index_add(0, index, hidden)
    return -(added.log_softmax(-1) * hidden.tanh()).mean()


def operands(torch: Any, device: Any, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """The data, two parameters that require grad, and the places of rows."""
    generator = torch.Generator().manual_seed(seed)
    x, weight = (torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((6, 5), (5, 4)))
    scale, index = torch.linspace(0.5, 1.5, 4, dtype=torch.float64), torch.tensor([2, 0, 5, 1, 2, 2])
    parameters = (each.to(device).requires_grad_() for each in (weight, scale))
    return x.to(device), *parameters, index.to(device)


def check(torch: Any, device: Any, seed: int = 0) -> None:
    """Our gradients are torch's, on the same device."""
    given = operands(torch, device, seed)
    found = torch.autograd.grad(ours(*given), given[1:3])
    wanted = torch.autograd.grad(theirs(torch, *given), given[1:3])
    assert all(each.device == given[0].device for each in found)
    torch.testing.assert_close(found, wanted)


def in_threads(works: list[Callable[[], object]]) -> None:
    """Run functions at once, each in a thread, and raise their first error."""
    errors: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # a thread would only print it
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_the_functions_of_these_tests_agree(torch_device: Any) -> None:
    torch = pytest.importorskip("torch")
    for seed in range(3):
        check(torch, torch_device, seed)


def test_backward_runs_on_the_stream_of_the_call(cuda_torch: Any) -> None:
    """The operand gets its value late, and the cotangent later: a pass on another stream reads zeros."""
    torch = cuda_torch
    side = torch.cuda.Stream()
    for value in range(1, 5):
        x, g = (torch.zeros(SIZE, device="cuda") for _ in range(2))
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(SLEEP)
            leaf = x.add_(value).requires_grad_()
            made = xp.square(leaf)
            torch.cuda._sleep(SLEEP)
            (found,) = torch.autograd.grad(made, leaf, g.add_(value))
            assert (found == 2 * value * value).all()


def test_a_backward_pass_begun_on_another_stream(cuda_torch: Any) -> None:
    """Torch's engine runs each node on the stream of its call, and orders the streams."""
    torch = cuda_torch
    side, other = torch.cuda.Stream(), torch.cuda.Stream()
    for value in range(1, 5):
        leaf = torch.full((SIZE,), float(value), device="cuda", requires_grad=True)
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            made = xp.exp(xp.multiply(leaf, 2))
        other.wait_stream(side)
        with torch.cuda.stream(other):
            torch.cuda._sleep(SLEEP)
            (found,) = torch.autograd.grad(made, leaf, torch.full_like(leaf, 3.0))
            torch.testing.assert_close(found, 6 * (2 * leaf.detach()).exp())


def test_nodes_run_in_the_thread_of_the_engine(cuda_torch: Any) -> None:
    torch, seen = cuda_torch, []
    for number in range(3):
        x = torch.full((1000 + number,), 2.0, device="cuda", requires_grad=True)
        made = xp.square(x)
        made.register_hook(lambda g: seen.append(threading.get_ident()))
        made.sum().backward()
        assert (x.grad == 4).all()
    assert threading.get_ident() not in seen


def test_a_first_backward_pass_without_a_forward_call_in_its_thread(cuda_torch: Any) -> None:
    """Kernels are compiled and loaded in whichever thread needs them first."""
    torch = cuda_torch
    in_threads([lambda seed=seed: check(torch, "cuda", seed) for seed in range(4)])


def test_threads_on_streams_of_their_own(cuda_torch: Any) -> None:
    torch = cuda_torch

    def work(seed: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            for turn in range(10):
                check(torch, "cuda", seed + turn)

    in_threads([lambda seed=seed: work(seed) for seed in range(4)])


def test_overwritten_tensors_are_refused(cuda_torch: Any) -> None:
    torch = cuda_torch
    for _ in range(2):
        x = torch.rand(5, device="cuda", requires_grad=True)
        y = xp.exp(x)
        with torch.no_grad():
            xp.add(y, 1, out=y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_a_training_step_is_captured_and_replayed(warm: bool, cuda_torch: Any, capture: Any) -> None:
    torch = cuda_torch
    # Shapes of its own, so that a cold capture compiles.
    width = 8 if warm else 9
    generator = torch.Generator().manual_seed(3)
    batches = torch.randn(6, 7, width, generator=generator, dtype=torch.float64).cuda()
    index = torch.tensor([2, 0, 5, 1, 2, 2, 0], device="cuda")

    def model() -> tuple[list[Any], Any]:
        parameters = [
            torch.linspace(-1, 1, width * 4, dtype=torch.float64, device="cuda").reshape(width, 4).requires_grad_(),
            torch.ones(4, dtype=torch.float64, device="cuda").requires_grad_(),
        ]
        return parameters, torch.optim.SGD(parameters, lr=0.1)

    def step(loss_of: Callable[..., Any], parameters: list[Any], optimizer: Any, x: Any) -> Any:
        optimizer.zero_grad(set_to_none=False)
        loss = loss_of(x, *parameters, index)
        loss.backward()
        optimizer.step()
        return loss

    expected, their_optimizer = model()
    losses = [
        step(lambda *given: theirs(torch, *given), expected, their_optimizer, x).item() for x in batches for _ in "ab"
    ]

    parameters, optimizer = model()
    start, x, side = [each.detach().clone() for each in parameters], batches[0].clone(), torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # as torch asks for, and so that gradients have memory
        for _ in range(3):
            # A cold capture meets our calls for the first time; the gradients' memory comes from torch's calls.
            step(ours if warm else lambda *given: theirs(torch, *given), parameters, optimizer, x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with capture(graph):
        loss = step(ours, parameters, optimizer, x)
    with torch.no_grad():
        for each, value in zip(parameters, start, strict=True):
            each.copy_(value)
    found = []
    for batch in batches:
        x.copy_(batch)
        for _ in "ab":
            graph.replay()
            found.append(loss.item())
    assert found == pytest.approx(losses, rel=1e-9)
    torch.testing.assert_close(parameters, expected)


def _two_devices(torch: Any) -> tuple[str, str]:
    if torch.cuda.device_count() < 2:
        pytest.skip("compares two GPUs; torch sees fewer")
    return "cuda:0", "cuda:1"


def test_each_gradient_is_on_the_device_of_its_tensor(cuda_torch: Any) -> None:
    torch = cuda_torch
    first, second = _two_devices(torch)
    for device in (first, second, first):
        check(torch, device)
        assert torch.cuda.current_device() == 0
    x = torch.rand(50, device=first, requires_grad=True)
    y = torch.rand(50, device=second, requires_grad=True)
    for _ in range(2):
        made = xp.multiply(xp.exp(x).to(second), xp.sin(y))
        found = torch.autograd.grad(made.sum(), (x, y))
        wanted = torch.autograd.grad((x.exp().to(second) * y.sin()).sum(), (x, y))
        assert [each.device for each in found] == [x.device, y.device]
        torch.testing.assert_close(found, wanted)


def test_replicas_on_two_devices_in_two_threads(cuda_torch: Any) -> None:
    torch = cuda_torch

    def work(device: str) -> None:
        with torch.cuda.device(device):
            for seed in range(10):
                check(torch, device, seed)

    in_threads([lambda device=device: work(device) for device in _two_devices(torch)])
