"""The rows for matrix products, factorizations and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import xpops as xp
from benchmarks.workload import Workload

# Limits, as multiples: of torch's time for products and `svd`; of the better of torch's and cupy's for the others.
PRODUCTS, SVD, OTHERS = 1.03, 1.05, 1.1

_Functions = dict[str, Callable[..., Any]]


def _products() -> list[Workload]:
    functions: _Functions = {"xpops": lambda x, y: xp.matmul(x, y), "torch": lambda x, y: torch.matmul(x, y)}

    def pair(first: tuple[int, ...], second: tuple[int, ...], dtype: torch.dtype) -> Any:
        return lambda: {
            name: torch.randn(*shape, device="cuda").to(dtype) for name, shape in (("x", first), ("y", second))
        }

    rows = []
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        name, size = str(dtype).partition(".")[2], torch.empty((), dtype=dtype).element_size()
        for side in (1024, 2048, 4096, 8192):
            setup = pair((side, side), (side, side), dtype)
            rows.append(Workload(f"matmul {name} {side}", setup, functions, 3 * size * side**2, ratio=PRODUCTS))
        batch = pair((8, 4, 128, 32), (8, 4, 32, 128), dtype)
        rows.append(Workload(f"matmul {name} batch", batch, functions, size * 2**15 * 24, ratio=PRODUCTS))
    return [*rows, *_integer_products()]


def _integer_products() -> list[Workload]:
    side = 4096
    functions: _Functions = {name: lambda x, y: x @ y for name in ("xpops", "cupy")}
    rows = []
    for dtype, most in ((torch.int32, 0.8), (torch.int64, 1.0), (torch.int8, 1.0), (torch.bool, 1.0)):
        high = 2 if dtype == torch.bool else 100

        def setup(dtype: torch.dtype = dtype, high: int = high) -> dict[str, torch.Tensor]:
            return {name: torch.randint(0, high, (side, side), device="cuda").to(dtype) for name in "xy"}

        name, size = str(dtype).partition(".")[2], torch.empty((), dtype=dtype).element_size()
        rows.append(Workload(f"matmul {name} {side}", setup, functions, 3 * size * side**2, best=most))
    return rows


def _factorizations() -> list[Workload]:
    import cupy

    def three(name: str, **peers: Any) -> _Functions:
        return {
            "xpops": lambda x: getattr(xp.linalg, name)(x),
            "torch": peers.get("torch") or getattr(torch.linalg, name),
            "cupy": peers.get("cupy") or getattr(cupy.linalg, name),
        }

    functions = {
        "cholesky": three("cholesky"),
        "inv": three("inv"),
        "det": three("det"),
        "qr": three("qr"),
        "svd": three("svd"),
        "eigh": three("eigh"),
        "solve": {
            "xpops": lambda x: xp.linalg.solve(x, x),
            "torch": lambda x: torch.linalg.solve(x, x),
            "cupy": lambda x: cupy.linalg.solve(x, x),
        },
    }

    def definite(shape: tuple[int, ...]) -> Any:
        def setup() -> dict[str, torch.Tensor]:
            x = torch.randn(*shape, device="cuda")
            return {"x": x @ x.mT / shape[-1] + torch.eye(shape[-1], device="cuda")}

        return setup

    shapes = ((512, 512), (2048, 2048), (1000, 16, 16), (200, 64, 64))

    def random(size: int) -> Any:
        return lambda: {"x": torch.randn(size, size, device="cuda")}

    few = {library: functions["svd"][library] for library in ("xpops", "torch")}
    return [
        *(
            Workload(f"{name} {'x'.join(map(str, shape))}", definite(shape), each, 8 * _size(shape), best=OTHERS)
            for name, each in functions.items()
            for shape in shapes
        ),
        *(Workload(f"svd {size} random", random(size), few, 8 * size**2, ratio=SVD) for size in (64, 128, 256, 1024)),
    ]


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size


def _transforms() -> list[Workload]:
    import cupy

    def setup(dtype: torch.dtype, *shape: int) -> Any:
        return lambda: {"x": torch.randn(*shape, device="cuda", dtype=dtype)}

    def three(name: str, **options: Any) -> _Functions:
        theirs = {"dim" if key == "axis" else key: value for key, value in options.items()}
        return {
            "xpops": lambda x: getattr(xp.fft, name)(x, **options),
            "torch": lambda x: getattr(torch.fft, name)(x, **theirs),
            "cupy": lambda x: getattr(cupy.fft, name)(x, **options),
        }

    c64, c128, f32 = torch.complex64, torch.complex128, torch.float32
    cases = [
        ("fft", c64, (2**24,), {}),
        ("fft", c128, (2**24,), {}),
        ("fft", c64, (1000, 1001), {}),
        ("fft", c64, (4096, 4096), {"axis": 0}),
        ("ifft", c64, (4096, 4096), {"axis": 1}),
        ("rfft", f32, (2**25,), {}),
        ("rfft", f32, (8192, 4096), {}),
        ("irfft", c64, (8192, 2049), {}),
        ("fftn", c64, (4096, 4096), {}),
        ("fftn", c64, (256, 256, 256), {}),
        ("rfftn", f32, (4096, 4096), {}),
        ("fft", c64, (100000, 64), {}),
    ]
    return [
        Workload(
            " ".join(
                [name, "x".join(map(str, shape)), *["c128"] * (dtype == c128)]
                + [f"{key} {value}" for key, value in options.items()]
            ),
            setup(dtype, *shape),
            three(name, **options),
            2 * torch.empty((), dtype=dtype).element_size() * _size(shape),
            best=OTHERS,
        )
        for name, dtype, shape, options in cases
    ]


def rows() -> list[Workload]:
    """All rows, in the order of the table."""
    return [*_products(), *_factorizations(), *_transforms()]
