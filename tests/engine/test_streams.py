"""Order between streams: ours, torch's, and both in one call. A missing wait shows as a wrong number.

Torch's streams do not wait for the legacy default stream, nor it for them, so nothing here is ordered by itself.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.engine.cuda.runtime import streams
from xpops.engine.cuda.runtime.streams import LEGACY_DEFAULT, stream

current = streams.current(0)

SIZE = 1 << 16
SLEEP = 2_000_000  # cycles: about a millisecond


@pytest.fixture
def side(cuda_torch: Any) -> Any:
    """A torch stream on which nothing waits."""
    return cuda_torch.cuda.Stream()


class FakeStream:
    """A stream of any library."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


class CupyLike:
    ptr = 77


class TorchLike:
    cuda_stream = 78


@pytest.mark.parametrize(
    ("s", "handle"), [(FakeStream(76), 76), (CupyLike(), 77), (TorchLike(), 78)], ids=["any", "cupy", "torch"]
)
def test_streams_of_any_library(s: Any, handle: int) -> None:
    assert current() == LEGACY_DEFAULT
    with stream(s):
        assert current() == handle
        with stream(FakeStream(1)):
            assert current() == 1
        assert current() == handle
    assert current() == LEGACY_DEFAULT


def test_a_stream_is_the_current_one_of_its_thread_only() -> None:
    seen: list[int] = []
    with stream(FakeStream(5)):
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    assert seen == [LEGACY_DEFAULT]


def test_an_error_in_the_block_restores_the_stream() -> None:
    with pytest.raises(ZeroDivisionError), stream(FakeStream(5)):
        _ = 1 / 0
    assert current() == LEGACY_DEFAULT


@pytest.mark.parametrize("s", [3, None, "cuda:0", 1.5], ids=repr)
def test_refused_streams(s: Any) -> None:
    with pytest.raises(TypeError, match=r"stream: s is an? .*; accepted: an object with __cuda_stream__"), stream(s):
        pass


def test_torch_tensors_are_computed_on_torchs_stream(cuda_torch: Any, side: Any) -> None:
    x = cuda_torch.zeros(SIZE, device="cuda")
    cuda_torch.cuda.synchronize()
    for turn in range(100):
        with cuda_torch.cuda.stream(side):
            cuda_torch.cuda._sleep(SLEEP)
            x.fill_(turn)
            y = xp.add(x, 1.0)
            z = y * 2
        side.synchronize()
        assert bool((z == 2 * turn + 2).all()), turn


def test_xpops_arrays_are_computed_on_the_current_stream(cuda_torch: Any, side: Any) -> None:
    t = cuda_torch.zeros(SIZE, device="cuda")
    x = xp.asarray(t)
    cuda_torch.cuda.synchronize()
    for turn in range(100):
        with cuda_torch.cuda.stream(side):
            cuda_torch.cuda._sleep(SLEEP)
            t.fill_(turn)
        with stream(side):
            y = (x + 1.0) * 2.0
            host = y.to_numpy()
        assert (host == 2 * turn + 2).all(), turn


@pytest.mark.parametrize("size", [1, 1000, SIZE, 50 * SIZE])
def test_kernels_in_a_row_see_what_those_before_have_written(cuda_torch: Any, side: Any, size: int) -> None:
    """A kernel may be launched before the one before it has ended; each reads here what other blocks have written."""
    x = xp.asarray(cuda_torch.arange(size, device="cuda", dtype=cuda_torch.float64))
    cuda_torch.cuda.synchronize()
    with stream(side):
        y, total = x, x
        for turn in range(60):
            y = xp.flip(y) + 1.0  # into memory that the call before the last has given back
            total = xp.cumulative_sum(y) - xp.cumulative_sum(y - 1.0) + xp.sum(y * 0.0)
            if turn % 20 == 19:
                y[0] = y[0] + 0.0
        found, sums = y.to_numpy(), total.to_numpy()
    assert (found == np.arange(size) + 60).all()
    assert (sums == np.arange(1, size + 1)).all()


def test_our_streams_own_work_is_in_order(cuda_torch: Any, side: Any) -> None:
    cuda_torch.cuda.synchronize()
    with stream(side):
        for turn in range(100):
            x = xp.full(SIZE, turn, dtype=xp.float32, device="cuda")
            y = x[::-1] + 1.0
            x = xp.full(SIZE, -1.0, dtype=xp.float32, device="cuda")  # may get the memory of x
            assert (y.to_numpy() == turn + 1).all(), turn


def test_a_torch_tensor_beside_an_xpops_array(cuda_torch: Any, side: Any) -> None:
    t = cuda_torch.zeros(SIZE, device="cuda")
    x = xp.ones(SIZE, dtype=xp.float32, device="cuda")
    cuda_torch.cuda.synchronize()
    for turn in range(100):
        with cuda_torch.cuda.stream(side):
            cuda_torch.cuda._sleep(SLEEP)
            t.fill_(turn)
            y = xp.add(t, x)
        assert isinstance(y, xp.Array)
        assert (y.to_numpy() == turn + 1).all(), turn


