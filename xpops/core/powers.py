"""Powers of two."""

from __future__ import annotations


def power_of_two(least: int) -> int:
    """The smallest power of two that is at least `least`, and at least 1.

    Examples
    --------
    >>> [power_of_two(least) for least in (0, 1, 5, 8)]
    [1, 1, 8, 8]
    """
    return 1 << max(0, least - 1).bit_length()
