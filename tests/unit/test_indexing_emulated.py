"""Indexing by arrays through the public functions, on the emulated GPU."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import xpops as xp
import xpops.engine
from tests.helpers.emulator import EmulatedEngine
from tests.helpers.oracle import assert_same
from xpops.core.devices import Device

# Another device, because plans for a device are cached until the process ends.
GPU = Device("cuda:9")
ENGINE = EmulatedEngine(device=GPU)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install the emulated GPU in every module that looks up engines."""
    real, there = xpops.engine.engine_of, xpops.engine.devices

    def engine_of(device: Device) -> Any:
        return ENGINE if device == GPU else real(device)

    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "xpops":
            if getattr(module, "engine_of", None) is real:
                monkeypatch.setattr(module, "engine_of", engine_of)
            if getattr(module, "devices", None) is there:
                monkeypatch.setattr(module, "devices", lambda: (*there(), GPU))
    return GPU


HOST = np.arange(120.0).reshape(4, 5, 6)
MASK = HOST[:, :, 0] % 4 == 0
KEYS = {
    "one": ([2, 0, -1],),
    "array": (np.array([[1, 2], [-3, 0]], np.int8),),
    "middle": (slice(None), np.array([4, 4, 0])),
    "apart": (np.array([1, 2]), slice(1, 4), np.array([[0], [-1]])),
    "together": (slice(None, None, -1), np.array([1, 2]), np.array([0, 5])),
    "with an integer": (1, slice(None), np.array([3, 3])),
    "0-d": (np.array(1), slice(None), 2),
    "mask": (MASK,),
    "mask and integer": (MASK, 3),
    "mask in the middle": (slice(None), MASK[0, :].repeat(1)),
    "mask and array": (np.array([True, False, True, False]), np.array([1, 4])),
    "none": (None, [1], ..., None),
    "truth": (True, slice(1, 2)),
    "nothing": (np.zeros(0, np.int64),),
}


@pytest.mark.parametrize("place", ["host", "gpu"])
@pytest.mark.parametrize("name", KEYS)
def test_get_and_set(name: str, place: str, gpu: Any) -> None:
    key, host = KEYS[name], HOST.copy()
    x = xp.asarray(host, device=gpu)
    moved = tuple(
        xp.asarray(each, device=gpu) if place == "gpu" and isinstance(each, np.ndarray) else each for each in key
    )
    moved = moved if len(moved) > 1 else moved[0]
    assert_same(x[moved], host[key])
    value = -np.arange(float(host[key].size)).reshape(host[key].shape) - 1
    if name in ("one", "mask", "apart", "truth", "mask and array"):
        x[moved] = xp.asarray(value, device=gpu)
        host[key] = value
        assert_same(x, host)
    x[moved] = 7
    host[key] = 7
    assert_same(x, host)


def test_out_of_range_is_found_when_the_host_reads(gpu: Any) -> None:
    x, wrong = xp.asarray(np.arange(7), device=gpu), xp.asarray(np.array([1, 9]), device=gpu)
    for call, name in (
        (lambda: x[wrong], "index: the array for axis 0"),
        (lambda: xp.take(x, wrong), "take: indices"),
        (lambda: xp.take_along_axis(x, wrong), "take_along_axis: indices"),
    ):
        y = call()
        with pytest.raises(IndexError, match=f"{name} holds 9; accepted: -7 to 6"):
            y.tolist()
        assert y.tolist() == [1, 6]
    x[wrong] = 10
    with pytest.raises(IndexError, match="holds 9"):
        x[x > 3]
    assert x.tolist() == [0, 10, 2, 3, 4, 5, 6]


def test_data_of_the_host_is_looked_at_at_once(gpu: Any) -> None:
    x = xp.asarray(HOST, device=gpu)
    for key in (([4],), (slice(None), np.array([-6])), (MASK[:3],)):
        with pytest.raises(IndexError, match=r"accepted: (-4 to 3|-5 to 4|the same)$"):
            x[key]
        with pytest.raises(IndexError, match=r"accepted: (-4 to 3|-5 to 4|the same)$"):
            x[key] = 1
    assert_same(x, HOST)


def test_repetition(gpu: Any) -> None:
    x = xp.asarray(HOST, device=gpu)
    assert_same(xp.stack([x, x], axis=1), np.stack([HOST, HOST], 1))
    assert_same(xp.concat([x, x[:, :2]], axis=1), np.concatenate([HOST, HOST[:, :2]], 1))
    assert_same(xp.roll(x, (1, -2), axis=(0, 1)), np.roll(HOST, (1, -2), (0, 1)))
    assert_same(xp.roll(x, 3), np.roll(HOST, 3))
    assert_same(xp.repeat(x, 2, axis=1), np.repeat(HOST, 2, 1))
    assert_same(xp.tile(x, (2, 1, 2)), np.tile(HOST, (2, 1, 2)))
    counts = np.array([2, 0, 3, 1])
    assert_same(xp.repeat(x, xp.asarray(counts, device=gpu), axis=0), np.repeat(HOST, counts, 0))
