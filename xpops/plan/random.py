"""The round keys of Philox4x32-10, which the host computes."""

from __future__ import annotations

from functools import lru_cache

ROUNDS = 10


@lru_cache(maxsize=256)
def round_keys(key: int) -> tuple[tuple[int, int], ...]:
    """The two key words of each round, derived from a 64-bit key. Low words come first.

    Examples
    --------
    >>> [hex(word) for word in round_keys(1)[1]]
    ['0x9e3779ba', '0xbb67ae85']
    """
    first, second = key % 2**32, key >> 32
    return tuple(
        ((first + number * 0x9E3779B9) % 2**32, (second + number * 0xBB67AE85) % 2**32) for number in range(ROUNDS)
    )
