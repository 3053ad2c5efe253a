"""Facts about this machine and its packages: for bug reports, and printed at the start of the main job."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version

from xpops.core import config
from xpops.core.errors import DeviceError
from xpops.engine.cuda.runtime.compile import nvrtc_version
from xpops.engine.cuda.runtime.driver import cuda_devices, missing, visible_gpus
from xpops.engine.cuda.tuning import measured
from xpops.engine.cuda.tuning.table import ROWS

FRAMEWORKS = ("torch", "cupy", "jax")
_PACKAGES = ("xpops", "numpy", "ml_dtypes", "array-api-compat", "cuda-bindings", "cuda-core", "nvidia-cuda-nvrtc")


def installed(package: str) -> str | None:
    """The version of an installed distribution, or None.

    The distribution names of cupy's CUDA builds contain the toolkit's version.
    """
    names = [package] if package != "cupy" else ["cupy", "cupy-cuda13x", "cupy-cuda12x"]
    for name in names:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None


def facts() -> dict[str, str]:
    """The facts by name, each one line of text."""
    gpus = visible_gpus()
    found = {"python": platform.python_version(), "system": platform.platform()}
    found |= {package: installed(package) or "not installed" for package in _PACKAGES}
    names = "; ".join(f"{gpu.name} (sm_{gpu.capability})" for gpu in gpus) or "none"
    found["GPU"] = f"{names}: {missing()}" if missing() else names
    if not cuda_devices():
        found["GPU"] += "; everything runs on NumPy"
    found["tuning"] = "; ".join(dict.fromkeys(_tuning(gpu.capability) for gpu in gpus)) or "none"
    found["driver"] = gpus[0].driver if gpus else "none"
    found["compiler"] = _compiler()
    found["kernel cache"] = str(config.cache_directory())
    found["frameworks"] = (
        ", ".join(f"{name} {installed(name)}" for name in FRAMEWORKS if installed(name)) or "only NumPy"
    )
    return found


def _tuning(capability: int) -> str:
    row = measured(capability)
    nearest = "" if row == capability else f", the nearest to sm_{capability}"
    return f"sm_{row} ({ROWS[row].gpu}){nearest}"


def _compiler() -> str:
    try:
        return f"NVRTC {nvrtc_version()}"
    except DeviceError as error:
        return f"none: {error}"


def print_info(as_json: bool = False) -> None:
    """Print the facts, one a line or as one JSON object."""
    if as_json:
        print(json.dumps(facts(), indent=1))
        return
    for name, value in facts().items():
        print(f"{name:18} {value}")
