"""Sequences: the compiled core makes the launches of a plan's kernel, with the same addresses and parameters."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from typing import Any

import pytest

from xpops.core.compiled import compiled

pytestmark = pytest.mark.skipif(compiled is None, reason="the compiled core was not built, or XPOPS_PURE leaves it out")

SLOTS = 4
Launch = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p
)
Get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))
Push = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
Set = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p)


def address_of(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class Gpu:
    """Launchers, an allocator, a look-up and `zero` of the compiled core, on functions that note their calls.

    Attributes
    ----------
    calls : list
        What the driver was called with: the kernel and its words, or "zero" with an address, a size and a stream.
    asked : list of int
        The streams that were looked up.
    """

    def __init__(self) -> None:
        assert compiled is not None
        self.calls: list[Any] = []
        self.asked: list[int] = []
        self.context, self.error = 1, 0
        self.lists: dict[int, list[int]] = {0: [1000, 2000, 3000]}
        self.allocate = compiled.Allocator(self.lists, self._allocate_slowly)
        self.look_up = compiled.Lookup(self._find)
        self._functions = Launch(self._launch), Get(self._get), Push(self._push), Get(self._pop), Set(self._set)
        get, push, pop, set_ = map(address_of, self._functions[1:])
        self.zero = compiled.Zero(self._fail, 1, get, push, pop, set_)

    def kernel(self, number: int, forms: str) -> Any:
        assert compiled is not None
        tail = bytes(8 * (SLOTS - len(forms)))
        launch = address_of(self._functions[0])
        return compiled.Kernel("name", launch, number, 1, 1, 0, False, forms, tail, self._fail_launch)

    def take_calls(self) -> list[Any]:
        calls = self.calls[:]
        self.calls.clear()
        return calls

    def _launch(self, config: int, function: int, pointers: Any, extra: Any) -> int:
        self.calls.append((function, *(ctypes.c_uint64 * SLOTS).from_address(pointers[0])))
        return self.error

    def _get(self, context: Any) -> int:
        context[0] = self.context
        return 0

    def _push(self, context: int) -> int:
        self.calls.append(("push", context))
        return 0

    def _pop(self, context: Any) -> int:
        self.calls.append("pop")
        return 0

    def _set(self, address: int, byte: int, size: int, stream: int | None) -> int:
        self.calls.append(("zero", address, byte, size, stream or 0))
        return self.error

    def _allocate_slowly(self, stream: int) -> tuple[int, Any]:
        return 5000 + stream, None

    def _find(self, stream: int) -> int:
        self.asked.append(stream)
        return 7000 + stream

    def _fail(self, error: int) -> None:
        raise RuntimeError(f"error {error}")

    def _fail_launch(self, error: int, stream: int, pointers: int) -> None:
        raise RuntimeError(f"error {error}")


@pytest.fixture
def gpu() -> Gpu:
    return Gpu()


def sequence_of(kernel: Callable[..., None], *arrays: bool) -> Any:
    assert compiled is not None
    return compiled.sequence(kernel, arrays)


def plan_of(gpu: Gpu) -> Callable[..., None]:
    """A kernel of an address, an address and a scalar, with everything that a sequence can have."""
    first, second = gpu.kernel(1, "QQdq"), gpu.kernel(2, "QQ")

    def kernel(stream: int, out: int, x: int, scalar: float) -> None:
        scratch, owner = gpu.allocate(stream)
        gpu.zero(stream, scratch + 8, 24)
        first(stream, scratch, x + 16, scalar, -3)
        del owner
        again, owner = gpu.allocate(stream)
        second(stream, 4 + out, again)
        second(stream, again, gpu.look_up(stream))
        other, more = gpu.allocate(stream)
        second(stream, other, 9)
        del owner, more

    return kernel


@pytest.mark.parametrize("stream", [0, 3])
def test_the_launches_are_those_of_the_kernel(gpu: Gpu, stream: int) -> None:
    kernel = plan_of(gpu)
    sequence = sequence_of(kernel, True, True, False)
    assert (type(sequence).__name__, gpu.calls, gpu.lists) == ("Sequence", [], {0: [1000, 2000, 3000]})
    for number in range(3):
        data = stream, 64 * number, 2**40 + number, 0.5 + number
        found = []
        for run in (kernel, sequence):
            gpu.lists[0][:] = [1000, 2000, 3000]
            run(*data)
            found.append((gpu.take_calls(), gpu.lists[0][:]))
        expected = found[0][0]
        assert found[0] == found[1]
        assert expected[0] == ("zero", (3008 if stream == 0 else 5011), 0, 24, stream)
        assert expected[1][2] == 2**40 + number + 16


def test_memory_that_a_kernel_gives_back_is_used_again(gpu: Gpu) -> None:
    launch = gpu.kernel(1, "Q")

    def kernel(stream: int, out: int) -> None:
        for _ in range(3):
            address, owner = gpu.allocate(stream)
            launch(stream, address)
            del owner

    sequence_of(kernel, True)(0, 8)
    assert [each[1] for each in gpu.calls] == [3000, 3000, 3000]


def test_of_the_default_stream_an_address_is_looked_up_once(gpu: Gpu) -> None:
    launch = gpu.kernel(1, "QQ")
    sequence = sequence_of(lambda stream, out: launch(stream, out, gpu.look_up(stream)), True)
    for stream in (0, 0, 3, 3, 0):
        sequence(stream, 8)
    assert gpu.asked == [0, 3, 3]
    assert [each[2] for each in gpu.calls] == [7000, 7000, 7003, 7003, 7000]


def test_a_single_launch_is_the_kernel_itself(gpu: Gpu) -> None:
    launch = gpu.kernel(1, "QQd")
    assert sequence_of(lambda stream, *data: launch(stream, *data), True, True, False) is launch
    assert sequence_of(launch, True, True, False) is launch
    for turned in (
        lambda stream, out, x, a: launch(stream, x, out, a),
        lambda stream, out, x, a: launch(stream, out, x + 8, a),
        lambda stream, out, x, a: launch(stream, out, x, 2.0),
    ):
        sequence = sequence_of(turned, True, True, False)
        assert sequence is not launch
        turned(0, 8, 16, 1.5)
        sequence(0, 8, 16, 1.5)
        first, second = gpu.take_calls()
        assert first == second


def test_what_depends_on_values_stays_a_kernel(gpu: Gpu) -> None:
    launch, kept = gpu.kernel(1, "Qd"), {}  # type: ignore[var-annotated]

    def branch(stream: int, out: int, value: float) -> None:
        if value:
            launch(stream, out, value)

    def use_stream(stream: int, out: int, value: float) -> None:
        launch(stream, out + kept.setdefault(stream, 8), value)

    kernels: list[Callable[..., None]] = [
        branch,
        use_stream,
        lambda stream, out, value: launch(stream, out, value + 1),
        lambda stream, out, value: launch(stream, out, 1.0 if value > 0 else 0.0),
        lambda stream, out, value: launch(stream, out, float(value)),
        lambda stream, out, value: launch(stream, out, value.real),
        lambda stream, out, value: launch(stream or 5, out, value),
        lambda stream, out, value: launch(stream, out + out, value),
        lambda stream, out, value: launch(stream, value, out),
        lambda stream, out, value: launch(stream, out),
        lambda stream, out, value: gpu.zero(stream, 8, 8),
        lambda stream, out, value: gpu.zero(stream, out, value),
        lambda stream, out, value: launch(stream, out, 10**400),
    ]
    for kernel in kernels:
        assert sequence_of(kernel, True, False) is kernel
    assert (gpu.calls, kept) == ([], {})


@pytest.mark.parametrize("stream", [0, 3])
def test_a_function_of_python_is_a_step(gpu: Gpu, stream: int) -> None:
    assert compiled is not None
    launch, called = gpu.kernel(1, "Q"), []

    def function(*given: Any) -> None:
        called.append((len(gpu.calls), *given))

    step, info = compiled.Call(function), object()

    def kernel(stream: int, out: int, value: float) -> None:
        scratch, owner = gpu.allocate(stream)
        launch(stream, scratch)
        step(stream, scratch + 8, out, value, info, 2**70, None)
        launch(stream, out)
        del owner

    sequence = sequence_of(kernel, True, False)
    assert (type(sequence).__name__, called) == ("Sequence", [])
    value = [0.5]
    sequence(stream, 64, value)
    kernel(stream, 64, value)
    scratch = 3000 if stream == 0 else 5003
    expected = (stream, scratch + 8, 64, value, info, 2**70, None)
    assert called == [(1, *expected), (3, *expected)]
    assert called[0][4] is value
    only = sequence_of(lambda stream, *data: step(stream, *data), True, False)
    assert only is step
    assert sequence_of(step, True, False) is step
    only(stream, 1, "any")
    assert called[-1] == (4, stream, 1, "any")


def test_an_error_of_a_step_ends_the_sequence(gpu: Gpu) -> None:
    assert compiled is not None
    launch = gpu.kernel(1, "Q")

    def fail(stream: int, out: int) -> None:
        raise KeyError(out)

    step = compiled.Call(fail)

    def kernel(stream: int, out: int) -> None:
        scratch, owner = gpu.allocate(stream)
        step(stream, out)
        launch(stream, scratch)
        del owner

    with pytest.raises(KeyError, match="64"):
        sequence_of(kernel, True)(0, 64)
    assert (gpu.calls, gpu.lists[0]) == ([], [1000, 2000, 3000])


def test_an_interrupt_passes(gpu: Gpu) -> None:
    def kernel(stream: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sequence_of(kernel)


def test_errors_pass_and_memory_is_given_back(gpu: Gpu) -> None:
    sequence = sequence_of(plan_of(gpu), True, True, False)
    with pytest.raises(OverflowError, match="beyond the range of float64"):
        sequence(0, 8, 16, 10**400)
    with pytest.raises(OverflowError):
        sequence(0, -8, 16, 1.0)
    with pytest.raises(TypeError, match="2 values; accepted: 3"):
        sequence(0, 8, 16)
    gpu.error = 2
    with pytest.raises(RuntimeError, match="error 2"):
        sequence(0, 8, 16, 1.0)
    assert sorted(gpu.lists[0]) == [1000, 2000, 3000]


def test_zero_runs_in_the_context_of_the_memory(gpu: Gpu) -> None:
    gpu.zero(3, 64, 8)
    assert gpu.take_calls() == [("zero", 64, 0, 8, 3)]
    gpu.context = 2
    gpu.zero(0, 64, 8)
    assert gpu.take_calls() == [("push", 1), ("zero", 64, 0, 8, 0), "pop"]


def test_it_keeps_no_reference_but_the_kernel(gpu: Gpu) -> None:
    kernel, values = plan_of(gpu), (10**6, 2 * 10**6, 1.25)
    before = [sys.getrefcount(each) for each in (*values, gpu.allocate, gpu.look_up)]
    sequence = sequence_of(kernel, True, True, False)
    for _ in range(50):
        sequence(0, *values)
    assert sys.getrefcount(kernel) == 3
    del sequence
    gc.collect()
    assert [sys.getrefcount(each) for each in (*values, gpu.allocate, gpu.look_up)] == before
    assert sys.getrefcount(kernel) == 2
