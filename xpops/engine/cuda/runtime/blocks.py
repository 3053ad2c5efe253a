"""Blocks of device memory."""

from __future__ import annotations


class Block(tuple):  # type: ignore[type-arg]  # (int, Callable[[int], object])
    """Device memory that returns to its pool when its last reference is dropped: an address and the release function.

    A tuple, because every result needs a block: an ``__init__`` would cost a tenth of a microsecond.
    """

    __slots__ = ()

    @property
    def address(self) -> int:
        found: int = self[0]
        return found

    def __del__(self) -> None:
        self[1](self[0])
