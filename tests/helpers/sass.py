"""Counts arithmetic instructions in the machine code of a cubin. Needs no GPU."""

from __future__ import annotations

import struct
from collections import Counter

# The low nine bits of an instruction of 16 bytes; the others say where its operands are.
_ARITHMETIC = {0x20: "mul", 0x21: "add", 0x23: "fma", 0x28: "mul", 0x29: "add", 0x2B: "fma"}


def arithmetic(cubin: bytes) -> Counter[str]:
    """The numbers of products, sums and FMAs of float32 and float64 in the kernel of a cubin."""
    code = _text(cubin)
    found = (_ARITHMETIC.get(struct.unpack_from("<Q", code, at)[0] & 0x1FF) for at in range(0, len(code), 16))
    return Counter(name for name in found if name is not None)


def _text(cubin: bytes) -> bytes:
    """The section with the kernel's code. An ELF file has a table of sections, and a section with their names."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    count, names = struct.unpack_from("<HH", cubin, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + 64 * number) for number in range(count)]
    starts = {section[0] + sections[names][4]: section for section in sections}
    (section,) = (section for start, section in starts.items() if cubin[start : start + 6] == b".text.")
    return cubin[section[4] : section[4] + section[5]]
