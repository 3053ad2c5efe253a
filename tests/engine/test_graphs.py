"""CUDA graphs: captured calls on torch tensors and xpops arrays. Calls that cannot be captured do not end a capture."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import xpops as xp
from xpops.engine import engine_of

pytestmark = pytest.mark.usefixtures("cuda")

ROWS, COLUMNS = 96, 700  # rows of more than 1024 elements in all, no multiple of a tile


@xp.fuse
def fused(x: Any, y: Any) -> Any:
    shifted = xp.exp(x - xp.max(x, axis=-1, keepdims=True)) * y
    return shifted / xp.sum(shifted, axis=-1, keepdims=True)


square = xp.kernel.ElementwiseKernel("T x", "T y", "y = x * x", "square")

# (x, y, indices) -> array; x and y float32 of ROWS and COLUMNS.


def assign(x: Any, key: Any, value: Any) -> Any:
    """A copy of `x` after ``x[key] = value``."""
    copy = xp.asarray(xp.add(x, 0.0))
    copy[key] = value
    return copy


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda x, y, i: xp.add(x, y),
    "add a scalar": lambda x, y, i: xp.add(x, 2.5),
    "of views": lambda x, y, i: xp.multiply(x[:, ::2], y[:, 1::2]),
    "where": lambda x, y, i: xp.where(xp.greater(x, y), x, y),
    "astype": lambda x, y, i: xp.astype(x, xp.float16),
    "sum": lambda x, y, i: xp.sum(x),
    "sum of rows": lambda x, y, i: xp.sum(x, axis=1),
    "var of columns": lambda x, y, i: xp.var(x, axis=0),
    "softmax": lambda x, y, i: xp.nn.softmax(x, axis=-1),
    "gelu": lambda x, y, i: xp.nn.gelu(x),
    "cumulative_sum": lambda x, y, i: xp.cumulative_sum(x, axis=1),
    "cumulative_sum of all": lambda x, y, i: xp.cumulative_sum(xp.reshape(x, (-1,))),
    "sort": lambda x, y, i: xp.sort(x, axis=1),
    "argsort of all": lambda x, y, i: xp.argsort(xp.reshape(x, (-1,))),
    "matmul": lambda x, y, i: xp.matmul(x, y.T),
    "vecdot": lambda x, y, i: xp.vecdot(x, y),
    "take": lambda x, y, i: xp.take(x, i, axis=0),
    "concat": lambda x, y, i: xp.concat([x, y], axis=1),
    "stack": lambda x, y, i: xp.stack([x, y], axis=2),
    "roll": lambda x, y, i: xp.roll(x, 3, axis=1),
    "index_add": lambda x, y, i: xp.nn.index_add(x, i, y),
    "clip": lambda x, y, i: xp.clip(x, -0.5, 0.5),
    "fft": lambda x, y, i: xp.abs(xp.fft.fft(x)),
    "fused": lambda x, y, i: fused(x, y),
    "several": lambda x, y, i: xp.sum(xp.sort(xp.add(x, y), axis=0), axis=1),
    "kernel": lambda x, y, i: square(x),
    "x[i] = y": lambda x, y, i: assign(x, xp.asarray(i), y),
    "x[1:9, i] = 1": lambda x, y, i: assign(x, (slice(1, 9), xp.asarray(i)), 1.0),
    "x[mask] = 1": lambda x, y, i: assign(x, xp.asarray(xp.greater(x, y)), 1.0),
    "full": lambda x, y, i: xp.add(xp.full_like(x, 3.0), x),
}


def operands(torch: Any) -> tuple[Any, Any, Any]:
    x, y = (torch.randn(ROWS, COLUMNS, device="cuda") for _ in range(2))
    return x, y, torch.randperm(ROWS, device="cuda")


def as_torch(torch: Any, result: Any) -> Any:
    return result if isinstance(result, torch.Tensor) else torch.from_dlpack(result)


FIRST_CALLS = """
import torch
import xpops as xp

x = torch.eye(64, device="cuda") * 3
for call in (xp.fft.fft, xp.fft.irfft, lambda x: xp.matmul(x, x)):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = call(x)
    graph.replay()
    assert torch.equal(found, call(x)), call
