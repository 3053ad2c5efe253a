"""The CUDA driver: find the GPUs, hold their contexts, and check calls."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple, NoReturn

from xpops.core.devices import Device
from xpops.core.errors import DeviceError

# The oldest versions that the CUDA 13 bindings and compiler support.
OLDEST_DRIVER = 580
OLDEST_CUDA = 13000
OLDEST_CAPABILITY = 75
# The driver's errors for a kernel that it is too old to load.
_TOO_NEW = ("INVALID_IMAGE", "NO_BINARY_FOR_GPU", "UNSUPPORTED_PTX_VERSION")

_used = False
# Whether this process was forked, and whether its parent had used the GPU by then. If it had, CUDA cannot work here.
forked = False
_forked_after_use = False


def check(result: tuple[Any, ...], doing: str = "") -> Any:
    """The value that a ``cuda.bindings`` call returned.

    Raises
    ------
    DeviceError
        If the call failed. The message contains `doing`.
    """
    if result[0]:  # CUDA_SUCCESS is 0
        _raise(result[0], doing)
    return result[1] if len(result) == 2 else result[1:]


def _raise(error: Any, doing: str) -> NoReturn:
    from cuda.bindings import driver

    _refuse_after_fork()
    _, name = driver.cuGetErrorName(error)
    _, text = driver.cuGetErrorString(error)
    words = f"{name.decode() if name else error}: {text.decode() if text else 'unknown error'}"
    if words.partition(":")[0].removeprefix("CUDA_ERROR_") in _TOO_NEW:
        words += f"; the driver may be older than the compiler: update it (at least {OLDEST_DRIVER})"
    raise DeviceError(f"CUDA driver{', ' * bool(doing)}{doing}: {words}")


class Gpu(NamedTuple):
    """A GPU as NVML sees it.

    Attributes
    ----------
    name : str
    capability : int
        The compute capability, 90 for 9.0.
    driver : str
        The version of its driver.
    """

    name: str
    capability: int
    driver: str

    @property
    def usable(self) -> bool:
        """Whether CUDA 13 has a compiler for it."""
        return self.capability >= OLDEST_CAPABILITY


class _Machine(NamedTuple):
    """The GPUs of the machine, and the reason why there are none or some are not usable."""

    gpus: tuple[Gpu, ...]
    missing: str


def visible_gpus() -> tuple[Gpu, ...]:
    """Every visible GPU, found by NVML, without ``cuInit`` or a context. Empty without a working driver or a GPU."""
    return _machine().gpus


def missing() -> str:
    """The reason why no GPU, or not every GPU, is usable. Empty if every GPU is usable, or the driver finds none."""
    return _machine().missing


@cache
def _machine() -> _Machine:
    try:
        from cuda.bindings import nvml
    except ModuleNotFoundError as error:
        return _Machine((), f"{error}; a GPU needs cuda-python and nvidia-cuda-nvrtc")
    except Exception as error:  # a broken installation raises anything
        return _unusable((), f"cuda-python cannot be imported ({type(error).__name__}: {error}); install it anew")
    try:
        nvml.init_v2()
        try:
            return _look(nvml)
        finally:
            nvml.shutdown()
    except (RuntimeError, nvml.DriverNotLoadedError, nvml.LibraryNotFoundError):
        return _Machine((), "there is no NVIDIA driver")
    except nvml.NvmlError as error:  # a half-updated driver, or a GPU that is lost or not accessible
        return _unusable((), f"the NVIDIA driver does not work: {error}")


def _look(nvml: Any) -> _Machine:
    handles = [nvml.device_get_handle_by_index_v2(index) for index in range(nvml.device_get_count_v2())]
    visible = [handles[index] for index in _visible([nvml.device_get_uuid(handle) for handle in handles])]
    version = nvml.system_get_driver_version()
    gpus = tuple(Gpu(nvml.device_get_name(handle), _capability(nvml, handle), version) for handle in visible)
    if gpus and _is_too_old(nvml, version):
        return _unusable((), f"the driver is {version}; CUDA 13 needs {OLDEST_DRIVER} or later")
    if old := [f"{gpu.name} (sm_{gpu.capability})" for gpu in gpus if not gpu.usable]:
        return _unusable(gpus, f"CUDA 13 needs sm_{OLDEST_CAPABILITY} or later, not {', '.join(old)}")
    return _Machine(gpus, "")


def _unusable(gpus: tuple[Gpu, ...], reason: str) -> _Machine:
    warnings.warn(f"xpops: {reason}", stacklevel=4)
    return _Machine(gpus, reason)


def _is_too_old(nvml: Any, version: str) -> bool:
    if int(version.partition(".")[0]) >= OLDEST_DRIVER:
        return False
    # NVIDIA's compatibility package brings a newer libcuda to an older kernel driver.
    with suppress(RuntimeError, nvml.NvmlError):
        return int(nvml.system_get_cuda_driver_version_v2()) < OLDEST_CUDA
    return True


def _capability(nvml: Any, handle: int) -> int:
    major, minor = nvml.device_get_cuda_compute_capability(handle)
    return int(major * 10 + minor)


def _visible(uuids: list[str]) -> list[int]:
    """The indices of the GPUs in ``CUDA_VISIBLE_DEVICES``: as in CUDA, the first invalid entry ends the list."""
    wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
    if wanted is None:
        return list(range(len(uuids)))
    found: list[int] = []
    for entry in (part.strip() for part in wanted.split(",")):
        if entry.isdigit() and int(entry) < len(uuids):
            found.append(int(entry))
        elif entry and not entry.isdigit() and any(uuid.startswith(entry) for uuid in uuids):
            found.append(next(index for index, uuid in enumerate(uuids) if uuid.startswith(entry)))
        else:
            break
    return found


@cache
def cuda_devices() -> tuple[Device, ...]:
    """The visible GPUs for which NVRTC can compile kernels."""
    return tuple(Device(f"cuda:{index}") for index, gpu in enumerate(visible_gpus()) if gpu.usable)


class DeviceContext:
    """The primary context of one GPU. torch, cupy and jax use the same context.

    Parameters
    ----------
    device : Device

    Attributes
    ----------
    device : Device
    index : int
    handle : CUcontext
    capability : int
        90 for 9.0.
    multiprocessors : int
    shared : int
        The most bytes of shared memory of a block.
    """

    def __init__(self, device: Device) -> None:
        global _used
        from cuda.bindings import driver

        _refuse_after_fork()
        _used = True
        check(driver.cuInit(0))
        self.device, self.index = device, device.index
        # Kept, because an import within each method takes as long as the call.
        self._push, self._pop = driver.cuCtxPushCurrent, driver.cuCtxPopCurrent
        self._device = check(driver.cuDeviceGet(device.index))
        self.handle = check(driver.cuDevicePrimaryCtxRetain(self._device))
        major, minor = (self.attribute(f"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
        self.capability = major * 10 + minor
        self.multiprocessors = self.attribute("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT")
        self.shared = self.attribute("CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
        self.adopt_thread()

    def adopt_thread(self) -> bool:
        """If no context is current in this thread, make that of the first device current. Returns whether it did so.

        The CUDA runtime does the same. The context of another device is never left current, since torch would take it
        for the user's choice of device.
        """
        from cuda.bindings import driver

        if self.index != 0 or int(check(driver.cuCtxGetCurrent())):
            return False
        check(driver.cuCtxSetCurrent(self.handle))
        return True

    def attribute(self, name: str) -> int:
        """The value of a device attribute; `name` is its name in the driver API."""
        from cuda.bindings import driver

        value: int = check(driver.cuDeviceGetAttribute(getattr(driver.CUdevice_attribute, name), self._device))
        return value

    def __enter__(self) -> DeviceContext:
        """Push the context: it is current in this thread until `__exit__` pops it."""
        check(self._push(self.handle))
        return self

    def __exit__(self, *exception: object) -> None:
        check(self._pop())


def _refuse_after_fork() -> None:
    if _forked_after_use:
        raise DeviceError(
            "this process was forked from one that had used the GPU, where CUDA cannot work; "
            "start it with multiprocessing's 'spawn', or fork before the first call on a GPU"
        )


def _after_fork() -> None:
    global forked, _forked_after_use
    forked, _forked_after_use = True, _used


os.register_at_fork(after_in_child=_after_fork)