def test_torch_waits_before_it_changes_what_we_read(cuda_torch: Any, side: Any) -> None:
    t = cuda_torch.zeros(SIZE, device="cuda")
    x = xp.ones(SIZE, dtype=xp.float32, device="cuda")
    cuda_torch.cuda.synchronize()
    for turn in range(100):
        with cuda_torch.cuda.stream(side):
            t.fill_(turn)
        cuda_torch.cuda._sleep(SLEEP)  # on the default stream, which we use, so that the sum is late
        with cuda_torch.cuda.stream(side):
            y = xp.add(t, x)
            t.fill_(-5.0)
        assert (y.to_numpy() == turn + 1).all(), turn


def test_inputs_that_are_freed_and_refilled_at_once(cuda_torch: Any, side: Any) -> None:
    x = xp.ones(SIZE, dtype=xp.float32, device="cuda")
    cuda_torch.cuda.synchronize()
    for turn in range(100):
        cuda_torch.cuda._sleep(SLEEP)
        with cuda_torch.cuda.stream(side):
            t = cuda_torch.full((SIZE,), float(turn), device="cuda")
            y = xp.add(t, x)
            del t
            refilled = cuda_torch.full((SIZE,), -5.0, device="cuda")  # torch's allocator reuses the same memory
        assert (y.to_numpy() == turn + 1).all(), turn
        del refilled


def test_torch_reads_an_xpops_array_in_order(cuda_torch: Any, side: Any) -> None:
    for turn in range(100):
        cuda_torch.cuda._sleep(SLEEP)
        x = xp.full(SIZE, turn, dtype=xp.float32, device="cuda")  # late, on the default stream
        with cuda_torch.cuda.stream(side):
            t = cuda_torch.from_dlpack(x)
            total = t + 1
        side.synchronize()
        assert bool((total == turn + 1).all()), turn


def test_an_out_of_torch_on_its_stream(cuda_torch: Any, side: Any) -> None:
    x = xp.ones(SIZE, dtype=xp.float32, device="cuda")
    out = cuda_torch.zeros(SIZE, device="cuda")
    cuda_torch.cuda.synchronize()
    for turn in range(100):
        cuda_torch.cuda._sleep(SLEEP)
        with cuda_torch.cuda.stream(side):
            out.fill_(-1.0)
            xp.add(x, float(turn), out=out)
            seen = out * 2
        side.synchronize()
        assert bool((seen == 2 * turn + 2).all()), turn


def test_cupy_arrays_are_computed_on_cupys_stream(cuda: Any) -> None:
    cupy = pytest.importorskip("cupy")
    side = cupy.cuda.Stream(non_blocking=True)
    for turn in range(20):
        with side:
            x = cupy.full(SIZE, turn, cupy.float32)
            y = xp.add(x, 1.0)
            z = y * 2
        side.synchronize()
        assert isinstance(y, cupy.ndarray)
        assert np.array_equal(cupy.asnumpy(z), np.full(SIZE, 2 * turn + 2, np.float32)), turn


_GENERATOR = np.random.default_rng(0)
# Two stacks or matrices each, one for each stream.
_MATRICES = {
    "one": _GENERATOR.normal(size=(2, 96, 96)),
    "stack": _GENERATOR.normal(size=(2, 20, 24, 24)),
}
_LIBRARIES: dict[str, Any] = {
    "matmul": lambda x: x @ x,
    "solve": lambda x: xp.linalg.solve(x, x[..., :3]),
    "inv": xp.linalg.inv,
    "cholesky": lambda x: xp.linalg.cholesky(x @ x.mT + xp.eye(x.shape[-1], device=x.device)),
    "qr": lambda x: xp.linalg.qr(x).R,
    "svdvals": xp.linalg.svdvals,
    "eigvalsh": lambda x: xp.linalg.eigvalsh(x + x.mT),
    "det": xp.linalg.det,
    "rfft": lambda x: xp.real(xp.fft.rfft(x)),
    "fft of columns": lambda x: xp.real(xp.fft.fft(xp.astype(x, xp.complex128), axis=-2)),
    "fft of a prime": lambda x: xp.real(xp.fft.fft(xp.astype(x, xp.complex128), n=83)),
}


@pytest.mark.parametrize("form", _MATRICES)
@pytest.mark.parametrize("name", _LIBRARIES)
def test_a_library_at_work_on_two_streams(name: str, form: str, cuda_torch: Any, cuda: Any) -> None:
    """They share its handle and its plans, but not memory that both write."""
    call, sides = _LIBRARIES[name], [cuda_torch.cuda.Stream() for _ in range(2)]
    given = [xp.asarray(each, device=cuda) for each in _MATRICES[form]]
    alone = [call(x).to_numpy() for x in given]
    for turn in range(5):
        made: list[list[Any]] = [[], []]
        for side in sides:
            with cuda_torch.cuda.stream(side):
                cuda_torch.cuda._sleep(SLEEP)  # so that both are at work when it ends
        for _ in range(5):
            for side, x, results in zip(sides, given, made, strict=True):
                with stream(side):
                    results.append(call(x))
        for side, results, right in zip(sides, made, alone, strict=True):
            with stream(side):
                for result in results:
                    np.testing.assert_allclose(result.to_numpy(), right, rtol=1e-9, atol=1e-9, err_msg=str(turn))
