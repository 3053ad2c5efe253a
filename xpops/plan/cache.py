"""A bounded dictionary for plans."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedDict(dict[K, V]):
    """A dict that forgets everything when it is full.

    Reading costs what reading a dict costs, which is why this is no LRU: plans are cheap to make again, and a program
    that fills the cache has no favourite to keep.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self.limit and key not in self:
            self.clear()
        super().__setitem__(key, value)
