"""Blocks of device memory."""

from __future__ import annotations


class Block(tuple):  # type: ignore[type-arg]  # (int, Callable[[int], object])
    """Device memory that goes back to its pool when nothing holds it: an address, and what takes it back.

    A tuple, since one is made for every result: an ``__init__`` would cost a tenth of a microsecond.
    """

    __slots__ = ()

    @property
    def address(self) -> int:
        found: int = self[0]
        return found

    def __del__(self) -> None:
        self[1](self[0])
