"""What tests read in a cubin: arithmetic instructions, memory accesses, stacks. Needs no GPU."""

from __future__ import annotations

import struct
from collections import Counter

from xpops.engine.cuda.runtime import elf

# The low nine bits of an instruction of 16 bytes; the others say where its operands are.
_ARITHMETIC = {0x20: "mul", 0x21: "add", 0x23: "fma", 0x28: "mul", 0x29: "add", 0x2B: "fma"}

# Instructions that access global memory, by their low twelve bits; 3 other bits hold the width.
_GLOBAL = {0x981: "load", 0x986: "store"}
_WIDTHS = (1, 1, 2, 2, 4, 8, 16)


def arithmetic(cubin: bytes) -> Counter[str]:
    """The numbers of products, sums and FMAs of float32 and float64 in the kernel of a cubin."""
    code = _text(cubin)
    found = (_ARITHMETIC.get(struct.unpack_from("<Q", code, at)[0] & 0x1FF) for at in range(0, len(code), 16))
    return Counter(name for name in found if name is not None)


def accesses(cubin: bytes) -> Counter[tuple[str, int]]:
    """The numbers of loads from and stores to global memory in the kernel of a cubin, by their widths in bytes."""
    code = _text(cubin)
    words = (struct.unpack_from("<QQ", code, at) for at in range(0, len(code), 16))
    return Counter((_GLOBAL[low & 0xFFF], _WIDTHS[high >> 9 & 7]) for low, high in words if low & 0xFFF in _GLOBAL)


def stack_bytes(cubin: bytes) -> int:
    """The bytes of the largest stack of a thread: registers that the compiler spilled, and arrays in local memory."""
    return max((value for attribute, _, value in elf.attributes(cubin) if attribute == elf.FRAME), default=0)


def _text(cubin: bytes) -> bytes:
    """The code of the one kernel of a cubin."""
    ((start, size),) = ((start, size) for name, start, size, _ in elf.sections(cubin) if name.startswith(".text."))
    return cubin[start : start + size]
