"""Fewer actions that fail as well."""

from __future__ import annotations

from collections.abc import Callable


def shrink(count: int, fails: Callable[[list[int]], bool]) -> list[int]:
    """A short list of numbers below `count` that fails.

    Remove runs of numbers while the rest still fails: halves first, single numbers last.
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
