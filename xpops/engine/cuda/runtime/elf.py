"""What a cubin, which is an ELF file, says of its kernels and their resources. Needs no GPU."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

# The first bytes of a cubin. PTX has others.
MAGIC = b"\x7fELF"

# Entries of .nv.info whose value has a size, and of these the numbers of a function: its registers and its frame.
_SIZED, REGISTERS, FRAME = 4, 0x2F, 0x11
# From sm_90 on, the section of shared memory begins with bytes for the system, which ptxas does not count.
_RESERVED_FROM, _RESERVED_BYTES = 90, 1024


class Resources(NamedTuple):
    """What a kernel needs.

    Attributes
    ----------
    registers : int
        Of a thread.
    shared_bytes : int
        The static shared memory of a block.
    local_bytes : int
        The stack of a thread in local memory: registers that the compiler spilled, and arrays that it indexes.
    constant_bytes : int
        Of ``__constant__`` variables. Parameters do not count.
    """

    registers: int
    shared_bytes: int
    local_bytes: int
    constant_bytes: int


def kernels(binary: bytes) -> tuple[str, ...]:
    """The symbols of the kernels of a cubin, or of PTX."""
    if not binary.startswith(MAGIC):
        return tuple(each.decode() for each in re.findall(rb"\.entry\s+([\w$]+)", binary))
    return tuple(name.removeprefix(".text.") for name, *_ in sections(binary) if name.startswith(".text."))


def resources(cubin: bytes, symbol: str, capability: int) -> Resources:
    """The resources of the kernel whose symbol is `symbol`."""
    sizes = {name: size for name, _, size, _ in sections(cubin)}
    shared = sizes.get(f".nv.shared.{symbol}", 0)
    reserved = _RESERVED_BYTES if capability >= _RESERVED_FROM and shared else 0
    numbers = {attribute: value for attribute, name, value in attributes(cubin) if name == symbol}
    constant = sizes.get(".nv.constant3", 0)
    return Resources(numbers[REGISTERS], shared - reserved, numbers.get(FRAME, 0), constant)


def attributes(cubin: bytes) -> Iterator[tuple[int, str, int]]:
    """The attributes `REGISTERS` and `FRAME` of each function: the attribute, the function's symbol, and the value."""
    for name, start, size, link in sections(cubin):
        if name == ".nv.info":
            names = _symbols(cubin, link)
            for attribute, number, value in _entries(cubin[start : start + size]):
                yield attribute, names[number], value


def sections(cubin: bytes) -> Iterator[tuple[str, int, int, int]]:
    """The name, the start, the size and the link of each section."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    count, names = struct.unpack_from("<HH", cubin, 60)
    found = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + 64 * number) for number in range(count)]
    for name, kind, _, _, start, size, link, _, _, _ in found:
        occupied = 0 if kind == 0 else size
        yield _text(cubin, found[names][4] + name), start, occupied, link


def _symbols(cubin: bytes, number: int) -> list[str]:
    """The names of the table of symbols that is section `number`."""
    (table,) = struct.unpack_from("<Q", cubin, 40)

    def section(place: int) -> tuple[int, ...]:
        return struct.unpack_from("<IIQQQQIIQQ", cubin, table + 64 * place)

    symbols = section(number)
    strings = section(symbols[6])[4]
    starts = range(symbols[4], symbols[4] + symbols[5], 24)
    return [_text(cubin, strings + struct.unpack_from("<I", cubin, start)[0]) for start in starts]


def _entries(info: bytes) -> Iterator[tuple[int, int, int]]:
    """The attribute, the number of the symbol, and the value of each entry that has both."""
    at = 0
    while at < len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == _SIZED:
            if attribute in (REGISTERS, FRAME):
                yield attribute, *struct.unpack_from("<II", info, at)
            at += size


def _text(cubin: bytes, at: int) -> str:
    return cubin[at : cubin.index(b"\0", at)].decode()