"""


def test_the_first_calls_of_a_process(cuda_torch: Any) -> None:
    """Libraries are opened, and plans made, within the capture."""
    done = subprocess.run([sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
@pytest.mark.parametrize("ours", [False, True], ids=["torch", "xpops"])
@pytest.mark.parametrize("name", CALLS)
def test_a_replay_computes_new_data(
    name: str, ours: bool, warm: bool, cuda_torch: Any, capture: Any, cuda: Any
) -> None:
    torch, call = cuda_torch, CALLS[name]
    given = operands(torch)
    taken = tuple(xp.asarray(each) for each in given) if ours else given
    if warm:
        for _ in range(3):
            call(*taken)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with capture(graph):
        result = call(*taken)
    for turn in range(3):
        for each, fresh in zip(given, operands(torch), strict=True):
            each.copy_(fresh)
        graph.replay()
        # Neither library may have reused the graph's memory.
        noise = [xp.full((ROWS, COLUMNS), 7.0, dtype=xp.float32, device=cuda) for _ in range(20)]
        torch.cuda.synchronize()
        replayed = as_torch(torch, result).clone()
        graph.replay()
        noise += [torch.full((ROWS, COLUMNS), 9.0, device="cuda") for _ in range(20)]
        again = as_torch(torch, result).clone()
        expected = as_torch(torch, call(*taken))
        assert torch.equal(replayed, expected), turn
        assert torch.equal(again, expected), turn
        assert all(float(each[3, 5]) in (7.0, 9.0) for each in noise)


def test_the_memory_of_a_graph_is_given_back_with_it(cuda_torch: Any, capture: Any, cuda: Any) -> None:
    torch, pool = cuda_torch, engine_of(cuda).pool  # type: ignore[attr-defined]  # the CUDA engine's
    x = xp.ones((1 << 26,), dtype=xp.float32, device=cuda)  # much more than the driver's unit of 32 MiB
    graph = torch.cuda.CUDAGraph()
    with capture(graph):
        result = xp.sort(x + 1)
    pool.trim()
    reserved = pool.reserved()
    graph.replay()
    assert float(result[17]) == 2
    del graph
    gc.collect()
    torch.cuda.synchronize()
    assert float(result[17]) == 2, "a result outlives the graph"
    assert has_less_than(pool, reserved)
    without_scratch = pool.reserved()
    del result
    assert has_less_than(pool, without_scratch)


def has_less_than(pool: Any, reserved: int) -> bool:
    """Whether the pool soon holds less. The driver reports on its own thread that a graph is destroyed."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        pool.trim()
        if pool.reserved() < reserved:
            return True
        time.sleep(0.01)
    return False


def test_a_capture_that_another_thread_ends(cuda: Any) -> None:
    from cuda.bindings import driver

    cupy = pytest.importorskip("cupy")
    x, side, errors = xp.ones(5000, dtype=xp.float32, device=cuda), cupy.cuda.Stream(non_blocking=True), []
    _, context = driver.cuCtxGetCurrent()

    def allocate() -> None:
        driver.cuCtxSetCurrent(context)
        errors.append(driver.cuMemAlloc(1 << 20)[0])

    other = threading.Thread(target=allocate)
    with side, xp.stream(side):
        side.begin_capture(cupy.cuda.runtime.streamCaptureModeGlobal)
        other.start()
        other.join()
        with pytest.raises(xp.DeviceError, match=r"another call invalidated the capture.*capture_error_mode"):
            xp.add(x, 1.0)
        with pytest.raises(cupy.cuda.runtime.CUDARuntimeError):
            side.end_capture()
    assert errors == [driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED]
    assert float(xp.add(x, 1.0)[99]) == 2.0


def test_graphs_do_not_share_memory(cuda_torch: Any, capture: Any, cuda: Any) -> None:
    torch = cuda_torch
    x = xp.asarray(torch.arange(70000.0, device="cuda"))
    graphs, results = [], []
    for number in range(4):
        graphs.append(torch.cuda.CUDAGraph())
        with capture(graphs[-1]):
            results.append(xp.cumulative_sum(xp.multiply(x, number + 1.0)))
    for graph in graphs:
        graph.replay()
    for number, result in enumerate(results):
        assert torch.equal(
            torch.from_dlpack(result), torch.from_dlpack(xp.cumulative_sum(xp.multiply(x, number + 1.0)))
        )


def test_a_stream_that_is_set_is_captured(cuda_torch: Any, cuda: Any) -> None:
    """As with cupy's graphs: calls on xpops arrays run on the stream set by `xp.stream`."""
    cupy = pytest.importorskip("cupy")
    x, y = (xp.ones(5000, dtype=xp.float32, device=cuda) for _ in range(2))
    side = cupy.cuda.Stream(non_blocking=True)
    cuda_torch.cuda.synchronize()
    with side, xp.stream(side):
        side.begin_capture()
        xp.add(x, xp.sum(x), out=y)
        graph = side.end_capture()
    x[...] = 2.0
    cuda_torch.cuda.synchronize()
    graph.launch(side)
    side.synchronize()
    assert float(y[11]) == 10002.0


