"""Arrays on the memory of other libraries' arrays: those like an earlier one are made without another examination."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.fake_cuda import FAKE, pretend
from xpops.core import dtypes as dt
from xpops.core.devices import CPU
from xpops.core.layouts import layout_of
from xpops.dispatch import steady
from xpops.dispatch.ownership import view_borrowed
from xpops.dispatch.steady import known_array
from xpops.frameworks.adapter import Adapter, Known, View, known_layout

torch: Any = pytest.importorskip("torch")
OURS, THEIRS = 9, 5

TAKES: dict[str, Any] = {
    "asarray": xp.asarray,
    "from_dlpack": xp.from_dlpack,
    "broadcast_arrays": lambda x: xp.broadcast_arrays(x, x)[0],
    "meshgrid": lambda x: xp.meshgrid(x.reshape(-1) if x.is_contiguous() else x[0], indexing="ij")[0],
}


@pytest.fixture
def viewed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The tensors that the adapter has viewed."""
    adapter = import_module("xpops.frameworks.torch").ADAPTER
    found: list[Any] = []
    view = adapter.view

    def count(x: Any, *rest: Any) -> View:
        found.append(x)
        return view(x, *rest)

    monkeypatch.setattr(type(adapter), "view", lambda self, *given: count(*given))
    return found


@pytest.mark.parametrize("take", TAKES.values(), ids=TAKES)
def test_a_tensor_like_an_earlier_one_is_not_examined(take: Any, viewed: list[Any]) -> None:
    take(torch.zeros(7, 3))
    viewed.clear()
    x = torch.arange(21.0).reshape(7, 3)
    found = take(x)
    assert viewed == []
    assert np.shares_memory(found.to_numpy(), x.numpy())
    assert np.array_equal(found.to_numpy().ravel(), np.arange(21.0))


def tensors() -> dict[str, Any]:
    base, z = torch.arange(24.0).reshape(4, 6), torch.tensor([[1 + 2j, -3j], [4, 5 - 1j]])
    return {
        "plain": base,
        "transposed": base.T,
        "steps": base[:, ::2],
        "shifted": base[:, 1:5],
        "other shape": base.reshape(6, 4),
        "integer": base.to(torch.int32),
        "half": base.to(torch.bfloat16),
        "broadcast": base[:1].expand(4, 6),
        "empty": base[:0],
        "single": base[:1],
        "no axes": base[0, 0],
        "complex": z,
        "conjugate": z.conj(),
        "negative": z.conj().imag,
        "part": z.imag,
        "leaf": base.clone().requires_grad_(),
        "parameter": torch.nn.Parameter(base.clone()),
        "frozen": torch.nn.Parameter(base.clone(), requires_grad=False),
        "inference": torch.inference_mode()(torch.ones)(4, 6),
        "sparse": base.to_sparse(),
        **{f"{count} axes": base.reshape((1,) * count + (4, 6)) for count in range(1, 12)},
    }


def outcome(take: Any, x: Any) -> Any:
    """What a call returns, or raises."""
    try:
        found = take(x)
    except Exception as error:
        return type(error), str(error)
    return found.dtype, found.shape, found._layout, found._writable, np.array(found.to_numpy(), copy=True).tobytes()


