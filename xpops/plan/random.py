"""The round keys of Philox4x32-10, which the host computes."""

from __future__ import annotations

from functools import lru_cache

ROUNDS = 10


@lru_cache(maxsize=256)
def round_keys(key: int) -> tuple[int, ...]:
    """The two 32-bit key words of each round, derived from a 64-bit key, as a 64-bit word whose low half is the first.

    Examples
    --------
    >>> hex(round_keys(1)[1])
    '0xbb67ae859e3779ba'
    """
    first, second = key % 2**32, key >> 32
    return tuple(
        (first + number * 0x9E3779B9) % 2**32 | (second + number * 0xBB67AE85) % 2**32 << 32 for number in range(ROUNDS)
    )
