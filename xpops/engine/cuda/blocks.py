"""Blocks of device memory."""

from __future__ import annotations

from collections.abc import Callable


class Block:
    """Device memory that goes back to its pool when nothing holds it."""

    __slots__ = ("_free", "address")

    def __init__(self, address: int, free: Callable[[int], object]) -> None:
        self.address, self._free = address, free

    def __del__(self) -> None:
        self._free(self.address)
