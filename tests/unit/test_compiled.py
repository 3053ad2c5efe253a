"""The compiled core of the steady state: it is that of these sources, and does what the Python code does."""

from __future__ import annotations

import ctypes
import gc
import importlib.util
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda.bindings import driver as cuda

import xpops as xp
from xpops.core.compiled import compiled
from xpops.core.layouts import layout_of
from xpops.dispatch import steady
from xpops.plan.strides.overlap import SafeDistance

ROOT = Path(__file__).resolve().parents[2]
needs_core = pytest.mark.skipif(compiled is None, reason="the compiled core was not built, or XPOPS_PURE leaves it out")

# Prints what calls return, or raise: each call three times, with calls between that differ in one fact.
PROGRAM = """
import itertools, warnings
import numpy as np
import xpops as xp
from xpops.core.compiled import compiled
xp.set_default_device("cpu")
print(compiled is None)
try:
    import torch
except ImportError:
    torch = None
warnings.simplefilter("error")
host = np.linspace(-3, 3, 12).reshape(3, 4)
read_only = host.copy()
read_only.flags.writeable = False

def arrays(make):
    x = make(host.astype(np.float32))
    others = host, host > 0, np.arange(12).reshape(3, 4), host + 2j, np.zeros((0, 4))
    return [x, x.T, x[1:, ::2], *map(make, others)]

def of_torch(x):
    made = torch.from_numpy(np.ascontiguousarray(x).copy())
    return made

makers = [xp.asarray, lambda x: x] + ([of_torch] if torch else [])
calls = {
    "add": lambda x, y: xp.add(x, y),
    "integer": lambda x, y: xp.multiply(x, 2),
    "float": lambda x, y: xp.add(x, 2.5),
    "bool": lambda x, y: xp.add(x, True),
    "big": lambda x, y: xp.add(x, 10**30),
    "exp": lambda x, y: xp.exp(x),
    "where": lambda x, y: xp.where(xp.isfinite(x), x, y),
    "clip": lambda x, y: xp.clip(x, 0, 1),
    "out": lambda x, y: xp.add(x, y, out=x),
    "overlap": lambda x, y: xp.add(x[:-1], x[1:], out=x[1:]),
    "sum": lambda x, y: xp.sum(x, axis=0),
    "list": lambda x, y: xp.sum(x, axis=[0]),
    "axis": lambda x, y: xp.sum(x, axis=5),
    "max": lambda x, y: xp.max(x, axis=(0, 1)),
    "sort": lambda x, y: xp.sort(x),
    "topk": lambda x, y: xp.nn.topk(x, 2),
    "nonzero": lambda x, y: xp.nonzero(x),
    "softmax": lambda x, y: xp.nn.softmax(x),
    "matmul": lambda x, y: xp.matmul(x, xp.permute_dims(y, (1, 0))),
    "svd": lambda x, y: xp.linalg.svdvals(x),
    "asarray": lambda x, y: xp.asarray(x),
    "from_dlpack": lambda x, y: xp.from_dlpack(x),
    "broadcast_arrays": lambda x, y: xp.broadcast_arrays(x, y),
    "meshgrid": lambda x, y: xp.meshgrid(x[0], y[-1]),
    "result_type": lambda x, y: np.zeros(0, xp.result_type(x, y)),
    "transpose": lambda x, y: xp.matrix_transpose(x),
}

def text(result):
    if isinstance(result, tuple):
        return [text(each) for each in result]
    found = np.asarray(result.resolve_conj() if torch and isinstance(result, torch.Tensor) else result)
    return type(result).__name__, str(found.dtype), found.shape, found.tobytes().hex()

for name, call in calls.items():
    for make in makers:
        for _ in range(3):
            for x, y in itertools.product(arrays(make), arrays(make)):
                try:
                    print(name, text(call(x, y)))
                except Exception as error:
                    print(name, type(error).__name__, error)
if torch:
    z = torch.tensor([1 + 2j, -3j])
    leaf = torch.ones(2, requires_grad=True)
    for _ in range(3):
        parameter = torch.nn.Parameter(torch.ones(2))
        for x in (z, z.conj(), z.conj().imag, z.real, torch.zeros(2), leaf, leaf.detach(), parameter):
            for guard in (torch.no_grad, torch.enable_grad, torch.inference_mode):
                with guard():
                    try:
                        print(text(xp.negative(x)), text(xp.add(x, x)))
                        print(text(xp.asarray(x)), text(xp.broadcast_arrays(x, x)))
                        print(text(xp.from_dlpack(x)))
                    except Exception as error:
                        print(type(error).__name__, error)
"""


