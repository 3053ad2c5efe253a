"""What a cubin, which is an ELF file, says of the resources of its kernels. Needs no GPU."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

# Entries of .nv.info whose value has a size, and of these the numbers of a function: its registers and its frame.
_SIZED, _REGISTERS, _FRAME = 4, 0x2F, 0x11
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


def resources(cubin: bytes, symbol: str, capability: int) -> Resources:
    """The resources of the kernel `symbol`.

    Raises
    ------
    ValueError
        If the cubin has no such kernel.
    """
    sections = {name: (start, size, link) for name, start, size, link in _sections(cubin)}
    kernels = [name.removeprefix(".text.") for name in sections if name.startswith(".text.")]
    if symbol not in kernels:
        raise ValueError(f"there is no kernel {symbol!r}; accepted: {', '.join(kernels) or 'nothing'}")
    start, size, link = sections[".nv.info"]
    shared = sections.get(f".nv.shared.{symbol}", (0, 0, 0))[1]
    reserved = _RESERVED_BYTES if capability >= _RESERVED_FROM and shared else 0
    names = _symbols(cubin, link)
    numbers = {
        attribute: value
        for attribute, number, value in _attributes(cubin[start : start + size])
        if names[number] == symbol
    }
    constant = sum(size for name, (_, size, _) in sections.items() if name == ".nv.constant3")
    return Resources(numbers[_REGISTERS], shared - reserved, numbers.get(_FRAME, 0), constant)


def _sections(cubin: bytes) -> Iterator[tuple[str, int, int, int]]:
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


def _attributes(info: bytes) -> Iterator[tuple[int, int, int]]:
    """The attribute, the number of the symbol, and the value of each entry that has both."""
    at = 0
    while at < len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == _SIZED:
            if attribute in (_REGISTERS, _FRAME):
                yield attribute, *struct.unpack_from("<II", info, at)
            at += size


def _text(cubin: bytes, at: int) -> str:
    return cubin[at : cubin.index(b"\0", at)].decode()
