"""Machines where something is missing: a home directory, cuda-python, the compiler, a new enough driver."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tomllib
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import xpops as xp
import xpops.engine
from xpops.cli import main
from xpops.core import config
from xpops.core.errors import DeviceError
from xpops.engine.cuda.runtime import cache, compile, driver
from xpops.engine.cuda.runtime.headers import headers_of

ROOT = Path(__file__).resolve().parents[2]
SOURCE = 'extern "C" __global__ void xpops_kernel(int* x) { *x = 1; }\n'


def python(program: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options, "-c", program]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=100, check=False
    )


# A home directory.


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a home directory. Returns the folder that is used instead."""

    def unknown(uid: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    for name in ("HOME", "XDG_CACHE_HOME", "XPOPS_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path / f"xpops-{os.getuid()}"


def test_without_a_home_directory(homeless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.cache_directory() == homeless
    monkeypatch.delenv("TMPDIR")
    assert config.cache_directory() == Path("/tmp") / homeless.name
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert config.cache_directory() == Path("/somewhere/xpops")


def test_a_kernel_without_a_home_directory(homeless: Path) -> None:
    cache.disk.cache_clear()
    try:
        cache.cubin_for("test", SOURCE, 90)
    finally:
        cache.disk.cache_clear()
    assert homeless.stat().st_mode & 0o777 == 0o700
    assert any(path.is_file() for path in homeless.rglob("*"))


def test_a_chosen_directory_may_be_in_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("XPOPS_CACHE_DIR", "~/kernels")
    assert config.cache_directory() == Path("/home/someone/kernels")


def test_a_home_directory_that_is_chosen_and_unknown_is_said(homeless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPOPS_CACHE_DIR", "~/kernels")
    with pytest.warns(UserWarning, match=f"XPOPS_CACHE_DIR is '~/kernels', .*kernels go to {homeless}"):
        assert config.cache_directory() == homeless


# cuda-python.

BLOCK = """
import sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.startswith({name!r}):
            raise {error}

sys.meta_path.insert(0, Block())
"""
WORK = """
import xpops as xp
from xpops.cli import main
print(xp.add(xp.ones(3, device="cpu"), 2))
sys.exit(main(["info"]))
"""


def without(name: str, error: str) -> str:
    return BLOCK.format(name=name, error=error)


def test_cuda_python_is_absent() -> None:
    done = python(without("cuda", "ModuleNotFoundError(\"No module named 'cuda'\")") + WORK, "-Werror")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("[3. 3. 3.]\n")
    assert "No module named 'cuda'; a GPU needs cuda-python and nvidia-cuda-nvrtc" in done.stdout


@pytest.mark.parametrize("error", ["ImportError", "OSError", "RuntimeError", "AttributeError"])
@pytest.mark.parametrize("name", ["cuda.", "cuda.bindings.nvml"])
def test_cuda_python_is_broken(name: str, error: str) -> None:
    done = python(without(name, f"{error}('undefined symbol')") + WORK)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[3. 3. 3.]\n")
    reason = f"cuda-python cannot be imported ({error}: undefined symbol); install it anew"
    assert reason in done.stdout
    assert done.stderr.count(f"UserWarning: xpops: {reason}") == 1


def test_a_gpu_that_is_asked_for_in_vain_is_explained() -> None:
    program = without("cuda", "ModuleNotFoundError(\"No module named 'cuda'\")") + "import xpops\nxpops.ones(2)"
    done = python(program, XPOPS_DEFAULT_DEVICE="cuda")
    assert done.stderr.rstrip().endswith(
        "XPOPS_DEFAULT_DEVICE: device is 'cuda:0', which is not there; available: cpu (No module named 'cuda'; a GPU "
        "needs cuda-python and nvidia-cuda-nvrtc)"
    )


def test_cuda_core_is_absent(tmp_path: Path) -> None:
    program = without("cuda.core", "ModuleNotFoundError(\"No module named 'cuda.core'\")") + (
        "import xpops\n"
        "from xpops.engine.cuda.runtime import cache\n"
        f"for _ in range(2): assert cache.cubin_for('test', {SOURCE!r}, 90)\n"
    )
    done = python(program, XPOPS_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("kernels are not kept on disk: cuda-core cannot be imported") == 1


# The compiler.


@pytest.fixture
def no_nvrtc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def missing() -> None:
        raise RuntimeError("no libnvrtc.so\nand much more")

    from cuda.bindings import nvrtc

    def forget() -> None:
        for each in (compile._nvrtc, compile.nvrtc_version, compile.target_of):
            each.cache_clear()

    monkeypatch.setattr(nvrtc, "nvrtcVersion", missing)
    forget()
    yield
    forget()


def test_nvrtc_is_absent(no_nvrtc: None, capsys: Any) -> None:
    with pytest.raises(DeviceError) as caught:
        cache.cubin_for("test", SOURCE, 90)
    assert str(caught.value) == (
        "kernels cannot be compiled: NVRTC cannot be loaded (RuntimeError: no libnvrtc.so); "
        "install cuda-python and nvidia-cuda-nvrtc"
    )
    assert main(["info"]) == 0
    assert "no libnvrtc.so" in capsys.readouterr().out


def test_a_gpu_newer_than_nvrtc_gets_ptx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPOPS_CACHE_DIR", str(tmp_path / "cache"))
    cache.disk.cache_clear()
    compile.target_of.cache_clear()
    try:
        with pytest.warns(UserWarning, match="PTX") as caught:
            ptx = [cache.cubin_for("test", SOURCE, 999) for _ in range(2)]
    finally:
        cache.disk.cache_clear()
        compile.target_of.cache_clear()
    (warning,) = caught
    assert "does not know sm_999; kernels are compiled to PTX for compute_" in str(warning.message)
    assert "install a newer nvidia-cuda-nvrtc" in str(warning.message)
    newest = str(warning.message).partition("compute_")[2].partition(";")[0]
    assert f".target sm_{newest}\n".encode() in ptx[0]
    assert ptx[0].endswith(b"\0")  # as the driver requires
    assert ptx[0] == ptx[1]
    assert compile.options_for(int(newest), headers_of(""))[0] == f"--gpu-architecture=sm_{newest}"


def test_ptx_and_a_cubin_have_keys_of_their_own() -> None:
    compile.target_of.cache_clear()
    with pytest.warns(UserWarning, match="PTX for compute_"):
        newest = int(compile.target_of(999).removeprefix("compute_"))
    headers = headers_of(SOURCE)
    assert cache.key_of(SOURCE, headers, 999) != cache.key_of(SOURCE, headers, newest)


def test_names_of_templates_stand_before_ptx() -> None:
    compile.target_of.cache_clear()
    with pytest.warns(UserWarning, match="PTX for compute_"):
        found = compile.compile_cubin("test", "template <class T> __global__ void f(T*) {}", 999, (), ("f<int>",))
    name, ptx = found.split(b"\0", 1)
    assert name in ptx


# The driver.


class Nvml(types.ModuleType):
    """A pretended NVML: GPUs by name and capability, the driver's version, and the version of its CUDA library."""

    class NvmlError(Exception): ...

    class DriverNotLoadedError(NvmlError): ...

    class LibraryNotFoundError(NvmlError): ...

    failure: Exception | None = None

    def __init__(self, gpus: dict[str, int], version: str, cuda: Callable[[], int]) -> None:
        super().__init__("nvml")
        self.gpus, self.version, self.system_get_cuda_driver_version_v2 = gpus, version, cuda

    def init_v2(self) -> None:
        if self.failure is not None:
            raise self.failure

    def shutdown(self) -> None: ...

    def device_get_count_v2(self) -> int:
        return len(self.gpus)

    def device_get_handle_by_index_v2(self, index: int) -> str:
        return list(self.gpus)[index]

    def device_get_uuid(self, handle: str) -> str:
        return f"GPU-{handle}"

    def device_get_name(self, handle: str) -> str:
        return handle

    def device_get_cuda_compute_capability(self, handle: str) -> tuple[int, int]:
        return divmod(self.gpus[handle], 10)

    def system_get_driver_version(self) -> str:
        return self.version


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A function that installs a pretended NVML with other GPUs and another driver."""
    pytest.importorskip("cuda.bindings.nvml")
    bindings = sys.modules["cuda.bindings"]

    def forget() -> None:
        for each in (driver._machine, driver.cuda_devices, xpops.engine.devices):
            each.cache_clear()

    def pretend(gpus: dict[str, int], version: str = "580.65.06", cuda: Callable[[], int] = lambda: 13000) -> None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        monkeypatch.setattr(bindings, "nvml", Nvml(gpus, version, cuda))
        monkeypatch.setitem(sys.modules, "cuda.bindings.nvml", bindings.nvml)
        monkeypatch.setattr(config, "default_device", None)
        forget()

    yield pretend
    monkeypatch.undo()
    forget()


def quiet(work: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return work()


def test_a_driver_that_is_new_enough(machine: Callable[..., None]) -> None:
    machine({"H200": 90, "B200": 100})
    assert quiet(xp.default_device) == "cuda:0"
    assert xpops.engine.devices() == ("cpu", "cuda:0", "cuda:1")
    assert driver.missing() == ""


def refused() -> int:
    raise RuntimeError("Function not found")


@pytest.mark.parametrize("cuda", [lambda: 12080, refused], ids=["CUDA 12.8", "no answer"])
def test_a_driver_that_is_too_old(machine: Callable[..., None], cuda: Callable[[], int]) -> None:
    machine({"H200": 90}, "570.86.15", cuda)
    with pytest.warns(UserWarning, match="xpops: the driver is 570.86.15; CUDA 13 needs 580 or later"):
        assert xp.default_device() == "cpu"
    assert quiet(xp.default_device) == "cpu"
    assert driver.visible_gpus() == ()
    with pytest.raises(DeviceError, match=r"available: cpu \(the driver is 570.86.15; CUDA 13 needs 580 or later\)"):
        xp.ones(2, device="cuda")


@pytest.mark.parametrize("error", [RuntimeError, Nvml.DriverNotLoadedError, Nvml.LibraryNotFoundError])
def test_without_a_driver(
    machine: Callable[..., None], error: type[Exception], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Nvml, "failure", error("no driver"))
    machine({"H200": 90})
    assert quiet(xp.default_device) == "cpu"
    with pytest.raises(DeviceError, match=r"available: cpu \(there is no NVIDIA driver\)"):
        xp.ones(2, device="cuda")
    assert quiet(lambda: main(["info"])) == 0
    assert "none: there is no NVIDIA driver; everything runs on NumPy\n" in capsys.readouterr().out


def test_a_driver_that_does_not_work(machine: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Nvml, "failure", Nvml.NvmlError("Driver/library version mismatch"))
    machine({"H200": 90})
    with pytest.warns(UserWarning, match="the NVIDIA driver does not work: Driver/library version mismatch"):
        assert xp.default_device() == "cpu"


def test_a_compatibility_package_makes_an_old_driver_do(machine: Callable[..., None]) -> None:
    machine({"H200": 90}, "570.86.15", lambda: 13000)
    assert quiet(xp.default_device) == "cuda:0"


def test_a_gpu_that_is_too_old_is_left_out(machine: Callable[..., None], capsys: Any) -> None:
    machine({"V100": 70, "T4": 75})
    with pytest.warns(UserWarning, match=r"CUDA 13 needs sm_75 or later, not V100 \(sm_70\)"):
        assert xp.default_device() == "cuda:1"
    assert xpops.engine.devices() == ("cpu", "cuda:1")
    assert main(["info"]) == 0
    assert "V100 (sm_70); T4 (sm_75): CUDA 13 needs sm_75 or later, not V100 (sm_70)\n" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["INVALID_IMAGE", "NO_BINARY_FOR_GPU", "UNSUPPORTED_PTX_VERSION", "INVALID_VALUE"])
def test_a_kernel_that_the_driver_is_too_old_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bindings = pytest.importorskip("cuda.bindings.driver")
    monkeypatch.setattr(bindings, "cuGetErrorName", lambda error: (0, error.name.encode()))
    monkeypatch.setattr(bindings, "cuGetErrorString", lambda error: (0, b"words"))
    with pytest.raises(DeviceError) as caught:
        driver.check((getattr(bindings.CUresult, f"CUDA_ERROR_{name}"),), "loading")
    assert ("update it (at least 580)" in str(caught.value)) == (name != "INVALID_VALUE")


def test_the_wheel_holds_all_headers() -> None:
    root = Path(xp.__file__).parents[1]
    held = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    headers = {path.name for path in (root / "native").iterdir() if path.is_dir() and not list(path.rglob("*.c"))}
    assert held["force-include"] == {f"native/{name}": f"xpops/native/{name}" for name in headers}