WAITING: dict[str, Callable[[Any, Any], Any]] = {
    "float": lambda x, t: float(x[0]),
    "float of a tensor": lambda x, t: float(xp.asarray(t)[0]),
    "print": lambda x, t: repr(x),
    "to_numpy": lambda x, t: x.to_numpy(),
    "from the host": lambda x, t: xp.asarray([1.0, 2.0], device="cuda"),
    "nonzero": lambda x, t: xp.nonzero(x),
    "where": lambda x, t: xp.where(x),
    "nonzero of a tensor": lambda x, t: xp.nonzero(t),
    "mask": lambda x, t: x[x > 1],
    "unique": lambda x, t: xp.unique_values(x),
    "inv": lambda x, t: xp.linalg.inv(xp.reshape(x, (8, 8))),
    "list as a key": lambda x, t: x[[1, 2, 3]],
    "to the host": lambda x, t: x.to_device("cpu"),
}


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
@pytest.mark.parametrize("name", WAITING)
def test_what_waits_is_refused_and_the_capture_goes_on(
    name: str, warm: bool, cuda_torch: Any, capture: Any, cuda: Any
) -> None:
    torch = cuda_torch
    tensor = torch.arange(64.0, device="cuda") + 100 * torch.eye(8, device="cuda").reshape(-1)
    x = xp.asarray(tensor)
    if warm:
        WAITING[name](x, tensor)
    graph = torch.cuda.CUDAGraph()
    with capture(graph):
        before = xp.add(x, 1.0)
        with pytest.raises(xp.DeviceError, match="cannot be captured in a CUDA graph"):
            WAITING[name](x, tensor)
        after = xp.add(before, 1.0)
    tensor.mul_(2)
    graph.replay()
    assert torch.equal(torch.from_dlpack(after), tensor + 2)
    WAITING[name](x, tensor)


def test_arrays_of_another_stream_are_refused(cuda_torch: Any, capture: Any, cuda: Any) -> None:
    """Captured work cannot wait for work that is not captured."""
    torch = cuda_torch
    tensor, side = torch.ones(5000, device="cuda"), torch.cuda.Stream()
    x = xp.ones(5000, dtype=xp.float32, device=cuda)
    graph = torch.cuda.CUDAGraph()
    with capture(graph):
        with xp.stream(side), pytest.raises(xp.DeviceError, match="cannot be captured"):
            xp.add(tensor, x)
        result = xp.add(tensor, x)
    graph.replay()
    assert float(result[7]) == 2.0


def test_memory_freed_during_a_capture_is_used_again_by_it_alone(cuda_torch: Any, capture: Any, cuda: Any) -> None:
    torch, pool = cuda_torch, engine_of(cuda).pool  # type: ignore[attr-defined]  # the CUDA engine's
    x = xp.ones((1 << 22,), dtype=xp.float32, device=cuda)
    large = xp.ones((1 << 26,), dtype=xp.float32, device=cuda)
    pool.trim()
    before = pool.reserved()
    graph = torch.cuda.CUDAGraph()
    with capture(graph):
        y = x + 1
        del large  # allocated before the capture, freed during it
        for _ in range(50):
            y = y * 1.5
            y = y / 1.5
    assert pool.reserved() - before < 8 * (1 << 24)
    graph.replay()
    assert float(y[99]) == pytest.approx(2.0, rel=1e-5)


def test_memory_dropped_while_a_blocking_stream_is_captured(cuda: Any) -> None:
    """The memory belongs to the legacy default stream. Any use of this stream would end the capture."""
    cupy = pytest.importorskip("cupy")
    pool = engine_of(cuda).pool  # type: ignore[attr-defined]  # the CUDA engine's
    x, y = (xp.ones(5000, dtype=xp.float32, device=cuda) for _ in range(2))
    large = xp.ones(1 << 26, dtype=xp.float32, device=cuda)
    side = cupy.cuda.Stream()
    side.synchronize()
    cupy.cuda.Device().synchronize()
    with side, xp.stream(side):
        side.begin_capture()
        xp.add(x, 1.0, out=y)
        del large
        gc.collect()
        xp.add(y, 1.0, out=y)
        graph = side.end_capture()
    reserved = pool.reserved()
    graph.launch(side)
    side.synchronize()
    assert float(y[9]) == 3.0
    pool.trim()
    assert pool.reserved() <= reserved - (1 << 28)
