"""A repeated call gives the same result as a first call, also for parameters that are equal but differ in type."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.core.devices import Device
from xpops.dispatch import primitives

# All are equal in Python. NumPy accepts the first two as an axis.
AXES = (1, np.int64(1), 1.0, True, np.float64(1), np.bool_(True))
PAIRS = ((0, 1), (np.int64(0), 1), (0.0, 1), (False, True), (0, 1.0))

OF_AXIS: dict[str, Callable[..., Any]] = {
    "sum": lambda ns, x, axis: ns.sum(x, axis=axis),
    "max": lambda ns, x, axis: ns.max(x, axis=axis),
    "std": lambda ns, x, axis: ns.std(x, axis=axis),
    "argmin": lambda ns, x, axis: ns.argmin(x, axis=axis),
    "cumulative_sum": lambda ns, x, axis: ns.cumulative_sum(x, axis=axis),
    "sort": lambda ns, x, axis: ns.sort(x, axis=axis),
    "take": lambda ns, x, axis: ns.take(x, ns.asarray([1, 0]), axis=axis),
    "concat": lambda ns, x, axis: ns.concat([x, x], axis=axis),
    "stack": lambda ns, x, axis: ns.stack([x, x], axis=axis),
    "repeat": lambda ns, x, axis: ns.repeat(x, 2, axis=axis),
    "roll": lambda ns, x, axis: ns.roll(x, 1, axis=axis),
    "diff": lambda ns, x, axis: ns.diff(x, axis=axis),
    "flip": lambda ns, x, axis: ns.flip(x, axis=axis),
    "expand_dims": lambda ns, x, axis: ns.expand_dims(x, axis=axis),
    "fft": lambda ns, x, axis: ns.fft.fft(x, axis=axis),
}
OF_AXES: dict[str, Callable[..., Any]] = {
    "sum": lambda ns, x, axes: ns.sum(x, axis=axes),
    "any": lambda ns, x, axes: ns.any(x, axis=axes),
    "mean": lambda ns, x, axes: ns.mean(x, axis=axes),
    "permute_dims": lambda ns, x, axes: ns.permute_dims(x, axes),
    "roll": lambda ns, x, axes: ns.roll(x, (1, 1), axis=axes),
    "fftn": lambda ns, x, axes: ns.fft.fftn(x, axes=axes),
}


def kind_of(call: Callable[..., Any], x: Any, value: Any) -> type:
    """Array, or the error that the call raises."""
    try:
        return type(call(xp, x, value))
    except (TypeError, ValueError, IndexError) as error:
        return type(error)


@pytest.fixture(autouse=True)
def default_device(device: Device) -> Iterator[None]:
    """Index arrays on the device of the others."""
    xp.set_default_device(device)
    yield
    xp.set_default_device(None)


def of_shape(device: Device, rows: int) -> Any:
    """An array of a shape that no other test uses, so that its first call is not in a cache."""
    return xp.asarray(np.arange(rows * 5.0).reshape(rows, 5) % 7, device=device)


@pytest.mark.parametrize(("calls", "values"), [(OF_AXIS, AXES), (OF_AXES, PAIRS)], ids=["axis", "axes"])
def test_equal_parameters_of_other_types(
    device: Device, calls: dict[str, Callable[..., Any]], values: tuple[Any, ...]
) -> None:
    """In any order, each value gives the same result as alone, three times."""
    rows = itertools.count(300)
    for name, call in calls.items():
        alone = [kind_of(call, of_shape(device, next(rows)), value) for value in values]
        for first, kind in zip(values, alone, strict=True):
            x = of_shape(device, next(rows))
            assert kind_of(call, x, first) is kind
            for value, expected in zip(values, alone, strict=True):
                for _ in range(3):
                    assert kind_of(call, x, value) is expected, (name, first, value)
            np.testing.assert_allclose(call(xp, x, values[0]).to_numpy(), call(np, x.to_numpy(), values[0]), atol=1e-9)


def test_a_float_is_no_axis_after_an_integer_was(device: Device) -> None:
    x = xp.asarray(np.ones((3, 4, 5)), device=device)
    for _ in range(3):
        assert xp.sum(x, axis=1).shape == (3, 5)
        with pytest.raises(TypeError, match="sum: axis"):
            xp.sum(x, axis=1.0)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="sum: axis is True; accepted: an integer"):
            xp.sum(x, axis=True)
        with pytest.raises(TypeError):
            xp.sum(x, axis=(0, 1.0))
        assert xp.sum(x, axis=(0, 1)).shape == (5,)


@xp.fuse
def fused(x: Any, number: Any) -> Any:
    return x * number + x


SCALARS = (1, 1.0, True, np.int32(1), np.float32(1), np.float64(1), np.bool_(True), 1 + 0j)
OF_SCALAR: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, number: x + number,
    "reflected": lambda x, number: number * x,
    "function": lambda x, number: xp.add(x, number),
    "maximum": lambda x, number: xp.maximum(x, number),
    "where": lambda x, number: xp.where(x > 0, x, number),
    "clip": lambda x, number: xp.clip(x, 0, number),
    "fuse": fused,
}


@pytest.mark.parametrize("dtype", [xp.bool, xp.uint8, xp.int64, xp.float32, xp.float64], ids=str)
@pytest.mark.parametrize("name", OF_SCALAR)
def test_equal_scalars_of_other_types(name: str, dtype: Any, device: Device) -> None:
    """The dtype of a result, or the error, follows from the type of the scalar, whichever type came before."""
    lengths = itertools.count(20)

    def outcome(length: int, number: Any) -> Any:
        x = xp.astype(xp.arange(length, device=device) % 2, dtype)
        try:
            result = OF_SCALAR[name](x, number)
        except (TypeError, OverflowError) as error:
            return type(error)
        return result.dtype, result.tolist()[:20]

    alone = [outcome(next(lengths), number) for number in SCALARS]
    for first, expected in zip(SCALARS, alone, strict=True):
        length = next(lengths)
        assert outcome(length, first) == expected
        for number, wanted in zip(SCALARS, alone, strict=True):
            for _ in range(3):
                assert outcome(length, number) == wanted, (first, number)


class Size(tuple[int, ...]):
    """Like torch.Size."""


@pytest.mark.parametrize("axes", [(0, 1), [0, 1], Size((0, 1)), np.asarray([0, 1]).tolist()], ids=repr)
def test_axes_of_any_kind_have_a_steady_state(axes: Any, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    x = xp.asarray(np.ones((3, 4, 5)), device=device)
    for _ in range(2):
        assert xp.sum(x, axis=axes).tolist() == [12.0] * 5

    def refuse(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("the long way")

    monkeypatch.setattr(primitives, "_first_call", refuse)
    assert xp.sum(x, axis=axes).tolist() == [12.0] * 5


OF_SEVERAL: dict[str, Callable[[Any, Any], Any]] = {
    "concat": lambda x, y: xp.concat([x, y]),
    "stack": lambda x, y: xp.stack([x, y], axis=1),
    "matmul": lambda x, y: xp.matmul(x, y),
    "vecdot": lambda x, y: xp.vecdot(x, y),
    "searchsorted": lambda x, y: xp.searchsorted(x[0], y),
    "take_along_axis": lambda x, y: xp.take_along_axis(x, xp.astype(y, xp.int64), axis=1),
}


@pytest.mark.parametrize("name", OF_SEVERAL)
def test_calls_on_several_have_a_steady_state(name: str, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    call = OF_SEVERAL[name]
    x, y = (xp.asarray(np.arange(9.0).reshape(3, 3) % 3, device=device) for _ in range(2))
    call(x, y)
    expected = call(x, y).tolist()

    def refuse(*arguments: Any, **named: Any) -> Any:
        raise AssertionError("the long way")

    monkeypatch.setattr(primitives, "_first_call", refuse)
    assert call(x, y).tolist() == expected
