"""Pools of torch's memory for recorded graphs."""

from __future__ import annotations

from typing import Any

import torch

from xpops.core.devices import Device

# The pools that no graph uses, by device.
_pools: dict[Device, list[Any]] = {}


class LentPool:
    """A pool of torch's memory for one graph, which goes to the next graph afterwards.

    It is never destroyed: torch ends the process if that happens while it captures a graph.
    """

    def __init__(self, device: Device) -> None:
        self._free = _pools.setdefault(device, [])
        try:
            self.pool = self._free.pop()
        except IndexError:
            self.pool = torch.cuda.MemPool()

    def __del__(self) -> None:
        self._free.append(self.pool)
