"""Contexts, forks, threads, the kernel cache, memory, several devices and graphs, on a real GPU."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.devices import DEVICES
from xpops.engine import engine_of

ROOT = Path(__file__).resolve().parents[2]


def run(code: str, **environment: str) -> str:
    """Run code in a new interpreter. Returns its output."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def pool(cuda: Any) -> Any:
    return engine_of(cuda).pool  # type: ignore[attr-defined]  # the CUDA engine's


@pytest.fixture
def second() -> Any:
    """A second GPU."""
    if "cuda:1" not in DEVICES:
        pytest.skip("needs two GPUs")
    return xp.Device("cuda:1")


# Import and processes


def test_import_initialises_nothing(cuda: Any) -> None:
    printed = run("""
        import xpops as xp
        xp.__array_namespace_info__().devices(), xp.default_device()
        from cuda.bindings import driver
        print(driver.cuDeviceGetCount()[0].name)
        xp.add(xp.ones(3, device="cpu"), 1)
        print(driver.cuDeviceGetCount()[0].name)
        xp.ones(3, device="cuda")
        print(driver.cuDeviceGetCount()[0].name)
    """)
    assert printed.split() == ["CUDA_ERROR_NOT_INITIALIZED", "CUDA_ERROR_NOT_INITIALIZED", "CUDA_SUCCESS"]


def test_a_child_forked_after_import_uses_the_gpu(cuda: Any) -> None:
    printed = run("""
        import os, sys
        import xpops as xp
        child = os.fork()
        if child == 0:
            value = int(xp.ones(3, dtype=xp.int64, device="cuda")[0] + 41)
            os._exit(value)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(int(xp.ones(3, dtype=xp.int64, device="cuda")[0]))
    """)
    assert printed.split() == ["42", "1"]


def test_a_child_forked_after_use_says_what_to_do(cuda: Any) -> None:
    printed = run("""
        import os, sys
        import xpops as xp
        x = xp.ones(3, device="cuda")
        y = x + 1
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            for work in (lambda: x + 1, lambda: xp.ones(3, device="cuda"), lambda: x.to_numpy()):
                try:
                    work()
                except xp.DeviceError as error:
                    print("forked" in str(error) and "spawn" in str(error))
            print(xp.add(xp.ones(2, device="cpu"), 1).tolist())
            sys.stdout.flush()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print((x + 1).tolist())
    """)
    assert printed.splitlines() == ["True", "True", "True", "[2.0, 2.0]", "[2.0, 2.0, 2.0]"]


def test_without_a_visible_gpu_everything_runs_on_the_cpu(cuda: Any) -> None:
    printed = run(
        """
        import xpops as xp
        print(xp.__array_namespace_info__().devices(), xp.ones(2).device)
        try:
            xp.ones(3, device="cuda")
        except xp.DeviceError as error:
            print(error)
        """,
        CUDA_VISIBLE_DEVICES="",
    )
    assert "'cuda:0', which is not there; available: cpu" in printed


PROGRAM = """
    import xpops as xp
    from xpops.engine.cuda.runtime import cache
    for dtype in (xp.float32, xp.float16, xp.int32):
        x = xp.astype(xp.reshape(xp.arange(70 * 66, device="cuda"), (70, 66)), dtype)
        y = x + x[:1, :] + x[:, :1] + 1
        z = xp.add(x, y[:, ::-1]) + xp.reshape(x, (66, 70)).T
        xp.where(z > 3, z, 0), x[1:, 1:] * 2
        xp.exp(x), xp.full((3,), 7, dtype=dtype, device="cuda")
    assert int(xp.astype(xp.ones(3, device="cuda"), xp.int64)[0]) == 1
    print(cache.compilations)
"""


def test_a_second_process_compiles_nothing(cuda: Any, tmp_path: Path) -> None:
    first, second = (int(run(PROGRAM, XPOPS_CACHE_DIR=str(tmp_path))) for _ in range(2))
    assert first > 20
    assert second == 0


def test_a_damaged_cache_is_rebuilt(cuda: Any, tmp_path: Path) -> None:
    run(PROGRAM, XPOPS_CACHE_DIR=str(tmp_path))
    entries = [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size > 1000]
    assert entries
    for number, path in enumerate(entries):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] if number % 2 else data[:-3] + b"abc")
    assert int(run(PROGRAM, XPOPS_CACHE_DIR=str(tmp_path))) > 0
    assert int(run(PROGRAM, XPOPS_CACHE_DIR=str(tmp_path))) == 0


def test_the_debug_mode_works(cuda: Any) -> None:
    printed = run("import xpops as xp; print((xp.ones(3, device='cuda') + 1).tolist())", XPOPS_DEBUG="1")
    assert printed == "[2.0, 2.0, 2.0]"


