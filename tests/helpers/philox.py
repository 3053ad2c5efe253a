"""Philox4x32-10 in Python's integers, and the laws of integers and uniform numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

# Counter, key and result, low words first: the known answers of philox4x32-10 in Random123's kat_vectors.
KNOWN = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)


def philox(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    a, b, c, d = counter
    first, second = key
    for _ in range(10):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = right >> 32 ^ b ^ first, right % 2**32, left >> 32 ^ d ^ second, left % 2**32
        first, second = (first + 0x9E3779B9) % 2**32, (second + 0xBB67AE85) % 2**32
    return a, b, c, d


def halves(word: int) -> tuple[int, int]:
    """A 64-bit number as two words, the low word first."""
    return word % 2**32, word >> 32


def words_of(seed: int, path: tuple[int, ...], position: int, counters: int) -> list[int]:
    """The random words of a generator, from a position on."""
    key, branch = map(int, np.random.SeedSequence(seed, spawn_key=path).generate_state(2, np.uint64))
    places = range(position, position + counters)
    return [word for place in places for word in philox((*halves(place % 2**64), *halves(branch)), halves(key))]


def pairs(words: list[int]) -> list[int]:
    """Each two words as one of 64 bits, the low word first."""
    return [low + (high << 32) for low, high in zip(words[::2], words[1::2], strict=True)]


def integers(words: list[int], low: int, count: int, wide: bool) -> list[int]:
    drawn = pairs(words)
    if wide:
        drawn = [first + (second << 64) for first, second in zip(drawn[::2], drawn[1::2], strict=True)]
    return [low + (each * count >> (128 if wide else 64)) for each in drawn]


def uniforms(words: list[int], dtype: Any) -> list[float]:
    """Exact numbers in [0, 1)."""
    if np.dtype(dtype) == np.float64:
        return [(each >> 11) / 2**53 for each in pairs(words)]
    digits = {"float32": 24, "float16": 11, "bfloat16": 8}[np.dtype(dtype).name]
    return [(each >> (32 - digits)) / 2**digits for each in words]
