"""`xp.graph` on a GPU: recorded functions of torch tensors, cupy arrays and xpops arrays. The reference is torch."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import xpops as xp
from tests.engine.test_graphs import WAITING, has_less_than
from xpops.engine import engine_of

pytestmark = pytest.mark.usefixtures("cuda")

ROWS, COLUMNS = 96, 700
KINDS = ("xpops", "torch", "cupy")


def chain(x: Any, y: Any) -> Any:
    for _ in range(10):
        x = xp.add(x, y)
        x = xp.multiply(x, 0.5)
    return x


def torch_chain(t: Any, x: Any, y: Any) -> Any:
    for _ in range(10):
        x = (x + y) * 0.5
    return x


# name -> (a function of xpops arrays, the same of torch and tensors). The arguments are float32 of ROWS and COLUMNS.
FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any, Any], Any]]] = {
    "add": (lambda x, y: x + y, lambda t, x, y: x + y),
    "chain": (chain, torch_chain),
    "several": (
        lambda x, y: (xp.sort(x + y, axis=1), xp.sum(x, axis=0), x > y),
        lambda t, x, y: (t.sort(x + y, dim=1).values, t.sum(x, dim=0), x > y),
    ),
    "softmax": (lambda x, y: xp.nn.softmax(x * y, axis=-1), lambda t, x, y: t.softmax(x * y, dim=-1)),
    "matmul": (lambda x, y: xp.matmul(x, y.T), lambda t, x, y: x @ y.T),
    "scan": (
        lambda x, y: xp.cumulative_sum(xp.where(x > 0, x, y), axis=0),
        lambda t, x, y: t.cumsum(t.where(x > 0, x, y), 0),
    ),
    "sum of all": (lambda x, y: xp.sum(x * x), lambda t, x, y: t.sum(x * x)),
    "a view of a result": (lambda x, y: (x + y)[1:, ::2], lambda t, x, y: (x + y)[1:, ::2]),
    "the first rows of a result": (lambda x, y: (x + y)[:5], lambda t, x, y: (x + y)[:5]),
    "an argument and a result twice": (lambda x, y: twice(x, x + y), lambda t, x, y: (x, x + y, x + y)),
    "new arrays": (lambda x, y: x + xp.full_like(x, 3.0) + xp.arange(COLUMNS, dtype=xp.float32, device=x.device),
                   lambda t, x, y: x + 3.0 + t.arange(COLUMNS, dtype=t.float32, device=x.device)),
    "assignment": (lambda x, y: assigned(x, y), lambda t, x, y: t.where(x > 1, t.zeros_like(y), y)),
}  # fmt: skip


def twice(x: Any, y: Any) -> Any:
    return x, y, y


def assigned(x: Any, y: Any) -> Any:
    out = y.copy()
    out[x > 1] = 0.0
    return out


def as_kind(kind: str, tensor: Any) -> Any:
    """The tensor as an array of another library, on the same memory."""
    if kind == "cupy":
        return pytest.importorskip("cupy").from_dlpack(tensor)
    return tensor if kind == "torch" else xp.asarray(tensor)


def check(torch: Any, found: Any, expected: Any) -> None:
    found, expected = (each if isinstance(each, tuple) else (each,) for each in (found, expected))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        ours = ours if isinstance(ours, torch.Tensor) else torch.from_dlpack(ours)
        torch.testing.assert_close(ours, theirs, rtol=2e-4, atol=2e-4)


def operands(torch: Any) -> list[Any]:
    return [torch.randn(ROWS, COLUMNS, device="cuda") for _ in range(2)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_new_data_at_the_same_addresses(name: str, kind: str, cuda_torch: Any, cuda: Any) -> None:
    """The results of all calls are checked at the end: no replay may write them again."""
    torch, (function, reference) = cuda_torch, FUNCTIONS[name]
    step, tensors = xp.graph(function), operands(torch)
    given = [as_kind(kind, each) for each in tensors]
    kept = []
    for _ in range(8):
        for tensor, fresh in zip(tensors, operands(torch), strict=True):
            tensor.copy_(fresh)
        result = step(*given)
        noise = [xp.full((ROWS, COLUMNS), 7.0, dtype=xp.float32, device=cuda) for _ in range(5)]
        noise += [torch.full((ROWS, COLUMNS), 9.0, device="cuda") for _ in range(5)]
        kept.append((result, reference(torch, *(each.clone() for each in tensors))))
        # Later calls reuse the addresses of results that are dropped.
        check(torch, step(*given), kept[-1][1])
        assert all(float(each[3, 5]) in (7.0, 9.0) for each in noise)
    for result, expected in kept:
        check(torch, result, expected)
        first = result[0] if isinstance(result, tuple) else result
        assert type(first).__module__.partition(".")[0] == kind


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_new_data_at_other_addresses(name: str, kind: str, cuda_torch: Any, cuda: Any) -> None:
    torch, (function, reference) = cuda_torch, FUNCTIONS[name]
    step, fixed = xp.graph(function), operands(torch)[1]
    kept = []
    for number in range(12):
        x, y = operands(torch)[0], fixed if number % 6 else operands(torch)[1]
        kept.append((x, y, step(as_kind(kind, x), as_kind(kind, y))))
    for x, y, result in kept:
        check(torch, result, reference(torch, x, y))


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_is_fed_back(kind: str, cuda_torch: Any, cuda: Any) -> None:
    step = xp.graph(lambda state, x: state * 0.5 + x)
    state = as_kind(kind, cuda_torch.zeros(5000, device="cuda"))
    x = as_kind(kind, cuda_torch.ones(5000, device="cuda"))
    for _ in range(40):
        state = step(state, x)
    assert float(state[17]) == 2.0


def test_other_layouts_and_constants_are_recorded_anew(cuda_torch: Any, cuda: Any) -> None:
    torch = cuda_torch
    step = xp.graph(lambda x, factor: xp.multiply(x, factor))
    for _ in range(3):
        for shape, dtype in (((5, 7), torch.float32), ((7, 5), torch.float32), ((5, 7), torch.int32)):
            x = torch.ones(shape, device="cuda").to(dtype)
            for factor in (1, 2, 3):
                assert torch.equal(step(x, factor), x * factor)
            assert torch.equal(step(x.T, 4), x.T * 4)
    zeros = [torch.signbit(step(torch.ones(3, device="cuda"), factor)).tolist() for factor in (0.0, -0.0, 0.0)]
    assert zeros == [[False] * 3, [True] * 3, [False] * 3]


def test_operands_of_two_libraries(cuda_torch: Any, cuda: Any) -> None:
    torch, step = cuda_torch, xp.graph(lambda x, y: x + y)
    for number in range(5):
        x, y = torch.full((900,), float(number), device="cuda"), xp.ones(900, dtype=xp.float32, device=cuda)
        result = step(x, y)
        assert isinstance(result, xp.Array)
        assert float(result[899]) == number + 1


def test_jax_arrays(cuda_torch: Any, cuda: Any) -> None:
    jax = pytest.importorskip("jax")
    if not any(each.platform == "gpu" for each in jax.devices()):
        pytest.skip("JAX has no GPU")
    step = xp.graph(lambda x, y: (x + y, xp.sum(x)))
    for number in range(5):
        x = jax.numpy.full((900,), float(number), dtype=jax.numpy.float32)
        first, second = step(x, x)
        assert isinstance(first, jax.Array)
        assert (float(first[5]), float(second)) == (2.0 * number, 900.0 * number)


@pytest.mark.parametrize("kind", ["xpops", "torch"])
def test_a_closure_is_read_and_written_where_it_is(kind: str, cuda_torch: Any, cuda: Any) -> None:
    """The first call runs the function once, like every other call."""
    torch = cuda_torch
    weights = torch.ones(3000, device="cuda")
    w, total = as_kind(kind, weights), xp.zeros(3000, dtype=xp.float32, device=cuda)

    @xp.graph
    def step(x: Any) -> Any:
        total[...] = total + x * xp.multiply(w, 2.0)
        return total * 1.0

    x, expected = torch.ones(3000, device="cuda"), 0.0
    for number in range(8):
        weights.fill_(float(number))
        expected += 2.0 * number
        assert float(step(x)[2999]) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_the_closure_outlive_their_names(kind: str, cuda_torch: Any, cuda: Any) -> None:
    torch = cuda_torch
    holder = {"w": as_kind(kind, torch.full((1 << 20,), 3.0, device="cuda"))}
    step = xp.graph(lambda x: x * holder["w"])
    x = torch.ones(1 << 20, device="cuda")
    for _ in range(3):
        assert float(step(x)[77]) == 3.0
    holder["w"] = None
    gc.collect()
    noise = [torch.full((1 << 20,), 9.0, device="cuda") for _ in range(10)]
    noise += [xp.full((1 << 20,), 9.0, dtype=xp.float32, device=cuda) for _ in range(10)]
    for _ in range(4):
        assert float(step(x)[77]) == 3.0


def test_calls_of_torch_in_the_function(cuda_torch: Any, cuda: Any) -> None:
    """They are recorded, too, and their memory stays the graph's."""
    torch = cuda_torch
    w = torch.randn(1 << 18, device="cuda")
    step = xp.graph(lambda x: x + xp.asarray(torch.relu(w * 2) + torch.abs(w)))
    for _ in range(6):
        w.copy_(torch.randn(1 << 18, device="cuda"))
        x = torch.randn(1 << 18, device="cuda")
        result = step(x)
        noise = [torch.full((1 << 18,), 9.0, device="cuda") for _ in range(10)]
        torch.cuda.empty_cache()
        torch.testing.assert_close(result, x + torch.relu(w * 2) + torch.abs(w))
        assert all(float(each[0]) == 9.0 for each in noise)


