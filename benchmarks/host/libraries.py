"""The libraries of this machine: their arrays of the operands, and the names that the sources of rows use."""

from __future__ import annotations

import operator
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

import xpops as xp

NDArray = np.ndarray[Any, Any]
Names = dict[str, Any]
# The lengths of the axes: 4096 elements, or a million.
SMALL, LARGE = 64, 1024
LIBRARIES = ("xpops", "torch", "cupy", "jax", "numpy")
_DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


class Library(NamedTuple):
    """A library on a device: the variables of sources, and a function that waits for its work."""

    name: str
    names: Names
    wait: Callable[[], object]


def installed(device: str) -> tuple[str, ...]:
    """The libraries that can be measured on a device. JAX is measured on its default device only."""
    missing = {name for name in LIBRARIES if find_spec(name) is None}
    if device == "cuda":
        missing |= {"numpy"} | ({"jax"} if "jax" not in missing and _platform_of_jax() != "gpu" else set())
    else:
        missing |= {"cupy"} | ({"jax"} if "jax" not in missing and _platform_of_jax() != "cpu" else set())
    return tuple(name for name in LIBRARIES if name not in missing)


def library(name: str, device: str, n: int, dtype: str = "float32") -> Library:
    """The library with operands of `n` by `n` elements of a dtype, and others that belong to them."""
    convert, modules, own_dtype, wait = _MAKERS[name](device, dtype)
    operands = {key: convert(value) for key, value in _operands(n, _DTYPES[dtype]).items()}
    settings = {"n": n, "m": n // 4, "device": device, "dtype": own_dtype, "operator": operator}
    functions = {"fused": xp.fuse(lambda x, y: x * y + x), "recorded": xp.graph(lambda x, y: x * y + x)}
    ours = {"xp": xp, **functions, "generator": xp.random.Generator(0)}
    return Library(name, {**ours, **modules, **settings, **operands}, wait)


def _operands(n: int, dtype: Any) -> dict[str, NDArray]:
    """The operands by name. The same in every run."""
    random = np.random.default_rng(0)
    x = random.normal(size=(n, n))
    stack = (n * n // 256,) if n > SMALL else ()
    a = random.normal(size=(*stack, 16, 16)).astype(np.float32)
    mask = random.random((n, n)) < 0.5
    signal = random.normal(size=(n, n)) + 1j * random.normal(size=(n, n))
    floating = {
        "x": x,
        "y": random.normal(size=(n, n)),
        "p": random.uniform(1, 4, (n, n)),
        "u": random.uniform(-0.9, 0.9, (n, n)),
        "o": np.zeros((n, n)),
        "row": random.normal(size=(1, n)),
        "line": x.ravel(),
        "ordered": np.sort(x.ravel()),
        "vector": random.normal(size=n),
        "single": x[None],
        "scalar": np.asarray(1.5),
        "image": random.normal(size=(1, 4, n // 4, n // 4)),
        "chosen": x[mask],
        "triples": random.normal(size=(n * n // 4, 3)),
    }
    return {
        **{name: value.astype(dtype) for name, value in floating.items()},
        "b": mask,
        "ob": np.zeros((n, n), bool),
        "i": random.integers(1, 16, (n, n), dtype=np.int32),
        "j": random.integers(1, 16, (n, n), dtype=np.int32),
        "ints": random.integers(0, n, n * n, dtype=np.int32),
        "index": random.integers(0, n, n),
        "places": random.integers(0, n, (n, n)),
        "a": a + 8 * np.eye(16, dtype=np.float32),
        "h": a @ np.swapaxes(a, -1, -2) + np.eye(16, dtype=np.float32),
        "c": signal.astype(np.complex64),
        "signal": signal.astype(np.complex64),
    }


# What a library's maker returns: a conversion from NumPy, modules by name, the dtype, and a function that waits.
_Made = tuple[Callable[[NDArray], Any], Names, Any, Callable[[], object]]


def _numpy(device: str, dtype: str) -> _Made:
    return np.copy, {"np": np}, _DTYPES[dtype], lambda: None


def _xpops(device: str, dtype: str) -> _Made:
    wait: Callable[[], object] = import_module("torch").cuda.synchronize if device == "cuda" else lambda: None
    return lambda x: xp.asarray(x, device=device), {}, getattr(xp, dtype), wait


def _torch(device: str, dtype: str) -> _Made:
    torch = import_module("torch")

    def convert(x: NDArray) -> Any:
        if x.dtype == ml_dtypes.bfloat16:  # torch takes no such array of NumPy's
            return torch.tensor(x.astype(np.float32), device=device).to(torch.bfloat16)
        return torch.tensor(x, device=device)

    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    return convert, {"torch": torch}, getattr(torch, dtype), wait


def _cupy(device: str, dtype: str) -> _Made:
    cupy = import_module("cupy")
    return cupy.asarray, {"np": cupy}, _DTYPES[dtype], cupy.cuda.runtime.deviceSynchronize


def _jax(device: str, dtype: str) -> _Made:
    jax, namespace = import_module("jax"), import_module("jax.numpy")
    one = namespace.zeros(1)

    def wait() -> None:
        jax.block_until_ready(namespace.negative(one))

    return namespace.asarray, {"jax": jax, "np": namespace}, _DTYPES[dtype], wait


def _platform_of_jax() -> str:
    platform: str = import_module("jax").default_backend()
    return platform


_MAKERS: dict[str, Callable[[str, str], _Made]] = {
    "xpops": _xpops,
    "torch": _torch,
    "cupy": _cupy,
    "jax": _jax,
    "numpy": _numpy,
}
