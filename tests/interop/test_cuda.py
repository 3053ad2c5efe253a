"""Tests that need a GPU: streams of several libraries, reuse of memory, interfaces read by other libraries."""

from __future__ import annotations

import os

import numpy as np
import pytest

import xpops
from tests.helpers.devices import DEVICES
from xpops.dlpack.importing import from_dlpack
from xpops.engine import engine_of
from xpops.engine.cuda.runtime.streams import stream

GPUS = [device for device in DEVICES if device.type == "cuda"]
pytestmark = pytest.mark.skipif(not GPUS, reason="needs a GPU")
GPU = GPUS[0] if GPUS else None
SIZE = 1 << 24
SLEEP = 20_000_000  # cycles: about ten milliseconds


@pytest.fixture(autouse=True)
def _first_gpu():
    """Make the first GPU current, because JAX may leave another one current."""
    with engine_of(GPU).current():
        yield


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA")
    return torch


def slow(torch, value):
    """A tensor of zeros that gets `value` only after the stream has worked for a while."""
    x = torch.zeros(SIZE, device=GPU)
    torch.cuda.synchronize()
    torch.cuda._sleep(20_000_000)
    return x.add_(value)


def test_torch_alone_runs_on_torchs_stream(torch):
    side = torch.cuda.Stream(GPU)
    for value in range(5):
        with torch.cuda.stream(side):
            y = xpops.add(slow(torch, value), 1)
            assert (y == value + 1).all()


def test_a_mix_waits_for_torchs_stream(torch):
    side = torch.cuda.Stream(GPU)
    one = xpops.asarray(np.ones(SIZE, np.float32), device=GPU)
    for value in range(5):
        with torch.cuda.stream(side):
            y = xpops.add(slow(torch, value), one)
        assert (y.to_numpy() == value + 1).all()


def test_imports_wait_for_torchs_stream(torch):
    side = torch.cuda.Stream(GPU)
    for take in (xpops.asarray, xpops.from_dlpack):
        with torch.cuda.stream(side):
            x = take(slow(torch, 3))
        assert (xpops.add(x, 1).to_numpy() == 4).all()


def test_torchs_stream_waits_for_exports(torch):
    side = torch.cuda.Stream(GPU)
    for ours in (torch.cuda.Stream(GPU), torch.cuda.default_stream(GPU)):
        x = xpops.from_dlpack(torch.zeros(SIZE, device=GPU))
        torch.cuda.synchronize()
        with torch.cuda.stream(ours), stream(ours):
            torch.cuda._sleep(20_000_000)
            xpops.add(x, 5, out=x)
            with torch.cuda.stream(side):
                y = torch.from_dlpack(x)
                assert (y == 5).all()


def test_export_to_the_host_waits(torch):
    x = xpops.from_dlpack(torch.zeros(SIZE, device=GPU))
    torch.cuda._sleep(20_000_000)
    xpops.add(x, 5, out=x)
    host = np.from_dlpack(x, device="cpu")
    assert (host == 5).all()
    assert host.flags.writeable
    with pytest.raises(BufferError):
        np.from_dlpack(x, device="cpu", copy=False)


def test_the_current_device_stays(torch):
    before = torch.cuda.current_device()
    for device in GPUS:
        x = torch.arange(8.0, device=device)
        assert xpops.add(x, x).device == x.device
        xpops.asarray(x).to_numpy()
    assert torch.cuda.current_device() == before


def test_cupy(torch):
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(12, dtype=cupy.float32).reshape(3, 4)[:, ::2]
    y = xpops.add(x, x)
    assert type(y) is cupy.ndarray
    assert (y.get() == 2 * x.get()).all()
    ours = xpops.asarray(x)
    assert cupy.asarray(ours).data.ptr == cupy.from_dlpack(ours).data.ptr == x.data.ptr
    with cupy.cuda.Stream(non_blocking=True) as side:
        for value in range(5):
            cupy_x, tensor = cupy.full(SIZE, value, cupy.float32), slow(torch, value)
            assert (xpops.add(cupy_x, cupy_x).get() == 2 * value).all()
            assert (xpops.add(cupy_x, tensor).to_numpy() == 2 * value).all()
        side.synchronize()