def outputs(pure: bool) -> list[str]:
    environment = {**os.environ, "XPOPS_PURE": str(int(pure)), "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@needs_core
def test_it_was_built_from_these_sources() -> None:
    spec = importlib.util.spec_from_file_location("build", ROOT / "native" / "dispatch" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    assert compiled is not None
    assert compiled.sources == build.digest(), "build it again: pip install -e ."


@needs_core
def test_results_and_errors_are_those_of_the_python_code() -> None:
    (without, *expected), (with_core, *found) = outputs(pure=True), outputs(pure=False)
    assert (without, with_core) == ("True", "False")
    assert len(expected) > 2000
    assert found == expected


class Attribute(ctypes.Structure):
    """The driver's CUlaunchAttribute."""

    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_int * 16))


class Config(ctypes.Structure):
    """The driver's CUlaunchConfig."""

    _fields_ = (
        ("grid", ctypes.c_uint * 7),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(Attribute)),
        ("count", ctypes.c_uint),
    )


# The launch may overlap the end of the kernel before it.
SERIALIZATION = cuda.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
Launch = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(Config), ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p
)


@pytest.fixture
def driver() -> Any:
    """A launch function that records its arguments, and the 48 bytes of parameters. It returns `error`."""

    class Driver:
        error = 0

        def __init__(self) -> None:
            self.launches: list[Any] = []
            self.function = Launch(self.launch)

        def launch(self, config: Any, function: int, pointers: Any, extra: int | None) -> int:
            assert extra is None
            found = config[0]
            attributes = [(each.id, each.value[0]) for each in found.attributes[: found.count]]
            self.launches.append(
                (function, list(found.grid), found.stream, attributes, ctypes.string_at(pointers[0], 48))
            )
            return self.error

    return Driver()


def kernel_of(driver: Any, forms: str, tail: bytes = b"", failed: Any = None, overlaps: bool = False) -> Any:
    assert compiled is not None
    address = ctypes.cast(driver.function, ctypes.c_void_p).value
    return compiled.Kernel("name", address, 77, 5, 6, 7, overlaps, forms, tail, failed)


def test_the_configuration_has_the_layout_of_the_driver() -> None:
    config, attribute = cuda.CUlaunchConfig(), cuda.CUlaunchAttribute()
    attribute.id, attribute.value.programmaticStreamSerializationAllowed = SERIALIZATION, 1
    config.gridDimX, config.gridDimY, config.gridDimZ, config.blockDimX = 1, 2, 3, 4
    config.blockDimY, config.blockDimZ, config.sharedMemBytes, config.hStream = 5, 6, 7, 8
    config.attrs, config.numAttrs = [attribute], 1
    found = Config.from_address(config.getPtr())
    assert ([*found.grid], found.stream, found.count) == ([1, 2, 3, 4, 5, 6, 7], 8, 1)
    assert (found.attributes[0].id, found.attributes[0].value[0]) == (SERIALIZATION.value, 1)


@needs_core
@pytest.mark.parametrize("overlaps", [False, True])
def test_a_kernel_writes_its_parameters(driver: Any, overlaps: bool) -> None:
    kernel = kernel_of(driver, "QqdQ", b"sixteen bytes ..", overlaps=overlaps)
    attributes = [(SERIALIZATION.value, 1)] * overlaps
    for number in range(3):
        kernel(9, 2**64 - 1, -(2**63), 1.5, number)
    slots = [np.asarray([2**64 - 1], np.uint64), np.asarray([-(2**63)]), np.asarray([1.5])]
    expected = b"".join(slot.tobytes() for slot in slots)
    assert driver.launches == [
        (77, [5, 1, 1, 6, 1, 1, 7], 9, attributes, expected + number.to_bytes(8, "little") + b"sixteen bytes ..")
        for number in range(3)
    ]


@needs_core
@pytest.mark.parametrize("values", [(-1,), (2**64,), (1, 2), ()], ids=str)
def test_a_kernel_refuses_what_does_not_fit(driver: Any, values: tuple[int, ...]) -> None:
    with pytest.raises((OverflowError, TypeError), match="name"):
        kernel_of(driver, "Q")(0, *values)
    with pytest.raises(OverflowError, match="name: a Python integer is beyond the range of float64"):
        kernel_of(driver, "d")(0, 10**400)
    assert driver.launches == []