def test_calls_of_cupy_in_the_function(cuda_torch: Any, cuda: Any) -> None:
    cupy = pytest.importorskip("cupy")
    w = cupy.ones(1 << 18, dtype="float32")
    step = xp.graph(lambda x: x + xp.asarray(cupy.maximum(w * 2, 1) + cupy.abs(w)))
    for number in range(6):
        w.fill(number)
        x = cupy.full(1 << 18, 5.0, dtype="float32")
        result = step(x)
        noise = [cupy.full(1 << 18, 9.0, dtype="float32") for _ in range(10)]
        assert float(result[3]) == 5 + max(2 * number, 1) + number
        assert all(float(each[0]) == 9.0 for each in noise)


@pytest.mark.parametrize("name", WAITING)
def test_what_waits_is_refused_in_the_first_call(name: str, cuda_torch: Any, cuda: Any) -> None:
    tensor = cuda_torch.arange(64.0, device="cuda") + 100 * cuda_torch.eye(8, device="cuda").reshape(-1)

    @xp.graph
    def step(x: Any) -> Any:
        y = x + 1.0
        WAITING[name](y, y)
        return y

    for _ in range(2):
        with pytest.raises(xp.DeviceError, match=r"^step: \w+ cannot be recorded: .*cannot be captured"):
            step(xp.asarray(tensor))
    assert float(xp.graph(lambda x: x + 1.0)(tensor)[0]) == float(tensor[0]) + 1


