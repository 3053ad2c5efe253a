"""The kernels of the benchmarks: they compile without spills, access memory in packs, and compute what they should."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import xpops as xp
from benchmarks.kernels import module
from tests.helpers.kps import broadcast_config
from tests.helpers.kps_examples import Example, emulated
from tests.helpers.sass import accesses

CAPABILITIES = (80, 90, 100, 120)
RANDOM = np.random.default_rng(7)
TYPES = {np.dtype(np.float32): "float", np.dtype(np.float16): "xpops::float16"}
NDArray = np.ndarray[Any, Any]


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("name", ["dot", "dot_pairs", "dot_fast", "scatter", "scatter_fast"])
def test_atomics_compile(name: str, capability: int) -> None:
    made = module("atomics").get_function(name).compile(capability)
    assert made.resources.local_bytes == 0
    (code,) = (each for each in made.ptx.split(".entry ") if each.startswith(f"{made._symbol}("))
    assert ("red.add.noftz.f16x2" in code) == name.endswith("fast")


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("dtype", [xp.float32, xp.float16], ids=str)
@pytest.mark.parametrize("name", ["product", "product_by_tiles"])
def test_products_compile(name: str, dtype: Any, capability: int) -> None:
    assert module("matmul").get_function(name)[dtype].compile(capability).resources.local_bytes == 0


def test_calls_know_the_parameters() -> None:
    """So arrays are passed as pointers or accessors, the dtypes choose the instance, and numbers are converted."""
    for file, name, kinds in (
        ("atomics", "dot", "ppps"),
        ("atomics", "dot_pairs", "ppps"),
        ("atomics", "scatter_fast", "pppss"),
        ("matmul", "product", "aaa"),
        ("matmul", "product_by_tiles", "aaa"),
        ("primitives", "add", "TTTs"),
        ("primitives", "add_broadcast", "TTTs?"),
        ("primitives", "sum_rows", "TTs"),
        ("primitives", "scan_rows", "TTss"),
    ):
        found = module(file).get_function(name)._parameters or ()
        letters = [
            "a" if each.accessor else each.template or "p" if each.pointer else "s" if each.dtype else "?"
            for each in found
        ]
        assert "".join(letters) == kinds, name
    for name in ("product", "product_by_tiles"):
        kernel = module("matmul").get_function(name)
        assert [(each.template, each.accessor.ndim) for each in kernel._parameters or () if each.accessor] == [
            ("T", "4")
        ] * 3


# The packs of 16 bytes that a thread must load and store: kPacks of each operand, kRowPacks.
PACKS = {"add": (4, 2), "add_broadcast": (4, 2), "sum_rows": (4, 0)}


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("dtype", [xp.float32, xp.float16], ids=str)
@pytest.mark.parametrize("name", [*PACKS, "scan_rows"])
def test_primitives_move_packs(name: str, dtype: Any, capability: int) -> None:
    made = module("primitives").get_function(name)[dtype].compile(capability)
    assert made.resources.local_bytes == 0
    found = accesses(made.cubin)
    if name in PACKS:
        loads, stores = PACKS[name]
        assert found["load", 16] >= loads
        assert found["store", 16] == stores


def numbers(dtype: Any, *shape: int) -> NDArray:
    return RANDOM.integers(-9, 9, shape).astype(dtype)


def check(
    file: str,
    name: str,
    arrays: tuple[NDArray, ...],
    scalars: tuple[tuple[str, Any, Any], ...],
    wanted: NDArray,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    more: str = "",
) -> None:
    """Run the instance of a kernel for arrays of one dtype; the last one is the result. `more` is added to the file."""
    pointers = tuple((f"{TYPES[x.dtype]}*", ctypes.c_uint64, x) for x in arrays)
    source, instance = module(file)._module.source + more, f"{name}<{TYPES[wanted.dtype]}>"
    example = Example(name, source, instance, (*pointers, *scalars), wanted, len(arrays) - 1, grid, block)
    np.testing.assert_array_equal(emulated(example), wanted)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("size", [1, 255, 1024, 5000])
def test_add(size: int, dtype: Any) -> None:
    x, y = numbers(dtype, size), numbers(dtype, size)
    check("primitives", "add", (x, y, np.zeros_like(x)), (("long long", ctypes.c_longlong, size),), x + y,
          (-(-size // 256), 1, 1), (32, 1, 1))  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(
    ("shape", "other"), [((5, 64), (64,)), ((5, 64), (5, 1)), ((7, 45), (45,)), ((3, 5, 16), (5, 16)), ((40,), (1,))]
)
def test_add_broadcast(shape: tuple[int, ...], other: tuple[int, ...], dtype: Any) -> None:
    x, y = numbers(dtype, *shape), numbers(dtype, *other)
    config = broadcast_config(shape, y).tobytes()
    kind = type("Config", (ctypes.Structure,), {"_fields_": [("words", ctypes.c_uint64 * (len(config) // 8))]})
    scalars = (("int", ctypes.c_int, x.size), ("kps::BroadcastConfig", kind, kind.from_buffer_copy(config)))
    check("primitives", "add_broadcast", (x, y, np.zeros_like(x)), scalars, x + y,
          (-(-x.size // 256), 1, 1), (32, 1, 1))  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 512), (2, 2048 + 8), (4, 333)])
def test_sum_rows(rows: int, columns: int, dtype: Any) -> None:
    x = numbers(dtype, rows, columns)
    wanted = x.astype(np.float64).sum(1).astype(dtype)
    check("primitives", "sum_rows", (x, np.zeros(rows, dtype)), (("int", ctypes.c_int, columns),), wanted,
          (rows, 1, 1), (64, 1, 1))  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 64), (4, 100), (7, 127)])
def test_scan_rows(rows: int, columns: int, dtype: Any) -> None:
    x = numbers(dtype, rows, columns)
    wanted = x.astype(np.float64).cumsum(1).astype(dtype)
    scalars = tuple(("int", ctypes.c_int, each) for each in (rows, columns))
    check("primitives", "scan_rows", (x, np.zeros_like(x)), scalars, wanted,
          (-(-rows // 4), 1, 1), (64, 1, 1))  # fmt: skip


MULTIPLY = """
template <class T> using Operand = torch::PackedTensorAccessor32<T, 4, torch::RestrictPtrTraits>;
template <class T, class Kernel>
void multiply(T* x, T* y, T* out, int heads, int rows, int inner, int columns, Kernel kernel) {
  kernel(Operand<T>{x, {2, heads, rows, inner}, {heads * rows * inner, rows * inner, inner, 1}},
         Operand<T>{y, {2, heads, inner, columns}, {heads * inner * columns, inner * columns, columns, 1}},
         Operand<T>{out, {2, heads, rows, columns}, {heads * rows * columns, rows * columns, columns, 1}});
}
template <class T>
void plainly(T* x, T* y, T* out, int heads, int rows, int inner, int columns) {
  multiply(x, y, out, heads, rows, inner, columns, product<T>);
}
template <class T>
void by_tiles(T* x, T* y, T* out, int heads, int rows, int inner, int columns) {
  multiply(x, y, out, heads, rows, inner, columns, product_by_tiles<T>);
}
"""


@pytest.mark.parametrize("name", ["plainly", "by_tiles"])
@pytest.mark.parametrize(("rows", "inner", "columns"), [(1, 1, 1), (16, 32, 16), (17, 5, 33), (20, 16, 7)])
def test_products(rows: int, inner: int, columns: int, name: str) -> None:
    x, y = numbers(np.float32, 2, 3, rows, inner), numbers(np.float32, 2, 3, inner, columns)
    wanted = x @ y
    sizes = tuple(("int", ctypes.c_int, each) for each in (3, rows, inner, columns))
    check("matmul", name, (x, y, np.zeros_like(wanted)), sizes, wanted,
          (-(-columns // 16), -(-rows // 16), 2), (16, 16, 1), MULTIPLY)  # fmt: skip