@needs_core
def test_a_failed_launch_is_repaired_or_raises(driver: Any) -> None:
    repairs: list[tuple[int, int, bytes]] = []

    def failed(error: int, stream: int, pointers: int) -> None:
        address = ctypes.c_void_p.from_address(pointers).value
        repairs.append((error, stream, ctypes.string_at(address or 0, 8)))
        if error == 2:
            raise RuntimeError("lost")

    kernel = kernel_of(driver, "Q", failed=failed)
    driver.error = 1
    kernel(3, 258)
    driver.error = 2
    with pytest.raises(RuntimeError, match="lost"):
        kernel(3, 258)
    assert repairs == [(error, 3, (258).to_bytes(8, "little")) for error in (1, 2)]


@needs_core
def test_parameters_that_cuda_does_not_take_are_refused(driver: Any) -> None:
    for forms, tail in (("Q?", b""), ("Q", bytes(4096)), ("16s", b"")):
        with pytest.raises(ValueError, match="accepted: 4096 bytes, slots of Q, q and d"):
            kernel_of(driver, forms, tail)


@needs_core
def test_launches_keep_no_reference() -> None:
    assert compiled is not None
    layout = layout_of(np.dtype("float32"), (3,), None, xp.Device("cpu"))
    owner, data, value, stream = (object() for _ in range(4))
    launch = compiled.Launch(lambda: stream, lambda *given: None, ((lambda stream: (data, owner), layout),))
    gc.collect()
    before = [sys.getrefcount(each) for each in (owner, data, value, stream, layout)]
    for _ in range(100):
        array = launch(value)
        assert (array._layout, array._data, array._owner, array._writable) == (layout, data, owner, True)
        assert type(array) is xp.Array
    del array
    gc.collect()
    assert [sys.getrefcount(each) for each in (owner, data, value, stream, layout)] == before


