"""The devices that tests run on."""

from __future__ import annotations

from xpops.core.devices import Device
from xpops.engine import devices

DEVICES: tuple[Device, ...] = devices()
