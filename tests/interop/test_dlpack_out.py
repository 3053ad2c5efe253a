"""Export by DLPack: headers, keywords, lifetimes, and imports by other libraries."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import xpops
from tests.helpers.producers import header_of, ints, name_of
from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.core.layouts import layout_of
from xpops.dispatch import Tensor
from xpops.dlpack.capsules import device_of
from xpops.dlpack.exporting import to_capsule


def cpu(array):
    return xpops.from_dlpack(array)


def address_of(x):
    return x._data.ctypes.data


@pytest.mark.parametrize(
    ("version", "name"),
    [(None, "dltensor"), ((0, 0), "dltensor"), ((0, 8), "dltensor")]
    + [((major, minor), "dltensor_versioned") for major in (1, 2) for minor in (0, 5)],
)
def test_names_and_headers(version, name):
    x = cpu(np.arange(12, dtype=np.int16).reshape(3, 4))[1:, ::2]
    capsule = x.__dlpack__(max_version=version)
    assert name_of(capsule) == name
    managed = header_of(capsule)
    tensor = managed.tensor
    assert (tensor.data, tensor.byte_offset) == (address_of(x), 0)
    assert (tensor.device_type, tensor.device_id) == x.__dlpack_device__() == (1, 0)
    assert (tensor.code, tensor.bits, tensor.lanes) == (0, 16, 1)
    assert ints(tensor.shape, tensor.ndim) == (2, 2)
    assert ints(tensor.strides, tensor.ndim) == (4, 2)
    if "versioned" in name:
        assert (managed.major, managed.flags) == (1, 0)


@pytest.mark.parametrize(
    ("shape", "strides", "spelled"),
    [
        ((2, 3), (3, 1), (3, 1)),
        ((2, 1, 3), (3, 0, 1), (3, 3, 1)),
        ((1,), (9,), (1,)),
        ((3, 1, 2), (1, 0, 3), (1, 2, 3)),
        ((3, 2), (0, 1), (0, 1)),
        ((0, 4), (4, 1), (4, 1)),
        ((4, 0, 2), (0, 0, 0), (0, 2, 1)),
    ],
)
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_strides_are_never_null_and_always_sensible(shape, strides, spelled, version):
    layout = layout_of(dt.float32, shape, strides, CPU)
    block = np.zeros(64, np.float32)
    data = np.lib.stride_tricks.as_strided(block, shape, [4 * step for step in strides]) if layout.size else block[:0]
    tensor = header_of(to_capsule(Tensor(layout, data, block), max_version=version)).tensor
    assert ints(tensor.strides, tensor.ndim) == spelled
    assert ints(tensor.shape, tensor.ndim) == shape
    assert tensor.data == (block.ctypes.data if layout.size else None)


def test_0_d():
    x = cpu(np.array(3.5))
    tensor = header_of(x.__dlpack__(max_version=(1, 0))).tensor
    assert (tensor.ndim, tensor.data) == (0, address_of(x))
    assert np.from_dlpack(x) == 3.5


@pytest.mark.parametrize("dtype", dt.INFO, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_every_dtype(dtype, version):
    layout = layout_of(dtype, (3,), None, CPU)
    x = xpops.Array(layout, np.zeros(3, dtype), None)
    tensor = header_of(x.__dlpack__(max_version=version)).tensor
    assert (tensor.code, tensor.bits) == dt.INFO[dtype].dlpack
    assert xpops.from_dlpack(Other(x)).dtype == dtype


class Other:
    """A foreign object that exports the capsules of an xpops array."""

    def __init__(self, x):
        self.x = x

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **keywords):
        return self.x.__dlpack__(**keywords)


def test_flags_and_copies():
    x = cpu(np.arange(4.0))
    read_only = cpu(np.broadcast_to(np.float64(1), (2,)))
    new = {"max_version": (1, 0)}
    assert header_of(x.__dlpack__(**new)).flags == 0
    assert header_of(x.__dlpack__(**new, copy=False)).flags == 0
    assert header_of(read_only.__dlpack__(**new)).flags == 1
    assert header_of(read_only.__dlpack__(**new, copy=True)).flags == 2
    copied = header_of(x.__dlpack__(**new, copy=True))
    assert copied.flags == 2
    assert copied.tensor.data != address_of(x)
    assert header_of(x.__dlpack__(copy=True)).tensor.data != address_of(x)
    for version in (None, (0, 8)):
        with pytest.raises(BufferError, match=r"the array is read-only and max_version is .*; accepted: \(1, 0\)"):
            read_only.__dlpack__(max_version=version)
    assert name_of(read_only.__dlpack__(copy=True)) == "dltensor"


def test_negative_strides_are_copied_away_unless_forbidden():
    x = cpu(np.arange(4.0))[::-1]
    away = header_of(x.__dlpack__(max_version=(1, 0)))
    assert (ints(away.tensor.strides, 1), away.flags) == ((1,), 2)
    kept = header_of(x.__dlpack__(max_version=(1, 0), copy=False))
    assert (ints(kept.tensor.strides, 1), kept.flags, kept.tensor.data) == ((-1,), 0, address_of(x))
    assert np.array_equal(np.from_dlpack(x), [3, 2, 1, 0])
    assert np.from_dlpack(x, copy=False).ctypes.data == address_of(x)


def test_devices():
    x = cpu(np.arange(4.0))
    assert device_of(x._layout) == (1, 0)
    assert header_of(x.__dlpack__(dl_device=(1, 0), copy=False)).tensor.data == address_of(x)
    for elsewhere in ((2, 0), (1, 1), (10, 0)):
        with pytest.raises(BufferError, match=r"dl_device is .*; accepted: \(1, 0\)"):
            x.__dlpack__(dl_device=elsewhere)


@pytest.mark.parametrize("stream", [0, 1, 2, -1, 12345])
def test_the_cpu_has_no_streams(stream):
    with pytest.raises(ValueError, match="accepted on the CPU: None"):
        cpu(np.arange(4.0)).__dlpack__(stream=stream)


def test_no_cuda_array_interface_on_the_cpu():
    assert not hasattr(cpu(np.arange(4.0)), "__cuda_array_interface__")


class Counted:
    """An owner whose lifetime a test can observe."""


def watched():
    owner = Counted()
    layout = layout_of(dt.float64, (4,), None, CPU)
    return xpops.Array(layout, np.arange(4.0), owner), weakref.ref(owner)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_an_unconsumed_capsule_frees(version):
    x, owner = watched()
    capsule = x.__dlpack__(max_version=version)
    del x
    gc.collect()
    assert owner() is not None
    del capsule
    gc.collect()
    assert owner() is None


def test_a_consumer_keeps_the_memory():
    x, owner = watched()
    y = np.from_dlpack(x)
    x[0] = 7
    del x
    gc.collect()
    assert owner() is not None
    assert y.tolist() == [7, 1, 2, 3]
    del y
    gc.collect()
    assert owner() is None


def test_an_exception_on_its_way_survives_the_destructor():
    # A capsule that is deleted while an exception propagates through the frame that holds it.
    x, owner = watched()
    with pytest.raises(TypeError, match="len"):
        len(x.__dlpack__())
    with pytest.raises(ZeroDivisionError):
        [x.__dlpack__(), 1 / 0]
    del x
    gc.collect()
    assert owner() is None


def test_a_deleter_may_be_called_in_any_thread():
    x, owner = watched()
    held = [np.from_dlpack(x)]
    del x
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert owner() is None


def test_capsules_do_not_leak():
    x = cpu(np.arange(4.0))

    def rounds(count):
        for _ in range(count):
            x.__dlpack__(max_version=(1, 0))
            np.from_dlpack(x)
            xpops.from_dlpack(Other(x))
        gc.collect()

    rounds(100)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    rounds(20_000)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 100_000


@pytest.mark.parametrize(
    "holder", ["np.from_dlpack(x)", "x.__dlpack__()", "xp.from_dlpack(Other())", "torch.from_dlpack(x)"]
)
def test_an_interpreter_exits_cleanly_with_live_exports(holder):
    if "torch" in holder:
        pytest.importorskip("torch")
    code = f"""
        import sys
        {"import torch" if "torch" in holder else ""}
        import numpy as np
        import xpops as xp
        class Other:
            __dlpack_device__ = lambda self: (1, 0)
            __dlpack__ = lambda self, **keywords: x.__dlpack__(**keywords)
        x = xp.from_dlpack(np.arange(4.0))
        held = sys.held = {holder}
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# What other libraries make of it -------------------------------------------------------------------------------------