def test_random_numbers_are_refused(cuda_torch: Any, cuda: Any) -> None:
    generator = xp.random.Generator(7)
    step = xp.graph(lambda x: x + generator.uniform(size=64, dtype=xp.float32, device=cuda))
    with pytest.raises(xp.DeviceError, match="uniform cannot be recorded: a draw of random numbers"):
        step(xp.ones(64, dtype=xp.float32, device=cuda))


def test_a_wait_of_torch_is_an_error(cuda_torch: Any, cuda: Any) -> None:
    w = cuda_torch.ones(64, device="cuda")

    @xp.graph
    def step(x: Any) -> Any:
        return x * float(w.sum().item())

    x = xp.ones(64, dtype=xp.float32, device=cuda)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            step(x)
    cuda_torch.cuda.synchronize()
    assert float(xp.graph(lambda x: x + 1)(x)[0]) == 2


def test_another_stream_is_refused(cuda_torch: Any, cuda: Any) -> None:
    side = cuda_torch.cuda.Stream()

    @xp.graph
    def step(x: Any) -> Any:
        with xp.stream(side):
            return x + 1

    with pytest.raises(xp.DeviceError, match=r"step: .*another stream cannot be recorded"):
        step(xp.ones(64, dtype=xp.float32, device=cuda))


def test_writes_to_arguments_are_refused(cuda_torch: Any, cuda: Any) -> None:
    def assign(x: Any) -> Any:
        x[...] = 3.0
        return x + 1

    for function in (assign, lambda x: xp.add(x, 1.0, out=x)):
        for kind in ("xpops", "torch"):
            x = cuda_torch.ones(64, device="cuda")
            with pytest.raises(ValueError, match="read-only"):
                xp.graph(function)(as_kind(kind, x))
            assert float(x.sum()) == 64


def test_an_error_of_the_function_passes_through(cuda_torch: Any, cuda: Any) -> None:
    calls: list[int] = []

    @xp.graph
    def step(x: Any) -> Any:
        calls.append(1)
        y = x + 1
        if len(calls) == 2:
            raise KeyError("mine")
        return y

    x = xp.ones(640, dtype=xp.float32, device=cuda)
    with pytest.raises(KeyError, match="mine"):  # the first call runs it, and records it
        step(x)
    for _ in range(4):
        assert float(step(x)[5]) == 2


