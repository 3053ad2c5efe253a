"""The device objects of other libraries are taken wherever ours are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import xpops as xp
from xpops.core.devices import Device


def made_in(module: str, **facts: Any) -> Any:
    """An object of a class of a library that need not be installed."""
    return type("Device", (SimpleNamespace,), {"__module__": module})(**facts)


@pytest.mark.parametrize(
    ("device", "name"),
    [
        (made_in("cupy.cuda.device", id=2), "cuda:2"),
        (made_in("jaxlib._jax", platform="gpu", local_hardware_id=1), "cuda:1"),
        (made_in("jaxlib._jax", platform="cpu", local_hardware_id=0), "cpu"),
    ],
)
def test_names(device: Any, name: str) -> None:
    assert Device(device) is Device(name)


@pytest.mark.parametrize("device", [made_in("jaxlib._jax", platform="tpu"), made_in("elsewhere", id=0), 0, None])
def test_others_are_refused(device: Any) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="is no device; accepted: 'cpu', 'cuda', 'cuda:N'"):
            Device(device)


def check(device: Any) -> None:
    x = xp.zeros(3, device=device)
    assert x.device == "cpu"
    assert x.to_device(device) is x
    assert xp.asarray([1.0], device=device).device == xp.arange(3, device=device).device == "cpu"
    assert xp.full_like(x, 2, device=device).device == "cpu"


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    check(torch.device("cpu"))
    assert Device(torch.device("cuda", 3)) is Device("cuda:3")
    assert Device(torch.device("cuda")) is Device("cuda:0")
    with pytest.raises(ValueError, match=r"device is device\(type='meta'\)"):
        xp.zeros(3, device=torch.device("meta"))


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    check(jax.devices("cpu")[0])
