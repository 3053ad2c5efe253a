"""NVRTC, and, run as a program, a process that compiles for its parent. Imports nothing of the package.

While it compiles, NVRTC up to 13.0 at least catches SIGINT and SIGTERM for the whole process, and exits, or damages the
heap, where a signal comes. So it compiles in a process that no Ctrl-C reaches.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import select
import sys
from typing import NamedTuple

# A process that nobody asks for so many seconds ends.
IDLE = 60.0
# What it says first, once it has what it needs.
READY = b"ready"


class Request(NamedTuple):
    """What to compile: a name, a source, NVRTC's options, and instances of templates."""

    name: str
    source: str
    options: tuple[str, ...]
    expressions: tuple[str, ...]


class Answer(NamedTuple):
    """What came of it.

    Attributes
    ----------
    log : str or None
        NVRTC's words, if it refused.
    names : tuple of bytes
        What the expressions are called in the binary.
    binary : bytes
        A cubin; PTX where the options name a virtual architecture, ``compute_90``.
    """

    log: str | None
    names: tuple[bytes, ...] = ()
    binary: bytes = b""


def compile_here(request: Request) -> Answer:
    """Compile in this process."""
    from cuda.bindings import nvrtc

    success = nvrtc.nvrtcResult.NVRTC_SUCCESS
    name, source, options, expressions = request
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), f"{name}.cu".encode(), 0, None, None)
    try:
        for expression in expressions:
            nvrtc.nvrtcAddNameExpression(program, expression.encode())
        (error,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        if error != success:
            _, length = nvrtc.nvrtcGetProgramLogSize(program)
            log = _buffer(length)
            nvrtc.nvrtcGetProgramLog(program, log)
            return Answer(log.rstrip(b"\0").decode(errors="replace"))
        names = tuple(bytes(nvrtc.nvrtcGetLoweredName(program, each.encode())[1]) for each in expressions)
        virtual = any("=compute_" in option for option in options)
        size, get = (
            (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX) if virtual else (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
        )
        _, length = size(program)
        binary = _buffer(length)
        get(program, binary)
        return Answer(None, names, binary)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _buffer(length: int) -> bytes:
    """Bytes for NVRTC to write into. Never of length 1: Python has one object for each of those, used by everyone."""
    return bytes(max(length, 2))


def serve(library: str) -> None:
    """Answer requests from standard input on standard output, until it ends or nothing comes for a while.

    Parameters
    ----------
    library : str
        The path of the NVRTC that the parent has found.
    """
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that what a library prints is not taken for an answer
    from cuda.bindings import nvrtc

    nvrtc.nvrtcVersion()
    answers.write(READY)
    answers.flush()
    while select.select([requests], [], [], IDLE)[0]:
        try:
            request = Request(*pickle.load(requests))
        except EOFError:
            return
        # As plain tuples: here the classes are those of a module called __main__.
        pickle.dump(tuple(compile_here(request)), answers)
        answers.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