@pytest.mark.parametrize("take", [xp.asarray, xp.from_dlpack, lambda x: xp.broadcast_arrays(x, 0 * xp.ones(()))[0]])
def test_every_kind_of_tensor_is_taken_as_at_first(take: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for guard in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with guard(), monkeypatch.context() as forgetful:
            for module in ("xpops.arrays.array", "xpops.api.creation.conversion"):
                forgetful.setattr(f"{module}.known_array", lambda x: x if isinstance(x, xp.Array) else None)
            expected = {name: outcome(take, x) for name, x in tensors().items()}
        for _ in range(2):
            with guard():
                assert {name: outcome(take, x) for name, x in tensors().items()} == expected


def test_the_array_keeps_the_tensor_and_shares_its_memory() -> None:
    for _ in range(3):
        x = torch.zeros(5)
        array, gone = xp.asarray(x), weakref.ref(x)
        array += 1
        assert x.tolist() == [1.0] * 5
        del x
        assert gone() is not None
        del array
        assert gone() is None


def test_read_only_ndarrays_stay_read_only() -> None:
    for flag in (True, False, True, False):
        x = np.zeros(3)
        x.flags.writeable = flag
        assert [found._writable for found in xp.broadcast_arrays(x, x)] == [flag] * 2
        assert xp.asarray(x, device="cpu")._writable is flag
        assert xp.from_dlpack(x)._writable is flag


def test_an_ndarray_is_copied_to_the_default_device_after_it_was_borrowed() -> None:
    x = np.zeros(3)
    for _ in range(2):
        xp.broadcast_arrays(x, x)
        assert not np.shares_memory(xp.asarray(x, copy=True).to_numpy(), x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xpops.api.creation.conversion.device_or_default", lambda device, function: FAKE)
        pretend(patch)
        assert xp.asarray(x).device == FAKE
        assert xp.asarray(x.view(np.recarray)).device == FAKE


def test_result_type_of_tensors() -> None:
    x, y, z = torch.zeros(3), torch.zeros(2, dtype=torch.float64), torch.zeros(2, dtype=torch.int8)
    for _ in range(3):
        assert (xp.result_type(x, y), xp.result_type(y, x), xp.result_type(x, x)) == (
            dt.float64,
            dt.float64,
            dt.float32,
        )
        assert (xp.result_type(z, 1), xp.result_type(x, 1), xp.result_type(x, 1j)) == (
            dt.int8,
            dt.float32,
            dt.complex64,
        )
        assert xp.result_type(x.clone().requires_grad_(), y) == dt.float64
        with pytest.raises(TypeError, match="float8"):
            xp.result_type(z.to(torch.float8_e5m2), x)
        with pytest.raises(TypeError, match="no argument is an array"):
            xp.result_type(1, 2.0)


def test_more_kinds_of_tensors_than_the_core_keeps() -> None:
    for _ in range(2):
        for rows in range(1, 70):
            for columns in range(1, 70):
                x = torch.empty(rows, columns)
                assert xp.asarray(x).shape == (rows, columns)
                assert xp.result_type(x.T, x) == dt.float32


def test_empty_like() -> None:
    base = np.zeros((4, 6), np.int16)
    for _ in range(3):
        for x in (base, base.T, torch.zeros(2, 3), torch.zeros(3, 2).T, torch.zeros(2, 3, dtype=torch.float64)):
            found = xp.empty_like(x)
            assert (found.shape, str(found.dtype)) == (tuple(x.shape), str(x.dtype).removeprefix("torch."))
            assert found._layout.contiguous
            found[...] = 1
            assert not x.any()
        assert xp.empty_like(torch.zeros(2, requires_grad=True)).shape == (2,)
        with pytest.raises(TypeError, match="empty_like: x is a float"):
            xp.empty_like(2.5)


def test_transposes_of_tensors() -> None:
    for _ in range(2):
        for shape in ((2, 3), (4, 2, 3), (1, 2, 4, 3), (2, 2)):
            x = torch.arange(float(np.prod(shape))).reshape(shape)
            last = (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2)
            for order in (last, tuple(range(len(shape))), tuple(reversed(range(len(shape))))):
                assert torch.equal(xp.permute_dims(x, order), x.permute(order))
                assert xp.permute_dims(x, order).data_ptr() == x.data_ptr()
            assert torch.equal(xp.matrix_transpose(x), x.mT)
            assert torch.equal(xp.moveaxis(x, 0, -1), x.movedim(0, -1))
        with pytest.raises(ValueError, match="two axes"):
            xp.matrix_transpose(torch.zeros(3))


def test_grids_of_other_shapes_and_orders() -> None:
    for _ in range(2):
        for lengths in ((2, 3), (3, 2), (2,), (1, 2, 3), ()):
            for indexing in ("ij", "xy"):
                vectors = [torch.arange(length) for length in lengths]
                expected = np.meshgrid(*[x.numpy() for x in vectors], indexing=indexing)
                found = xp.meshgrid(*vectors, indexing=indexing)
                assert [each.to_numpy().tolist() for each in found] == [each.tolist() for each in expected]
        with pytest.raises(ValueError, match=r"meshgrid: arrays\[1\] has shape \(2, 2\)"):
            xp.meshgrid(torch.zeros(2), torch.zeros(2, 2))


class Lender(Adapter):
    """A framework with memory on a pretended GPU, whose arrays are numbers: their addresses."""

    name = "lender"

    def __init__(self, stream: int) -> None:
        self.stream = stream
        self.layout = layout_of(dt.float64, (2,), None, FAKE)
        self.views_made = 0

    def is_array_type(self, cls: type) -> bool:
        return cls is Place

    def view(self, x: Any, function: str, argument: str, stream: Any) -> View:
        self.views_made += 1
        return View(self.layout, x.address, x, True)

    def current_stream(self, device: Any) -> int:
        return self.stream

    def learn(self, x: Any, layout: Any) -> Known | None:
        return known_layout(self, layout)

    def read(self, x: Any) -> tuple[Known | None, Any]:
        return known_layout(self, self.layout), x.address


class AskedLender(Lender):
    """It says itself whether arrays are writable, so that the compiled core does not make them."""

    def view(self, *given: Any) -> View:
        return super().view(*given)._replace(writable=False)

    def is_writable(self, x: Any) -> bool:
        return False


class Place:
    def __init__(self, address: int) -> None:
        self.address = address


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    gpu = pretend(monkeypatch)
    gpu.stream = OURS
    yield gpu
    steady.readers.pop(Place, None)


@pytest.mark.parametrize("kind", [Lender, AskedLender])
def test_streams_wait_for_each_other(gpu: Any, kind: type[Lender]) -> None:
    lender = kind(THEIRS)
    view_borrowed(Place(64), lender, "f", "x")
    gpu.orders.clear()
    place = Place(128)
    gone = weakref.ref(place)
    found = known_array(place)
    assert (found._data, found._layout, found._writable) == (128, lender.layout, kind is Lender)
    assert (gpu.orders, lender.views_made) == ([(THEIRS, OURS)], 1)
    del place
    assert gone() is not None
    del found
    assert gpu.orders == [(THEIRS, OURS), (OURS, THEIRS)]
    assert gone() is None


def test_a_lender_that_does_not_know_what_is_read_only_is_asked_each_time(gpu: Any) -> None:
    class Strict(Lender):
        def view(self, *given: Any) -> View:
            return super().view(*given)._replace(writable=False)

    lender = Strict(THEIRS)
    for count in (1, 2):
        assert not view_borrowed(Place(64), lender, "f", "x").writable
        assert (known_array(Place(64)), lender.views_made) == (None, count)


@pytest.mark.parametrize("kind", [Lender, AskedLender])
def test_one_stream_needs_no_order(gpu: Any, kind: type[Lender]) -> None:
    lender = kind(OURS)
    view_borrowed(Place(64), lender, "f", "x")
    found = known_array(Place(128))
    del found
    assert gpu.orders == []
    found = known_array(Place(128))
    gpu.stream = 3
    del found
    assert gpu.orders == [(3, OURS)]


def test_a_cycle_through_a_loan_is_freed(gpu: Any) -> None:
    view_borrowed(Place(64), Lender(THEIRS), "f", "x")
    place: Any = Place(128)
    place.array, gone = known_array(place), weakref.ref(place)
    gpu.orders.clear()
    del place
    gc.collect()
    assert gone() is None
    assert gpu.orders == [(OURS, THEIRS)]


def test_jax_memory_outlives_a_deleted_array() -> None:
    jnp = pytest.importorskip("jax.numpy")
    make = partial(jnp.arange, 5.0)
    for _ in range(3):
        x = make()
        if x.device.platform != "cpu":
            pytest.skip("JAX is on a GPU")
        found = xp.asarray(x)
        assert not found._writable
        x.delete()
        assert found.device == CPU
        assert found.to_numpy().tolist() == [0, 1, 2, 3, 4]
        with pytest.raises(ValueError, match="deleted"):
            xp.asarray(x)
