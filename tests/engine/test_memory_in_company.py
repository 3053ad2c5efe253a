"""Memory that one library has freed is available to another that runs short, without any call by the user."""

from __future__ import annotations

import gc
import os
import time
from typing import Any

import pytest

import xpops as xp
from xpops.engine import engine_of

MIB = 1 << 20


@pytest.fixture
def free(cuda: Any, cuda_torch: Any) -> int:
    """The bytes that are free at first."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("takes the whole GPU: run this file without workers, -n 0")
    gc.collect()
    engine_of(cuda).pool.trim()  # type: ignore[attr-defined]  # the CUDA engine's
    cuda_torch.cuda.empty_cache()
    found: int = cuda_torch.cuda.mem_get_info()[0]
    if found < 16 << 30:
        pytest.skip("others use this GPU")
    return found


def fill(device: Any, nbytes: int, each: int) -> None:
    """Allocate and free about `nbytes` with xpops, in arrays of about `each` bytes and many sizes."""
    made, taken = [], 0
    while taken < nbytes:
        size = each - 4096 * (len(made) % 7)
        made.append(xp.empty(size, dtype=xp.uint8, device=device))
        made[-1][:16] = 1
        taken += size


@pytest.mark.parametrize("each", [200_000, MIB, 40 * MIB, 3000 * MIB])
def test_torch_gets_what_xpops_has_freed(each: int, cuda: Any, cuda_torch: Any, free: int) -> None:
    fill(cuda, min(free * 3 // 4, 20000 * each), each)
    time.sleep(0.05)
    tensor = cuda_torch.empty(free * 97 // 100, dtype=cuda_torch.uint8, device="cuda")
    del tensor
    cuda_torch.cuda.empty_cache()


@pytest.mark.parametrize("each", [MIB, 3000 * MIB])
def test_cupy_gets_what_xpops_has_freed(each: int, cuda: Any, free: int) -> None:
    cupy = pytest.importorskip("cupy")
    fill(cuda, min(free * 3 // 4, 20000 * each), each)
    time.sleep(0.05)
    array = cupy.empty(free * 97 // 100, dtype=cupy.uint8)
    del array
    cupy.get_default_memory_pool().free_all_blocks()


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_large_arrays_go_to_torch(busy: bool, cuda: Any, cuda_torch: Any, free: int) -> None:
    """At once if the GPU is idle; else when the work that used the memory is done, without anybody waiting for it."""
    x = xp.ones(free // 8, dtype=xp.uint8, device=cuda)
    y = x + 1
    if busy:
        cuda_torch.cuda._sleep(200_000_000)
        y = y + 1
    else:
        cuda_torch.cuda.synchronize()
    del x, y
    if busy:
        time.sleep(0.5)
    tensor = cuda_torch.empty(free * 97 // 100, dtype=cuda_torch.uint8, device="cuda")
    del tensor
    cuda_torch.cuda.empty_cache()


def test_xpops_gets_what_torch_and_cupy_have_freed(cuda: Any, cuda_torch: Any, free: int) -> None:
    cupy = pytest.importorskip("cupy")
    for _ in range(2):
        tensors = [cuda_torch.empty(free // 8, dtype=cuda_torch.uint8, device="cuda") for _ in range(3)]
        arrays = [cupy.empty(free // 8, dtype=cupy.uint8) for _ in range(3)]
        del tensors, arrays
        x = xp.empty(free * 97 // 100, dtype=xp.uint8, device=cuda)
        x[-16:] = 3
        assert int(x[-1]) == 3
        del x


def test_small_arrays_beyond_the_lists_are_given_back(cuda: Any, free: int) -> None:
    """The free lists keep only a small part of the device's memory, whatever the sizes of blocks."""
    pool = engine_of(cuda).pool  # type: ignore[attr-defined]  # the CUDA engine's
    for each in (100_000, MIB, 5 * MIB):
        fill(cuda, free // 16, each)
        listed = sum(size * len(addresses) for size, by in pool._lists.items() for addresses in by.values())
        assert listed <= pool._most
        assert pool._kept <= pool._most
    assert pool.trim() <= pool._most
    assert pool._kept < pool._most


def test_a_size_that_comes_later_is_kept_too(cuda: Any, free: int) -> None:
    pool = engine_of(cuda).pool  # type: ignore[attr-defined]  # the CUDA engine's
    fill(cuda, 2 * pool._most, MIB)
    x = xp.empty(3 * MIB, dtype=xp.uint8, device=cuda)
    address = x._data
    del x
    assert xp.empty(3 * MIB, dtype=xp.uint8, device=cuda)._data == address
