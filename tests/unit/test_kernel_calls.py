"""Calls of user-defined kernels, on arrays of a pretended GPU."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.emulator import GPU, STREAM
from tests.unit.conftest import PretendedEngine
from xpops.api.kernel.remembered import RememberedLaunches
from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.dispatch.operands import Operands
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.user.raw import Module

GUIDE = Path(__file__).parents[2] / "docs" / "kernels.md"
NDArray = np.ndarray[Any, Any]


AXPY = xp.kernel.ElementwiseKernel("T a, T x, T y", "T z", "z = a * x + y", "axpy")
BOTH = xp.kernel.ElementwiseKernel("T x", "T y, int64 k", "y = x; k = i", "both")


def test_elementwise_calls(pretended: PretendedEngine) -> None:
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    x, y = pretended.array(host), pretended.array(host[:1])
    for a in (2.0, np.float64(3), 4):
        z = AXPY(a, x, y)
        assert z.device == GPU
        np.testing.assert_array_equal(z.to_numpy(), a * host + host[:1])
    np.testing.assert_array_equal(AXPY(1, x[:, ::2], y[0, 0]).to_numpy(), host[:, ::2])
    for _ in range(2):
        copy, order = BOTH(xp.permute_dims(x, (1, 0)))
        np.testing.assert_array_equal(copy.to_numpy(), host.T)
        np.testing.assert_array_equal(order.to_numpy(), np.arange(12).reshape(4, 3))


def test_results_that_were_given(pretended: PretendedEngine) -> None:
    host = np.arange(5, dtype=np.int32)
    x, out = pretended.array(host), pretended.array(np.zeros(5, np.int32))
    for a in (1, 2):
        assert AXPY(a, x, x, out=out) is out
        np.testing.assert_array_equal(out.to_numpy(), (a + 1) * host)
    assert AXPY(3, x, x, out) is out
    assert AXPY(3, x, 0, out=x) is x
    np.testing.assert_array_equal(x.to_numpy(), 3 * host)
    order = pretended.array(np.zeros(5, np.int64))
    given = BOTH(x, out=(out, order))
    assert (given[0] is out, given[1] is order) == (True, True)
    np.testing.assert_array_equal(order.to_numpy(), np.arange(5))
    with pytest.raises(ValueError, match="axpy: z is read-only; accepted: a writable array"):
        AXPY(1, x, x, out=xp.broadcast_to(x, (5,)))


def test_sizes(pretended: PretendedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    back = xp.kernel.ElementwiseKernel("raw T x", "T y", "y = x[n - 1 - i]", "back")
    x = pretended.array(np.arange(5, dtype=np.int16))
    assert back(x, size=np.int64(3)).to_numpy().tolist() == [2, 1, 0]
    assert back(x, size=0).shape == (0,)
    with pytest.raises(ValueError, match=r"back: size is 2\.5; accepted: an integer, 0 or more"):
        back(x, size=2.5)
    with pytest.raises(ValueError, match="back: size is -1; accepted"):
        back(x, size=-1)
    line = xp.kernel.ElementwiseKernel("T start, T step", "T y", "y = start + i * step", "line")
    monkeypatch.setattr("xpops.api.kernel.elementwise.default_device", lambda: CPU)
    with pytest.raises(xp.DeviceError, match="line: the arrays are on cpu"):
        line(1, 2, size=3)
    monkeypatch.setattr("xpops.api.kernel.elementwise.default_device", lambda: GPU)
    made = line(1.0, np.float32(0.5), size=3)
    assert made.to_numpy().tolist() == [1.0, 1.5, 2.0]
    assert made.dtype == dt.float64
    before = pretended.sources
    assert [line(k, 0.5, size=3).to_numpy().tolist() for k in (1.0, 2.0)] == [[1.0, 1.5, 2.0], [2.0, 2.5, 3.0]]
    assert pretended.sources == before
    with pytest.raises(ValueError, match="line: no array says how many elements there are; accepted: size="):
        line(1.0, 0.5)
    with pytest.raises(OverflowError, match="line: step is an integer beyond the range of float64"):
        line(1.0, 2**2000, size=3)
    assert line(1.0, 0.5, size=2).to_numpy().tolist() == [1.0, 1.5]


def test_functors_and_reductions(pretended: PretendedEngine) -> None:
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = pretended.array(host)
    less = xp.kernel.functor("struct Less { XPOPS_DEVICE bool operator()(float x, float y) const { return x < y; } };")
    total = xp.kernel.ReductionKernel("T x", "T y", "x", "a + b", "y = a", 0, "total")
    dot = xp.kernel.ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", 0, "dot")
    highest = xp.kernel.ScanKernel("T x", "T y", "x", "a > b ? a : b", "y = a", "highest")
    for value in (5, 7):
        np.testing.assert_array_equal(highest(-x, axis=1).to_numpy(), np.maximum.accumulate(-host, 1))
        np.testing.assert_array_equal(less(x, value, result="bool").to_numpy(), host < value)
        np.testing.assert_array_equal(total(x, axis=[0]).to_numpy(), host.sum(0))
        np.testing.assert_array_equal(total(x, axis=(0, 1), keepdims=True).to_numpy(), [[66.0]])
        np.testing.assert_array_equal(dot(x, value).to_numpy(), 66.0 * value)
    assert pretended.launches == 4 + 2 + 2 + 2 + 2


def test_kernels_do_not_take_part_in_fused_functions(pretended: PretendedEngine) -> None:
    with pytest.raises(TypeError, match="axpy cannot be fused"):
        xp.fuse(lambda x: AXPY(1.0, x, x)).source(xp.ones(3, device="cpu"))


class Recorded:
    """A kernel that records the arguments of its launches."""

    def __init__(self, *sizes: int) -> None:
        self.sizes, self.calls = sizes, list[Any]()

    def launch(self, grid: Any, block: Any, arguments: Any, *options: Any) -> None:
        self.calls.append((grid, block, [bytes(each) for each in arguments], *options))


@pytest.fixture
def scale(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    recorded, sums = Recorded(8, 8, 4, 4), Recorded(24, 16)
    monkeypatch.setattr(Module, "function", lambda self, engine, name: sums if "row_sums" in name else recorded)
    monkeypatch.setattr(SCALE, "_remembered", RememberedLaunches())
    return recorded


SCALE = xp.kernel.RawKernel('extern "C" __global__ void scale(const float* x, float* y, float by, int n) {}', "scale")


def test_raw_calls(pretended: PretendedEngine, scale: Recorded) -> None:
    x, y = pretended.array(np.ones(8, np.float32)), pretended.array(np.ones(8, np.float32))
    SCALE((4, 2), 256, (xp.flip(x), y, 2, np.int32(8)), shared=64, cooperative=True, cluster=2)
    grid, block, arguments, shared, stream, cooperative, cluster = scale.calls[0]
    assert (grid, block, shared, stream, cooperative, cluster) == ((4, 2, 1), (256, 1, 1), 64, STREAM, True, (2, 1, 1))
    assert int.from_bytes(arguments[1], "little") == y._data
    assert arguments[2:] == [np.float32(2).tobytes(), np.int32(8).tobytes()]
    SCALE(1, 1, (x, y, 2.5, ctypes.c_int(8)), stream=SimpleNamespace(__cuda_stream__=lambda: (0, 77)))
    assert scale.calls[1][4] == 77
    assert pretended.orders == [(STREAM, 77), (77, STREAM)]


def test_remembered_raw_calls(pretended: PretendedEngine, scale: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call like an earlier one checks nothing again; one that differs in a fact does."""
    x, y, z = (pretended.array(np.full(8, value, np.float32)) for value in (1, 2, 3))
    SCALE(1, 64, (x, y, 2, 8))
    with monkeypatch.context() as patch:
        patch.setattr(Operands, "__init__", lambda *_: pytest.fail("planned again"))
        SCALE(1, 64, (y, z, 3, 7))
        SCALE(1, 64, [z, x, 2**30, 6])
    found = [[int.from_bytes(each, "little") for each in arguments[:2]] for _, _, arguments, *_ in scale.calls]
    assert found == [[x._data, y._data], [y._data, z._data], [z._data, x._data]]
    assert [arguments[2:] for _, _, arguments, *_ in scale.calls[1:]] == [
        [np.float32(3).tobytes(), np.int32(7).tobytes()],
        [np.float32(2**30).tobytes(), np.int32(6).tobytes()],
    ]
    with pytest.raises(OverflowError, match=r"scale: args\[3\] \(n\) is 4294967296; accepted: what int32 holds"):
        SCALE(1, 64, (x, y, 2, 2**32))
    once = xp.broadcast_to(z, (8,))
    assert once._layout == z._layout
    with pytest.raises(ValueError, match=r"scale: args\[1\] \(y\) is read-only"):
        SCALE(1, 64, (x, once, 2, 8))
    with pytest.raises(ValueError, match=r"grid is 1\.0"):
        SCALE(1.0, 64, (x, y, 2, 8))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"args\[3\] \(n\) is a Python float"):
        SCALE(1, 64, (x, y, 2, 8.0))
    with pytest.raises(TypeError, match="3 arguments; accepted: 4"):
        SCALE(1, 64, (x, y, 2))
    SCALE(1, 64, (x, y[:4], 2, 8))
    assert len(scale.calls) == 4


