"""What a cubin says of its kernels: their arithmetic instructions, and their stacks. Needs no GPU."""

from __future__ import annotations

import struct
from collections import Counter

# The low nine bits of an instruction of 16 bytes; the others say where its operands are.
_ARITHMETIC = {0x20: "mul", 0x21: "add", 0x23: "fma", 0x28: "mul", 0x29: "add", 0x2B: "fma"}

# An entry of .nv.info: one whose value has a size, and the attribute that says how large a function's frame is.
_SIZED, _FRAME_SIZE = 4, 0x11


def arithmetic(cubin: bytes) -> Counter[str]:
    """The numbers of products, sums and FMAs of float32 and float64 in the kernel of a cubin."""
    code = _text(cubin)
    found = (_ARITHMETIC.get(struct.unpack_from("<Q", code, at)[0] & 0x1FF) for at in range(0, len(code), 16))
    return Counter(name for name in found if name is not None)


def stack_bytes(cubin: bytes) -> int:
    """The bytes of the largest stack of a thread: registers that the compiler spilled, and arrays in local memory."""
    info = _section(cubin, b".nv.info\0")
    at, largest = 0, 0
    while at < len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == _SIZED:
            if attribute == _FRAME_SIZE:
                largest = max(largest, struct.unpack_from("<II", info, at)[1])
            at += size
    return largest


def _text(cubin: bytes) -> bytes:
    """The section with the kernel's code."""
    return _section(cubin, b".text.")


def _section(cubin: bytes, name: bytes) -> bytes:
    """The one section whose name begins so. An ELF file has a table of sections, and a section with their names."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    count, names = struct.unpack_from("<HH", cubin, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + 64 * number) for number in range(count)]
    starts = {section[0] + sections[names][4]: section for section in sections}
    (section,) = (section for start, section in starts.items() if cubin[start : start + len(name)] == name)
    return cubin[section[4] : section[4] + section[5]]