@needs_core
@pytest.mark.parametrize("place", ["stream", "make", "kernel", "finish"])
def test_errors_within_a_launch_pass(place: str) -> None:
    assert compiled is not None

    def step(name: str, value: Any) -> Any:
        def function(*given: Any) -> Any:
            if name == place:
                raise KeyError(name)
            return value

        return function

    maker = (step("make", (1, 2)), step("finish", 3))
    launch = compiled.Launch(step("stream", 0), step("kernel", None), (maker, maker))
    with pytest.raises(KeyError, match=place):
        launch()
    with pytest.raises(TypeError, match="a maker returns"):
        compiled.Launch(int, print, ((lambda stream: 5, None),))()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_within_a_view_passes(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    x, calls = xp.zeros((2, 3, 5), device="cpu"), []  # on a GPU the compiled core makes the view

    def interrupted(x: Any, *arguments: Any) -> Any:
        calls.append(arguments)
        raise error

    xp.reshape(x, (5, 6))
    for key, (show, *arguments) in [*steady.shows.items()]:  # earlier tests may have had views of such arrays
        if key[-1] is x._layout:
            steady.forget_views()
            monkeypatch.setitem(steady.shows, key, (interrupted, *arguments))
            assert show
    with pytest.raises(error):
        xp.reshape(x, (5, 6))
    assert len(calls) == 1


@pytest.mark.parametrize("found", [(), (1,), (1, 2, 3), None], ids=str)
def test_a_reader_that_returns_no_pair_is_an_error(found: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(steady.readers, Decimal, lambda x: found)
    with pytest.raises((TypeError, ValueError), match=r"Adapter.read returns|unpack"):
        steady.known("way", (Decimal(),))


@needs_core
def test_a_write_keeps_its_distance() -> None:
    """A write that overlaps an operand is refused, at the distances that `SafeDistance` names."""
    safe, done = SafeDistance(16, -8, True), list[Any]()
    write = compiled.Write(lambda: 5, lambda *data: done.append(data), (safe, None), None, None, done.append)  # type: ignore[union-attr]
    for distance in range(-20, 30):
        done.clear()
        assert write("out", 1000, 1000 + distance, 2.5) is safe.holds(distance)
        assert done == ([(5, 1000, 1000 + distance, 2.5), "out"] if safe.holds(distance) else [])
    read_only = compiled.Write(lambda: 5, done.append, (None,), None, lambda out: False, None)  # type: ignore[union-attr]
    assert read_only("out", 1000, 1) is False
    with pytest.raises(TypeError, match="Write: 2 arguments; accepted: 3"):
        read_only("out", 1000)


@needs_core
def test_a_maker_follows_the_current_device() -> None:
    class Tensor:
        def __init__(self, *arguments: Any) -> None:
            self.arguments = arguments

        def data_ptr(self) -> int:
            return 1000 + len(self.arguments)

    current = [0]
    make = compiled.Maker(Tensor, (1, 2), lambda: current[0], 0, lambda: Tensor())  # type: ignore[union-attr]
    assert [make(0)[0], make(0)[1].arguments] == [1002, (1, 2)]
    current[0] = 1
    assert [make(0)[0], make(0)[1].arguments] == [1000, ()]
    data, tensor = compiled.Maker(Tensor, (3,), None, 0, Tensor)(0)  # type: ignore[union-attr]
    assert data is tensor, "on the host the tensor is the data"
    with pytest.raises(ZeroDivisionError):
        compiled.Maker(Tensor, (), lambda: 1 // 0, 0, Tensor)(0)  # type: ignore[union-attr]


@pytest.fixture
def transfers() -> Any:
    """A `Transfer` whose driver is made of Python functions; `calls` has what it called, `errors` what each returns."""

    class Transfers:
        def __init__(self) -> None:
            self.calls: list[Any] = []
            self.errors: dict[str, int] = {}
            integer, address, size = ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t
            self.functions = [
                self.function("push", integer, address),
                self.function("pop", integer, address),
                self.function("exchange", integer, ctypes.POINTER(integer)),
                self.function("to_host", integer, address, address, size, address),
                self.function("to_device", integer, address, address, size, address),
                self.function("synchronize", integer, address),
            ]
            addresses = [ctypes.cast(each, address).value for each in self.functions]
            self.transfer = compiled.Transfer(77, *addresses)  # type: ignore[union-attr]

        def function(self, name: str, *types: Any) -> Any:
            def call(*given: Any) -> int:
                self.calls.append(name)
                if name == "exchange":
                    given[0][0], self.mode = self.mode, given[0][0]
                elif name.startswith("to_") and not self.errors.get(name):
                    ctypes.memmove(*given[:3])
                return self.errors.get(name, 0)

            return ctypes.CFUNCTYPE(*types)(call)

        mode = 1

    return Transfers()


@needs_core
def test_a_transfer_copies_and_waits(transfers: Any) -> None:
    there = np.arange(6.0)
    for number in range(3):
        there += number
        here = np.zeros((2, 3))
        assert transfers.transfer(here, there.ctypes.data, 5, True) == 0
        np.testing.assert_array_equal(here.ravel(), there)
        here.flags.writeable = False
        there[...] = 0
        assert transfers.transfer(here, there.ctypes.data, 5, False) == 0
        np.testing.assert_array_equal(here.ravel(), there)
        with pytest.raises((BufferError, ValueError)):
            transfers.transfer(here, there.ctypes.data, 5, True)
    around = ["push", "exchange", "copy", "synchronize", "exchange", "pop"]
    assert [call.replace("to_host", "copy").replace("to_device", "copy") for call in transfers.calls] == around * 6
    assert transfers.mode == 1, "the mode of captures is what it was"


@needs_core
@pytest.mark.parametrize("name", ["push", "exchange", "to_host", "synchronize"])
def test_a_transfer_returns_the_error_and_leaves_the_context(name: str, transfers: Any) -> None:
    transfers.errors[name] = 700
    assert transfers.transfer(np.zeros(3), np.zeros(3).ctypes.data, 0, True) == 700
    assert transfers.calls.count("push") == 1
    assert transfers.calls.count("pop") == (name != "push")


@needs_core
def test_blocks_return_to_their_list() -> None:
    lists: dict[int, list[int]] = {0: [10, 20], 5: [30]}
    asked: list[int] = []

    def slow(stream: int) -> tuple[int, Any]:
        asked.append(stream)
        return 99, "owner"

    allocator = compiled.Allocator(lists, slow)  # type: ignore[union-attr]
    address, block = allocator(0)
    assert (address, lists[0]) == (20, [10])
    kept = [allocator(0), allocator(0)]
    assert [each[0] for each in kept] == [10, 99]
    assert allocator(5) == (99, "owner")
    assert asked == [0, 5], "other streams may be in capture"
    del block, kept
    gc.collect()
    assert sorted(lists[0]) == [10, 20]
    with pytest.raises(TypeError, match="an allocator returns a tuple of two"):
        compiled.Allocator({}, lambda stream: 5)(0)  # type: ignore[union-attr]