def test_an_array_alive_at_exit_harms_nothing(cuda: Any) -> None:
    run(
        """
        import xpops as xp
        small, large = xp.ones(3, device="cuda"), xp.ones(1 << 22, device="cuda")
        capsule = small.__dlpack__()
        """
    )


# Threads


def test_a_thread_without_a_context(cuda: Any) -> None:
    from cuda.bindings import driver

    results: list[Any] = []

    def work() -> None:
        x = xp.ones(5000, dtype=xp.float32, device=cuda)
        results.append((x + 1).to_numpy())
        results.append(driver.cuCtxGetCurrent())

    warm = xp.ones(5000, dtype=xp.float32, device=cuda) + 1  # compiles the kernels, so that the thread launches at once
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(results[0], warm.to_numpy())
    with engine_of(cuda).context as context:
        assert int(results[1][1]) == int(context.handle)  # the first device's, as the CUDA runtime does


def test_a_thread_without_a_context_on_another_device(second: Any) -> None:
    from cuda.bindings import driver

    results: list[Any] = []

    def work() -> None:
        results.append((xp.ones(5000, dtype=xp.float32, device=second) + 1).to_numpy())
        results.append(driver.cuCtxGetCurrent())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    np.testing.assert_array_equal(results[0], np.full(5000, 2, np.float32))
    assert int(results[1][1]) == 0, "torch would take it for its current device"


def test_many_threads(cuda: Any) -> None:
    def work(number: int) -> None:
        random = np.random.default_rng(number)
        for turn in range(60):
            shape = (int(random.integers(1, 80)), int(random.integers(1, 80)))
            host = random.integers(0, 1000, shape).astype(np.float32)
            x = xp.asarray(host, device=cuda)
            y = (x + number) * 2 - x[:1, :]
            z = xp.where(y > 100, y, xp.negative(y)).T.copy()
            expected = (host + number) * 2 - host[:1, :]
            expected = np.where(expected > 100, expected, -expected).T
            np.testing.assert_array_equal(z.to_numpy(), expected, err_msg=f"thread {number}, turn {turn}")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))


def test_threads_that_ask_for_one_new_kernel_compile_it_once(cuda: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from xpops.engine.cuda.runtime import cache

    monkeypatch.setattr(cache, "disk", lambda: None)
    x = xp.ones((3, 5, 7, 2, 3), dtype=xp.uint16, device=cuda)
    before = cache.compilations
    view = xp.permute_dims(x, (4, 1, 3, 0, 2))
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda _: xp.bitwise_left_shift(view, x[0, 0, 0, 0, 0]), range(8)))
    assert cache.compilations - before == 1
    assert all(int(result[0, 0, 0, 0, 0]) == 2 for result in results)


# Contexts and devices


def test_the_callers_context_stays(cuda: Any) -> None:
    from cuda.bindings import driver

    x = xp.ones(1 << 20, device=cuda)  # in a new process this loads the driver
    before = driver.cuCtxGetCurrent()
    x = x * 2
    x.to_numpy(), xp.asarray(np.ones(3), device=cuda), xp.astype(x, xp.float16)
    assert int(driver.cuCtxGetCurrent()[1]) == int(before[1])


def test_torchs_current_device_stays(cuda_torch: Any) -> None:
    for current in range(cuda_torch.cuda.device_count()):
        with cuda_torch.cuda.device(current):
            for index in range(cuda_torch.cuda.device_count()):
                x = cuda_torch.ones(1000, device=f"cuda:{index}")
                assert cuda_torch.equal(xp.add(x, x), x + x)
                assert cuda_torch.cuda.current_device() == current


def test_work_is_done_where_the_data_is(cuda: Any, second: Any) -> None:
    for device in (second, cuda, second):
        host = np.arange(6000, dtype=np.float32)
        x = xp.asarray(host, device=device)
        y = xp.exp(x[::-1] * 0.001) + xp.ones(1, dtype=xp.float32, device=device)
        assert y.device == device
        np.testing.assert_allclose(y.to_numpy(), np.exp(host[::-1] * np.float32(0.001)) + 1, rtol=1e-6)
    assert np.array_equal(xp.asarray(host, device=cuda).to_device(second).to_device(cuda).to_numpy(), host)


def test_an_interface_that_names_no_device_is_where_its_memory_is(cuda: Any, second: Any) -> None:
    """cuda.bindings returns device 0 for the memory of every device."""

    class Interface:
        def __init__(self, x: Any) -> None:
            self.x = x

        @property
        def __cuda_array_interface__(self) -> Any:
            return self.x.__cuda_array_interface__

    for device in (second, cuda, second):
        x = xp.asarray(np.arange(100.0), device=device)
        taken = xp.from_dlpack(Interface(x))
        assert taken.device == device
        assert xp.sum(taken + x).item() == 9900
        assert xp.from_dlpack(x).device == device


