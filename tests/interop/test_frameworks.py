"""Arrays of other frameworks as operands: the type of the result, errors, and the lifetime of memory."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import ml_dtypes
import numpy as np
import pytest

import xpops
from tests.helpers.producers import Producer
from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.core.layouts import layout_of
from xpops.dispatch import binary, elementwise, unary
from xpops.frameworks.registry import adapter_of
from xpops.ops.elementwise import OPERATORS

ADD, NEGATIVE, IDENTITY = OPERATORS["add"], OPERATORS["negative"], OPERATORS["identity"]
# The dtypes of ml_dtypes, which some libraries lack.
NARROW = (dt.bfloat16, *dt.FLOAT8)
FRAMEWORKS = ("numpy", "torch", "cupy", "jax", "xpops")


def made(framework, array, device):
    """An array of a framework with the elements of an ndarray. Skips if the framework or its device is missing."""
    if framework == "xpops":
        return xpops.asarray(array, device=device)
    if framework == "numpy" and device == CPU:
        return array
    if framework == "torch":
        torch = pytest.importorskip("torch")
        if device == CPU or torch.cuda.is_available():
            return torch.from_numpy(np.ascontiguousarray(array)).to(device)
    if framework == "cupy" and device != CPU:
        cupy = pytest.importorskip("cupy")
        with cupy.cuda.Device(device.index):
            return cupy.asarray(array)
    if framework == "jax":
        jax = pytest.importorskip("jax")
        try:
            places = jax.devices("cpu" if device == CPU else "gpu")
        except RuntimeError:
            pytest.skip(f"jax has nothing on {device}")
        return jax.device_put(array, places[device.index])
    return pytest.skip(f"{framework} has nothing on {device}")


def host(x):
    if isinstance(x, xpops.Array):
        return x.to_numpy()
    if type(x).__module__.startswith("cupy"):
        return x.get()
    return x.cpu().numpy() if hasattr(x, "cpu") else np.asarray(x)


@pytest.mark.parametrize("first", FRAMEWORKS)
@pytest.mark.parametrize("second", FRAMEWORKS)
def test_whose_the_result_is(first, second, device):
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones(3, np.float32)
    x, y = made(first, a, device), made(second, b, device)
    result = binary(ADD, x, y)
    assert type(result) is (type(x) if first == second else xpops.Array)
    assert np.array_equal(host(result), a + b)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_scalars_keep_the_framework(framework, device):
    x = made(framework, np.arange(3, dtype=np.float32), device)
    for result in (binary(ADD, x, 1), binary(ADD, 1.0, x), binary(ADD, x, np.float64(1)), unary(NEGATIVE, x)):
        assert type(result) is type(x)
        assert host(result).dtype == np.float32


@pytest.mark.parametrize("framework", [name for name in FRAMEWORKS if name != "jax"])
def test_out_is_written_in_place(framework, device):
    x = made(framework, np.arange(3, dtype=np.float32), device)
    out = made(framework, np.zeros(3, np.float32), device)
    assert binary(ADD, x, 1, out) is out
    assert host(out).tolist() == [1, 2, 3]


def test_jax_arrays_are_never_written(device):
    x = made("jax", np.arange(3, dtype=np.float32), device)
    with pytest.raises(ValueError, match="out is read-only"):
        binary(ADD, x, 1, x)
    y = xpops.from_dlpack(x) if device == CPU else xpops.asarray(x)
    assert np.asarray(x).tolist() == [0, 1, 2]
    assert float(y[1]) == 1
    z = xpops.asarray(x, device=device)
    with pytest.raises(ValueError, match="read-only"):
        z[0] = 5
    if device == CPU:
        assert not np.asarray(z).flags.writeable


@pytest.mark.parametrize("framework", ["torch", "cupy", "jax", "numpy"])
@pytest.mark.parametrize("dtype", dt.INFO, ids=lambda dtype: dtype.name)
def test_every_dtype_there_and_back(framework, dtype, device):
    source = np.array([[0, 1], [2, 3]]).astype(dtype)
    if framework == "jax":
        jax = pytest.importorskip("jax")
        with jax.enable_x64(True):
            x = made(framework, source, device)
            result = elementwise(IDENTITY, (x,), None, dtype)
    elif framework == "torch":
        torch = pytest.importorskip("torch")
        x = made(framework, source.view(f"i{dtype.itemsize}") if dtype in NARROW else source, device)
        x = x.view(getattr(torch, dtype.name))
        result = elementwise(IDENTITY, (x,), None, dtype)
    else:
        if framework == "cupy" and dtype in NARROW:
            pytest.skip("cupy has no such dtype")
        x = made(framework, source, device)
        result = elementwise(IDENTITY, (x,), None, dtype)
    view = adapter_of(type(x)).view(x, "f", "x", lambda device: 0)
    assert view.layout.dtype == dtype
    assert type(result) is type(x)
    if device == CPU:
        assert view.data.tobytes() == source.tobytes()


@pytest.mark.parametrize("framework", ["torch", "cupy", "numpy"])
def test_results_keep_the_order_of_axes(framework, device):
    x = made(framework, np.arange(24, dtype=np.float32).reshape(2, 3, 4), device)
    x = x.permute(2, 0, 1) if framework == "torch" else x.transpose(2, 0, 1)
    result = unary(NEGATIVE, x)
    assert np.array_equal(host(result), -host(x))
    steps = result.stride() if framework == "torch" else tuple(step // 4 for step in result.strides)
    assert steps == (1, 12, 4)


def test_a_framework_is_recognised_by_its_types_only():
    assert adapter_of(np.ndarray).name == "numpy"
    assert adapter_of(np.memmap).name == "numpy"
    assert adapter_of(Producer).name == "dlpack"
    for cls in (list, str, np.dtype, np.random.Generator, type):
        assert adapter_of(cls) is None
    torch = pytest.importorskip("torch")
    assert adapter_of(torch.nn.Parameter).name == "torch"
    for cls in (torch.Size, torch.dtype, torch.nn.Linear):
        assert adapter_of(cls) is None


def test_no_framework_is_imported_unasked():
    code = (
        "import sys, numpy as np, xpops as xp; xp.add(np.ones(2), np.ones(2)); xp.from_dlpack(np.ones(2)); "
        "print([name for name in ('torch', 'jax', 'jaxlib', 'cupy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_producer_of_no_framework():
    x = Producer(np.arange(3.0))
    result = binary(ADD, x, x)
    assert type(result) is xpops.Array
    assert result.to_numpy().tolist() == [0, 2, 4]
    gc.collect()
    assert x.deleted == len(x.calls) == 2


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_memory_lives_as_long_as_an_array_on_it(framework, device):
    x = made(framework, np.arange(1000, dtype=np.float32), device)
    y = xpops.asarray(x, device=device)[500:]
    del x
    gc.collect()
    filler = [np.full(1000, 7, np.float32) for _ in range(100)]
    assert float(y[0]) == 500
    del filler


def test_an_ndarray_is_let_go():
    class Watched(np.ndarray):
        pass

    x = np.arange(4.0).view(Watched)
    watch = weakref.ref(x)
    y = xpops.from_dlpack(x)
    del x
    gc.collect()
    assert watch() is not None
    del y
    gc.collect()
    assert watch() is None


# NumPy ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.arange(3, dtype=">f4"), "has dtype >f4; accepted: native byte order"),
        (np.zeros(3, [("a", "f4"), ("b", "i2")])["a"], "has strides of .6,. bytes; accepted: multiples of 4"),
        (np.array([None, 1]), "has dtype object; accepted: bool"),
        (np.zeros(2, [("a", "f4")]), "has dtype .*; accepted: bool"),
        (np.zeros(2, np.longdouble), "has dtype .*; accepted: bool"),
        (np.zeros(2, "M8[s]"), r"has dtype datetime64\[s\]; accepted: bool"),
        (np.array(["text"]), "has dtype <U4; accepted: bool"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), r"is a numpy.MaskedArray, .*; accepted: .* x1\.filled\(\)"),
    ],
    ids=lambda value: getattr(value, "dtype", None) and str(value.dtype),
)
def test_ndarrays_that_are_refused(array, words):
    with pytest.raises(TypeError, match=f"add: x1 {words}"):
        binary(ADD, array, 1)


def test_ndarrays_of_every_sort():
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="add: out is read-only"):
        binary(ADD, np.ones(3), 1, read_only)
    assert binary(ADD, read_only[::-1], 0).tolist() == [2, 1, 0]
    assert type(binary(ADD, np.ones(2).view(np.recarray), 1)) is np.ndarray
    assert binary(ADD, np.array(1.0), 1).shape == ()
    assert binary(ADD, np.ones(2, ml_dtypes.bfloat16), 1).dtype == ml_dtypes.bfloat16
    misaligned = np.frombuffer(bytes(9), np.uint8)[1:].view(np.float32)
    assert binary(ADD, misaligned, 1).tolist() == [1, 1]


def test_ndarrays_are_made_aligned():
    for size in (1, 7, 1000):
        data, made_array = adapter_of(np.ndarray).allocator(layout_of(dt.float32, (size,), None, CPU))(0)
        assert made_array is data
        assert data.ctypes.data % 64 == 0


# Torch ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def test_a_tensor_that_requires_grad(torch):
    x = torch.ones(3, requires_grad=True)
    for leaf in (x, torch.nn.Parameter(torch.ones(3)), x * 2):
        assert binary(ADD, leaf, 1).requires_grad
        with torch.no_grad():
            assert binary(ADD, leaf, 1)[0] == leaf[0] + 1
        assert binary(ADD, leaf.detach(), 1)[0] == leaf[0] + 1
    with torch.inference_mode():
        assert binary(ADD, x, 1)[0] == 2


def test_lazy_conjugates_and_negatives(torch):
    x = torch.tensor([1 + 2j, 3 - 4j])
    for lazy in (x.conj(), x.conj().imag, torch._neg_view(x.real)):
        assert lazy.is_conj() or lazy.is_neg()
        assert torch.equal(binary(ADD, lazy, 0), lazy.resolve_conj().resolve_neg())
        with pytest.raises(ValueError, match="out is read-only"):
            binary(ADD, lazy, 0, lazy)


def test_tensors_without_memory_of_their_own(torch):
    cases = [
        (torch.ones(3, device="meta"), "x1 is on torch device meta; accepted: cpu and cuda"),
        (torch.eye(3).to_sparse(), "x1 is a torch.sparse_coo tensor; accepted: a dense one"),
        (torch.eye(3).to_mkldnn(), "x1 is a torch._mkldnn tensor; accepted: a dense one"),
        (torch.ones(3).to(torch.float8_e4m3fnuz), "x1 has dtype torch.float8_e4m3fnuz; accepted: torch.bool"),
    ]
    for x, words in cases:
        with pytest.raises(TypeError, match=f"add: {words}"):
            binary(ADD, x, 1)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors(torch):
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    with pytest.raises(TypeError, match="add: x1 is a nested tensor"):
        binary(ADD, nested, 1)


def test_tensors_under_transforms(torch):
    found = torch.func.vmap(lambda row: binary(ADD, row, 1))(torch.ones(2, 3))
    assert found.tolist() == [[2, 2, 2], [2, 2, 2]]


def test_tensors_of_every_sort(torch, device):
    if device != CPU and not torch.cuda.is_available():
        pytest.skip("torch has no CUDA")
    base = torch.arange(24, dtype=torch.float32, device=device).reshape(2, 3, 4)
    for x in (base[:, 1:, ::2], base.mT, base.expand(5, 2, 3, 4), base[:0], base[0, 0, 0], base[:, :1], base.float()):
        result = binary(ADD, x, 1)
        assert torch.equal(result, x + 1)
        assert result.device == x.device
    x = torch.zeros(6, device=device)
    binary(ADD, torch.ones(3, device=device), 1, x[::2])
    assert x.tolist() == [2, 0, 2, 0, 2, 0]
    with pytest.raises(ValueError, match="out may have several elements at one address"):
        binary(ADD, torch.ones(3, device=device), 1, torch.zeros(1, device=device).expand(3))


def test_allocate_spells_strides_as_torch_does(torch, device):
    if device != CPU and not torch.cuda.is_available():
        pytest.skip("torch has no CUDA")
    adapter = adapter_of(torch.Tensor)
    for shape, strides in (
        ((2, 3), (3, 1)),
        ((2, 1, 3), (3, 0, 1)),
        ((3, 2), (1, 3)),
        ((3, 1, 2), (1, 0, 3)),
        ((0, 2), (0, 0)),
    ):
        layout = layout_of(dt.float16, shape, strides, device)
        _, tensor = adapter.allocator(layout)(0)
        assert (tensor.dtype, tuple(tensor.shape)) == (torch.float16, shape)
        assert adapter.view(tensor, "f", "x", adapter.current_stream).layout is layout
        assert tensor.is_contiguous() is layout.contiguous


# JAX -----------------------------------------------------------------------------------------------------------------


def test_jax_tracers():
    jax = pytest.importorskip("jax")
    assert jax.jit(lambda x: binary(ADD, x, 1))(jax.numpy.ones(3)).tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match="add: x1 is a JAX tracer, whose values are not known; accepted in a traced"):
        jax.jit(lambda x: binary(ADD, x, np.ones(3)))(jax.numpy.ones(3))


def test_dtypes_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for dtype in xpops.__array_namespace_info__().dtypes().values():
        assert xpops.zeros(1, dtype=getattr(torch, dtype.name)).dtype == dtype
    x = torch.ones(2)
    assert xpops.astype(x, torch.bfloat16).dtype == torch.bfloat16
    assert xpops.sum(x, dtype=torch.float64).dtype == torch.float64
    assert xpops.result_type(x.dtype, xpops.float64) == xpops.float64
    with pytest.raises(TypeError, match=r"zeros: dtype torch\.complex32 is not supported; accepted: bool, int8"):
        xpops.zeros(1, dtype=torch.complex32)


def test_torch_is_asked_for_captures_only_where_it_has_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """xpops uses a GPU, but torch does not: it is built for the CPU, or the driver is too old for it."""
    torch = pytest.importorskip("torch")
    from xpops.engine.cuda.runtime import streams
    from xpops.frameworks import registry

    monkeypatch.setattr(streams, "framework_stream", registry._await_torch)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    current = streams.current(0)
    for _ in range(3):
        assert current() == streams.LEGACY_DEFAULT
    assert streams.framework_stream is streams.no_framework
