"""Fewer actions that fail as well."""

from __future__ import annotations

from collections.abc import Callable


def shrink(count: int, fails: Callable[[list[int]], bool]) -> list[int]:
    """Some of the numbers below `count` that fail, none of which can be left out.

    Runs of numbers are left out as long as what remains fails: halves first, single numbers last.
    """
    kept = list(range(count))
    size = count // 2
    while size:
        start = 0
        while start < len(kept):
            rest = kept[:start] + kept[start + size :]
            if rest and fails(rest):
                kept = rest
            else:
                start += size
        size = min(size // 2, len(kept) // 2) if size > 1 else 0
    return kept