VIEWS = {
    "whole": lambda a: a,
    "transposed": lambda a: a.T,
    "offset": lambda a: a[1:, 2:],
    "stepped": lambda a: a[::2, ::3],
    "reversed": lambda a: a[::-1, ::-2],
    "row": lambda a: a[1:2],
    "scalar": lambda a: a[1, 1, ...],
    "empty": lambda a: a[3:],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "uint16"])
def test_numpy_and_back(view, dtype):
    array = (np.arange(12).reshape(3, 4) % 5).astype(dtype)
    x, want = VIEWS[view](cpu(array)), VIEWS[view](array)
    out = np.from_dlpack(x)
    assert out.dtype == want.dtype
    assert np.array_equal(out, want)
    assert np.array_equal(np.asarray(xpops.from_dlpack(out)), want)
    if view not in ("reversed", "empty"):
        assert out.ctypes.data == want.ctypes.data
        assert out.flags.writeable


@pytest.mark.parametrize("view", VIEWS)
def test_torch_and_back(view, device):
    torch = pytest.importorskip("torch")
    if device != CPU and not torch.cuda.is_available():
        pytest.skip("torch has no CUDA")
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    x, want = VIEWS[view](xpops.asarray(array, device=device)), VIEWS[view](array)
    out = torch.from_dlpack(x)
    assert np.array_equal(out.cpu().numpy(), want)
    back = xpops.from_dlpack(out)
    assert back.device == device
    assert np.array_equal(back.to_numpy(), want)
    if view not in ("reversed", "empty"):
        out.fill_(9)
        assert (x.to_numpy() == 9).all()


@pytest.mark.parametrize("view", VIEWS)
def test_jax_and_back(view, device):
    jax = pytest.importorskip("jax")
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    x, want = VIEWS[view](xpops.asarray(array, device=device)), VIEWS[view](array)
    if view in ("offset", "stepped"):
        with pytest.raises(jax.errors.JaxRuntimeError, match="striding"):
            jax.dlpack.from_dlpack(x)
        return
    out = jax.dlpack.from_dlpack(x)
    assert np.array_equal(np.asarray(out), want)
    assert np.array_equal(xpops.from_dlpack(out).to_numpy(), want)


def test_jax_reads_a_read_only_array_as_an_error_and_not_as_a_crash():
    jax = pytest.importorskip("jax")
    with pytest.raises(BufferError, match="read-only"):
        jax.dlpack.from_dlpack(cpu(np.broadcast_to(np.float32(1), (3,))))
