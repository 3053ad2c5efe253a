"""Upsampling kernels without a GPU; that they compile; and which arguments raise."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xpops as xp
from tests.helpers.emulator import EmulatedEngine, layout_on_gpu, run
from xpops.api.nn import upsampling
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.layouts import Layout, layout_of
from xpops.engine.cuda.runtime.compile import compile_cubin

NDArray = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(3)


def some(dtype: Any, *shape: int) -> NDArray:
    return RANDOM.integers(0, 9, shape).astype(dtype)


CASES = [
    ((2, 3, 4, 8), {"scale": 2}),
    ((2, 3, 4, 7), {"scale": 2}),
    ((1, 2, 3, 4), {"scale": 3.0}),
    ((1, 2, 5, 6), {"scale": (0.5, 2.3)}),
    ((1, 1, 7, 9), {"size": (3, 4)}),
    ((2, 2, 3, 5), {"size": (10, 20)}),
    ((3, 1, 1, 1), {"size": (2, 5)}),
]
DTYPES = [np.uint8, np.int16, np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex128]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: np.dtype(d).name)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_both_engines_agree(case: Any, dtype: Any, layout: str) -> None:
    shape, options = case
    x = some(dtype, *shape)
    if layout == "NHWC":
        x = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    wanted = xp.nn.upsample_nearest2d(x, **options, layout=layout)
    forward = (options.get("scale"), options.get("size"), layout)
    engine = EmulatedEngine()
    (found,) = run(engine, *upsampling._plan_forward(engine, (layout_on_gpu(x),), *forward), x)
    np.testing.assert_array_equal(found, wanted)
    if np.dtype(dtype) not in dt.REAL_FLOATS:
        return
    grad = some(dtype, *wanted.shape)
    place = upsampling._PLACES[layout]
    back = (x.shape[place : place + 2], options.get("scale"), layout)
    (found,) = run(engine, *upsampling._plan_backward(engine, (layout_on_gpu(grad),), *back), grad)
    np.testing.assert_array_equal(found, xp.nn.upsample_nearest2d_backward(grad, back[0], scale=back[1], layout=layout))


def test_misaligned_images() -> None:
    x = some(np.float32, 1 + 2 * 3 * 4 * 8)[1:].reshape(2, 3, 4, 8)
    engine = EmulatedEngine()
    (found,) = run(engine, *upsampling._plan_forward(engine, (layout_on_gpu(x),), 2, None, "NCHW"), x)
    np.testing.assert_array_equal(found, x.repeat(2, 2).repeat(2, 3))


class Collecting(EmulatedEngine):
    """Records sources instead of running them."""

    def launcher(self, name: str, source: str, blocks: int, threads: int, slots: str, tail: bytes) -> Any:
        self.sources = [*getattr(self, "sources", []), source]
        return lambda *arguments: None


@pytest.mark.parametrize("capability", [80, 90, 100])
def test_every_kernel_compiles(capability: int) -> None:
    engine = Collecting()
    for dtype in (dt.float16, dt.float32, dt.uint8, dt.complex128):
        for layout, shape in (("NCHW", (2, 8, 16, 16)), ("NHWC", (2, 16, 16, 8))):
            x = layout_of(dtype, shape, None, Device("cuda"))
            for scale in (2, 1.5):
                out: Layout = upsampling._plan_forward(engine, (x,), scale, None, layout).layouts[0]
                if dtype in dt.REAL_FLOATS:
                    upsampling._plan_backward(engine, (out,), (16, 16), scale, layout)
    for source in dict.fromkeys(engine.sources):
        assert compile_cubin("upsample", source, capability)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda x, f, b: f(x), ValueError, "scale is None and size None; accepted: exactly one"),
    (lambda x, f, b: f(x, scale=2, size=3), ValueError, "scale is 2 and size 3; accepted: exactly one"),
    (lambda x, f, b: f(x[0], scale=2), ValueError, r"x has shape \(1, 2, 3\); accepted: four axes"),
    (lambda x, f, b: f(x, scale="a"), TypeError, "scale is 'a'; accepted: a number, or two"),
    (lambda x, f, b: f(x, scale=-1), ValueError, "scale is -1; accepted: above 0"),
    (lambda x, f, b: f(x, scale=0.1), ValueError, "accepted: what leaves a row and a column"),
    (lambda x, f, b: f(x, size=0), ValueError, "size is 0; accepted: at least one row"),
    (lambda x, f, b: f(x, size=1.5), TypeError, "size is 1.5; accepted: an integer, or two"),
    (lambda x, f, b: f(x, scale=2, layout="CHW"), ValueError, "layout is 'CHW'; accepted: 'NCHW', 'NHWC'"),
    (lambda x, f, b: b(xp.astype(x, xp.int8), 1), TypeError, "dtype int8 is not accepted; accepted: real floating"),
    (lambda x, f, b: b(x, 3, scale=2), ValueError, r"scale is 2 and size 3, for grad of shape \(1, 1, 2, 3\)"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[2][:30])
def test_refusals(case: Any) -> None:
    call, kind, message = case
    x = xp.ones((1, 1, 2, 3), device="cpu")
    with pytest.raises(kind, match=f"upsample_nearest2d.*{message}"):
        call(x, xp.nn.upsample_nearest2d, xp.nn.upsample_nearest2d_backward)


def test_no_images() -> None:
    x = xp.ones((0, 3, 2, 2), device="cpu")
    assert xp.nn.upsample_nearest2d(x, scale=2).shape == (0, 3, 4, 4)
    assert xp.nn.upsample_nearest2d_backward(xp.ones((0, 3, 4, 4), device="cpu"), 2).shape == (0, 3, 2, 2)