def test_graphs_in_graphs(cuda_torch: Any, cuda: Any) -> None:
    inner = xp.graph(lambda x: xp.cumulative_sum(x) + 1)
    outer = xp.graph(lambda x: inner(x) * 2 + inner(x + 1))
    for number in range(6):
        x = cuda_torch.full((900,), float(number), device="cuda")
        expected = (cuda_torch.cumsum(x, 0) + 1) * 2 + cuda_torch.cumsum(x + 1, 0) + 1
        cuda_torch.testing.assert_close(outer(x), expected)
        cuda_torch.testing.assert_close(inner(x), cuda_torch.cumsum(x, 0) + 1)


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
@pytest.mark.parametrize("kind", ["xpops", "torch"])
def test_within_a_capture_of_torch(kind: str, warm: bool, cuda_torch: Any, capture: Any, cuda: Any) -> None:
    torch = cuda_torch
    step = xp.graph(lambda x: xp.cumulative_sum(x * 2))
    tensor = torch.ones(3000, device="cuda")
    x = as_kind(kind, tensor)
    for _ in range(4 * warm):
        step(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with capture(graph):
        result = step(x)
    for value in (3.0, 4.0):
        tensor.fill_(value)
        graph.replay()
        check(torch, result, torch.cumsum(tensor * 2, 0))
    check(torch, step(x), torch.cumsum(tensor * 2, 0))


def test_streams(cuda_torch: Any, cuda: Any) -> None:
    """Calls on several streams, with long work before them, so that they would overlap."""
    torch = cuda_torch
    step = xp.graph(lambda x: xp.cumulative_sum(xp.sort(x * 2)))
    sides = [torch.cuda.Stream() for _ in range(3)]
    kept = []
    for number in range(24):
        with torch.cuda.stream(sides[number % 3]):
            torch.cuda._sleep(2_000_000)
            x = torch.rand(50_000, device="cuda")
            kept.append((x, step(x)))
    torch.cuda.synchronize()
    for x, result in kept:
        torch.testing.assert_close(result, torch.cumsum(torch.sort(x * 2).values, 0), rtol=1e-3, atol=1e-2)


def test_threads(cuda_torch: Any, cuda: Any) -> None:
    torch = cuda_torch
    step = xp.graph(lambda x, k: xp.cumulative_sum(x * 2 + k))
    failures: list[str] = []

    def work(number: int) -> None:
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                for turn in range(60):
                    x = torch.full((4000 + turn % 3,), float(number), device="cuda")
                    found = step(x, turn % 4)
                    if not torch.equal(found, torch.cumsum(x * 2 + turn % 4, 0)):
                        failures.append(f"{number} {turn}")
        except Exception as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_recording_while_another_thread_allocates(cuda_torch: Any, cuda: Any) -> None:
    torch, stop = cuda_torch, threading.Event()
    failures: list[str] = []

    def allocate() -> None:
        try:
            while not stop.is_set():
                torch.cuda.empty_cache()
                torch.empty(1 << 24, device="cuda")
                xp.zeros(1 << 22, dtype=xp.float32, device=cuda)
        except Exception as error:
            failures.append(repr(error))

    thread = threading.Thread(target=allocate)
    thread.start()
    try:
        for number in range(30):
            x = torch.ones(1000 + number, device="cuda")
            step = xp.graph(lambda x: xp.sort(x + 1))
            for _ in range(4):
                assert float(step(x)[3]) == 2
    finally:
        stop.set()
        thread.join()
    assert failures == []


def test_memory_goes_with_the_graph(cuda_torch: Any, cuda: Any) -> None:
    pool = engine_of(cuda).pool  # type: ignore[attr-defined]  # the CUDA engine's
    x = xp.ones((1 << 26,), dtype=xp.float32, device=cuda)
    step = xp.graph(lambda x: xp.sum(xp.sort(x + 1)))
    for _ in range(4):
        result = step(x)
    pool.trim()
    reserved = pool.reserved()
    del step
    gc.collect()
    cuda_torch.cuda.synchronize()
    assert has_less_than(pool, reserved)
    assert float(result) == 2 << 26


def test_a_loop_is_one_launch(cuda_torch: Any, cuda: Any) -> None:
    """From some call on, the function does not run, and a call does not take longer than a replay needs."""
    runs: list[int] = []

    @xp.graph
    def step(x: Any) -> Any:
        runs.append(1)
        return chain(x, x)

    x = xp.ones(1000, dtype=xp.float32, device=cuda)
    for _ in range(20):
        result = step(x)
    before = len(runs)
    cuda_torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(200):
        result = step(x)
    cuda_torch.cuda.synchronize()
    assert len(runs) == before
    assert before <= 8
    assert (time.perf_counter() - start) / 200 < 1e-3
    assert float(result[0]) == 1.0


def test_devices(cuda_torch: Any) -> None:
    if cuda_torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    step = xp.graph(lambda x: xp.cumulative_sum(x + 1))
    for number in range(6):
        for device in ("cuda:0", "cuda:1"):
            x = cuda_torch.full((900,), float(number), device=device)
            assert cuda_torch.equal(step(x), cuda_torch.cumsum(x + 1, 0))
