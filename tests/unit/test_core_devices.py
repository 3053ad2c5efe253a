"""Devices are strings with attributes for their parts."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from xpops.core.devices import CPU, Device


@pytest.mark.parametrize(
    ("name", "full", "kind", "index"),
    [
        ("cpu", "cpu", "cpu", 0),
        ("cuda", "cuda:0", "cuda", 0),
        ("cuda:0", "cuda:0", "cuda", 0),
        ("cuda:12", "cuda:12", "cuda", 12),
    ],
)
def test_parts(name: str, full: str, kind: str, index: int) -> None:
    device = Device(name)
    assert (str(device), device.type, device.index) == (full, kind, index)
    assert device == full
    assert hash(device) == hash(full)
    assert repr(device) == f"Device({full!r})"


def test_one_object_for_one_device() -> None:
    assert Device("cuda") is Device("cuda:0") is Device("cuda:00") is Device(Device("cuda:0"))
    assert Device("cpu") is CPU
    assert Device("cuda:1") != Device("cuda:0")
    assert {"cuda:0": 1}[Device("cuda")] == 1


@pytest.mark.parametrize("device", [CPU, Device("cuda:3")], ids=str)
def test_copies_are_the_same_object(device: Device) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(device, protocol)) is device
    assert copy.copy(device) is device
    assert copy.deepcopy(device) is device


@pytest.mark.parametrize(
    "name",
    [
        "gpu",
        "",
        "cpu:0",
        "cuda:",
        "cuda:-1",
        "cuda:x",
        "CUDA",
        " cpu",
        "cuda:0 ",
        "cuda:0\n",
        0,
        None,
        ("cuda", 0),
        1.5,
    ],
)
def test_what_is_no_device(name: Any) -> None:
    with pytest.raises(ValueError, match=r"device: .* is no device; accepted: 'cpu', 'cuda', 'cuda:N'"):
        Device(name)


def test_what_cannot_be_hashed_is_no_device_either() -> None:
    with pytest.raises((TypeError, ValueError), match="device"):
        Device(["cuda"])  # type: ignore[arg-type]