def test_cuda_array_interface(torch):
    cuda = pytest.importorskip("numba.cuda")
    x = xpops.asarray(np.arange(12, dtype=np.float32).reshape(3, 4), device=GPU)
    theirs = cuda.as_cuda_array(x[:, ::2])
    assert theirs.copy_to_host().tolist() == [[0, 2], [4, 6], [8, 10]]

    class Interface:
        __cuda_array_interface__ = theirs.__cuda_array_interface__

    for back in (theirs, Interface()):
        assert xpops.add(back, 1).to_numpy().tolist() == [[1, 3], [5, 7], [9, 11]]
        assert from_dlpack(back).layout.device == GPU
    narrow = x.astype("bfloat16") if hasattr(x, "astype") else xpops.astype(x, "bfloat16")
    assert not hasattr(narrow, "__cuda_array_interface__")
    assert torch.from_dlpack(narrow).dtype == torch.bfloat16


def test_moves():
    array = np.arange(12.0).reshape(3, 4)
    there = xpops.from_dlpack(array[:, ::-1], device=GPU)
    assert there.device == GPU
    assert np.array_equal(xpops.from_dlpack(there.T, device="cpu").to_numpy(), array[:, ::-1].T)


@pytest.mark.parametrize("size", [4096, 1 << 20, 1 << 25])
def test_memory_is_not_reused_under_a_consumer(torch, size):
    """The consumer's stream sleeps before it reads. We overwrite the memory as soon as it is released."""
    side = torch.cuda.Stream(GPU)
    again = 0
    for turn in range(10):
        x = xpops.full(size, turn, dtype=xpops.float32, device=GPU)
        address = x._data
        with torch.cuda.stream(side):
            y = torch.from_dlpack(x)
            torch.cuda._sleep(SLEEP)
            late = y + 1
            del x, y
        fillers = [xpops.full(size, -5.0, dtype=xpops.float32, device=GPU) for _ in range(3)]
        again += address in [filler._data for filler in fillers]
        side.synchronize()
        assert (late == turn + 1).all(), turn
        del fillers
    assert again, "the memory was never used again"


@pytest.mark.parametrize("take", [xpops.asarray, xpops.from_dlpack], ids=["asarray", "from_dlpack"])
def test_a_lender_does_not_reuse_memory_under_us(torch, take):
    """Our stream sleeps before it reads. torch overwrites the memory as soon as it is released."""
    side, again = torch.cuda.Stream(GPU), 0
    for turn in range(10):
        with torch.cuda.stream(side):
            t = torch.full((SIZE,), float(turn), device=GPU)
            address = t.data_ptr()
            x = take(t)
        torch.cuda._sleep(SLEEP)  # on the default stream, which we use
        late = x + 1
        with torch.cuda.stream(side):
            del t, x
            filled = torch.full((SIZE,), -5.0, device=GPU)
            again += filled.data_ptr() == address
        assert (late.to_numpy() == turn + 1).all(), turn
        del filled
    assert again, "the memory was never used again"


@pytest.mark.parametrize("size", [4096, 1 << 20, 1 << 25])
def test_a_stream_does_not_get_what_another_one_has_freed(torch, size):
    """Stream A sleeps before it writes to memory that is already freed. Meanwhile stream B fills new memory."""
    a, b = torch.cuda.Stream(GPU), torch.cuda.Stream(GPU)
    for turn in range(10):
        with stream(a):
            x = xpops.zeros(size, dtype=xpops.float32, device=GPU)
            with torch.cuda.stream(a):
                torch.cuda._sleep(SLEEP)
            xpops.add(x, -5.0, out=x)
            del x
        with stream(b):
            y = xpops.full(size, turn, dtype=xpops.float32, device=GPU)
        torch.cuda.synchronize()
        assert (y.to_numpy() == turn).all(), turn


def test_memory_that_lists_keep_is_given_to_a_large_array(torch):
    """Before memory runs out: the array needs nearly all free memory, and what small arrays have left in the lists."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("takes the whole GPU: run this file without workers, -n 0")
    pool = engine_of(GPU).pool
    pool.trim()
    torch.cuda.empty_cache()
    blocks = [xpops.empty(48 << 20, dtype=xpops.uint8, device=GPU) for _ in range(pool._most // (48 << 20))]
    free = torch.cuda.mem_get_info()[0]
    kept = sum(block.size for block in blocks)
    del blocks
    x = xpops.empty(free + kept // 2, dtype=xpops.uint8, device=GPU)
    x[-16:] = 3
    assert int(x[-1]) == 3
    del x
    pool.trim()