def test_torch_on_another_device_than_the_current_one(cuda_torch: Any, second: Any) -> None:
    for current, other in ((0, 1), (1, 0)):
        with cuda_torch.cuda.device(current):
            x = cuda_torch.arange(5000.0, device=f"cuda:{other}")
            y = xp.multiply(x, 2.0)
            assert y.device.index == other
            assert cuda_torch.equal(y, x * 2)
            assert xp.asarray(x).device == f"cuda:{other}"


def test_devices_are_not_mixed(cuda: Any, second: Any) -> None:
    with pytest.raises(ValueError, match="add: x1 is on cuda:0 and x2 on cuda:1; move one"):
        xp.add(xp.ones(3, device=cuda), xp.ones(3, device=second))


def test_a_device_that_is_not_there() -> None:
    with pytest.raises(xp.DeviceError, match="ones: device is 'cuda:97', which is not there; available: cpu"):
        xp.ones(3, device="cuda:97")
    with pytest.raises(xp.DeviceError, match="'cuda:97' is not there; available: cpu"):
        xp.ones(3, device="cpu").to_device("cuda:97")


# Memory


def test_out_of_memory_leaves_every_array_valid(cuda: Any) -> None:
    x = xp.asarray(np.arange(1000), device=cuda)
    with pytest.raises(
        xp.OutOfMemoryError, match=r"cuda:0: 1,125,899,906,842,624 bytes were asked for; .* are free"
    ) as caught:
        xp.empty(2**50, dtype=xp.uint8, device=cuda)
    assert isinstance(caught.value, MemoryError)
    with pytest.raises(xp.OutOfMemoryError):
        xp.add(xp.broadcast_to(x, (2**40, 1000)), 1)
    np.testing.assert_array_equal((x + 1).to_numpy(), np.arange(1000) + 1)


@pytest.mark.parametrize("size", [10, 1000, 200_000, 300_000, 16_000_000])
def test_freed_small_and_middling_blocks_are_used_again(size: int, cuda: Any) -> None:
    x = xp.empty(size, dtype=xp.float32, device=cuda)
    address = x._data
    del x
    assert xp.empty(size, dtype=xp.float32, device=cuda)._data == address


def test_no_more_than_a_part_of_the_memory_is_kept(cuda: Any, pool: Any) -> None:
    pool.trim()
    size, stream = 1 << 26, 0
    allocate, most = pool.allocator(size), pool._most // size
    blocks = [allocate(stream) for _ in range(most + 3)]
    del blocks
    assert len(pool._lists[size][stream]) == most
    assert most * size <= pool.trim() < (most + 1) * size


def test_freed_large_blocks_are_used_again(cuda: Any, pool: Any) -> None:
    x = xp.ones(1 << 24, dtype=xp.float32, device=cuda)
    x = x + 1
    reserved = pool.reserved()
    for _ in range(50):
        x = x + 1
    assert pool.reserved() == reserved
    assert float(x[-1]) == 52


def test_large_blocks_freed_in_a_thread_without_a_context(cuda: Any, pool: Any) -> None:
    made = [xp.ones(1 << 24, dtype=xp.float32, device=cuda)]
    reserved = pool.reserved()
    for _ in range(20):
        thread = threading.Thread(target=made.clear)
        thread.start()
        thread.join()
        made.append(xp.ones(1 << 24, dtype=xp.float32, device=cuda))
    assert pool.reserved() == reserved


def test_trim_hands_back_what_is_free(cuda: Any, pool: Any) -> None:
    kept = xp.full(5000, 3, dtype=xp.int32, device=cuda)
    small = [xp.ones(100_000, dtype=xp.float32, device=cuda) for _ in range(500)]
    large = xp.ones(1 << 28, dtype=xp.float32, device=cuda)
    full = pool.reserved()
    del small, large
    assert pool.trim() >= 500 * 400_000
    assert pool.reserved() <= full - (1 << 30)
    np.testing.assert_array_equal((kept + 1).to_numpy(), np.full(5000, 4, np.int32))


def test_a_view_keeps_the_memory(cuda: Any) -> None:
    x = xp.asarray(np.arange(3000), device=cuda)
    view = x[10:20]
    del x
    others = [xp.zeros(3000, dtype=xp.int64, device=cuda) for _ in range(4)]
    np.testing.assert_array_equal(view.to_numpy(), np.arange(10, 20))
    assert len(others) == 4
