"""A bounded dictionary for plans."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedDict(dict[K, V]):
    """A dict that drops all its entries when it is full.

    Not an LRU cache, so that a look-up costs no more than in a dict. Plans are cheap to compute again, and a program
    that fills the cache seldom reuses some entries more than others.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self.limit and key not in self:
            self.clear()
        super().__setitem__(key, value)
