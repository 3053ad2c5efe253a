"""FastDivMod: division by a number known on the host, as a multiplication and a shift on the device."""

from __future__ import annotations

import struct


def magic(divisor: int, bits: int) -> tuple[int, int]:
    """The multiplier and the shift with which ``n // divisor == (mulhi(n, multiplier) + n) >> shift``.

    Exact for every ``0 <= n < 2**bits`` as long as the sum keeps its carry, which the device code does
    (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).

    Parameters
    ----------
    divisor : int
        From 1 to ``2**bits - 1``.
    bits : {32, 64}
        The width of `n`.

    Examples
    --------
    >>> multiplier, shift = magic(7, 32)
    >>> n = 2**32 - 1
    >>> ((n * multiplier >> 32) + n) >> shift == n // 7
    True
    """
    if not 1 <= divisor < 2**bits:
        raise ValueError(f"magic: divisor is {divisor}; accepted: 1 to 2**{bits} - 1")
    shift = (divisor - 1).bit_length()
    return ((1 << bits) * ((1 << shift) - divisor)) // divisor + 1, shift


def pack_divmod(divisor: int, bits: int) -> bytes:
    """The bytes of a ``FastDivMod<uint32>`` or ``FastDivMod<uint64>`` (``native/xpops/index/divmod.cuh``)."""
    multiplier, shift = magic(divisor, bits)
    return struct.pack("<III" if bits == 32 else "<QQQ", divisor, multiplier, shift)
