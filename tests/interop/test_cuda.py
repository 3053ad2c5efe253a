"""What only a GPU shows: streams of several libraries, memory that is reused, interfaces as others read them."""

from __future__ import annotations

import numpy as np
import pytest

import xpops
from tests.helpers.devices import DEVICES
from xpops.dlpack import from_dlpack
from xpops.engine import engine_of
from xpops.engine.cuda.streams import stream

GPUS = [device for device in DEVICES if device.type == "cuda"]
pytestmark = pytest.mark.skipif(not GPUS, reason="needs a GPU")
GPU = GPUS[0] if GPUS else None
SIZE = 1 << 24


@pytest.fixture(autouse=True)
def _first_gpu():
    """JAX leaves another one current behind it."""
    with engine_of(GPU).current():
        yield


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch has no CUDA")
    return torch


def slow(torch, value):
    """A tensor that holds `value` only when the stream has worked for a while; before, it holds zeros."""
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


def test_memory_is_not_reused_under_a_consumer(torch):
    for _ in range(20):
        y = torch.from_dlpack(xpops.asarray(np.full(4096, 7, np.float32), device=GPU))
        fillers = [xpops.asarray(np.zeros(4096, np.float32), device=GPU) for _ in range(8)]
        assert (y == 7).all()
        del fillers