def test_a_raw_kernel_whose_parameters_are_in_a_macro(pretended: PretendedEngine, scale: Recorded) -> None:
    """The types of the parameters are unknown, so scalars must have a width."""
    source = '#define KERNEL(name) extern "C" __global__ void name(float* y, int n)\nKERNEL(scale) {}'
    x, scale.sizes = pretended.array(np.ones(8, np.float32)), (8, 4)
    xp.kernel.RawKernel(source, "scale")(1, 1, (x, np.int32(8)))
    _, _, arguments, *_ = scale.calls[0]
    assert [int.from_bytes(each, "little") for each in arguments] == [x._data, 8]


def test_raw_refusals(pretended: PretendedEngine, scale: Recorded) -> None:
    x, y = pretended.array(np.ones(8, np.float32)), pretended.array(np.ones(8))
    once = xp.broadcast_to(x[:1], (8,))
    with pytest.raises(TypeError, match=r"scale: args\[1\] \(y\) is an array of float64; accepted: float32"):
        SCALE(1, 1, (x, y, 2, 8))
    with pytest.raises(
        ValueError, match=r"scale: args\[1\] \(y\) is read-only; accepted: a writable array, or a pointer"
    ):
        SCALE(1, 1, (once, once, 2, 8))
    with pytest.raises(TypeError, match=r"scale: args\[3\] \(n\) is an array; the kernel takes int32"):
        SCALE(1, 1, (x, x, 2, x))
    with pytest.raises(TypeError, match=r"scale: the arguments have \(8, 8, 4, 2\) bytes; accepted: \(8, 8, 4, 4\)"):
        SCALE(1, 1, (x, x, 2, b"ab"))
    with pytest.raises(ValueError, match=r"scale: args\[0\] is on cuda:0 and args\[1\] on cpu"):
        SCALE(1, 1, (x, xp.ones(3, device="cpu"), 2, 8))
    assert not scale.calls


def blocks() -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL))


def test_the_guide(pretended: PretendedEngine, scale: Recorded) -> None:
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    names: dict[str, Any] = {"x": pretended.array(host), "y": pretended.array(host), "n": 12}
    exec(blocks(), names)
    np.testing.assert_array_equal(names["z"].to_numpy(), 3 * host)
    np.testing.assert_allclose(names["w"].to_numpy(), host / (1 + np.exp(-2 * host)), rtol=1e-6)
    np.testing.assert_allclose(names["rows"].to_numpy(), np.sqrt((host**2).sum(1)), rtol=1e-6)
    np.testing.assert_array_equal(names["so_far"].to_numpy(), host)
    np.testing.assert_array_equal(names["narrow"].to_numpy(), host.astype(np.float16))
    np.testing.assert_array_equal(names["sloped"].to_numpy(), host)
    np.testing.assert_array_equal(names["sums"].to_numpy(), host.sum(0))
    assert scale.calls[0][:2] == ((1, 1, 1), (256, 1, 1))
    assert compile_cubin("scale", names["scale"]._module.source, 90)
