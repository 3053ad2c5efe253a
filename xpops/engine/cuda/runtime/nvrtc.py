"""Compile with NVRTC. As a program, this file is a compiler process for its parent. It imports no other xpops module.

While it compiles, NVRTC (at least up to 13.0) catches SIGINT and SIGTERM for the whole process. On such a signal it
exits the process or damages the heap. So it runs in a process of its own, which Ctrl-C does not reach.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import select
import sys
from typing import NamedTuple

# The process ends after so many seconds without a request.
IDLE = 60.0
# The first bytes that the process writes, when it is ready for requests.
READY = b"ready"


class Request(NamedTuple):
    """A request to compile: a name, a source, NVRTC's options, and name expressions (instances of templates)."""

    name: str
    source: str
    options: tuple[str, ...]
    expressions: tuple[str, ...]


class Answer(NamedTuple):
    """The result of a compilation.

    Attributes
    ----------
    log : str or None
        NVRTC's log if the compilation failed, else None.
    names : tuple of bytes
        The lowered names of the expressions.
    binary : bytes
        A cubin; PTX if the options name a virtual architecture like ``compute_90``.
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
    """Bytes for NVRTC to write into; never of length 1, since Python shares one object for each such value."""
    return bytes(max(length, 2))


def serve(library: str) -> None:
    """Read requests from standard input, and write answers to standard output. Return if the input ends or is idle.

    Parameters
    ----------
    library : str
        The path of the parent's NVRTC.
    """
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that text that a library prints does not mix with the answers
    from cuda.bindings import nvrtc

    nvrtc.nvrtcVersion()
    answers.write(READY)
    answers.flush()
    while select.select([requests], [], [], IDLE)[0]:
        try:
            request = Request(*pickle.load(requests))
        except EOFError:
            return
        # A plain tuple, because here the class belongs to a module called __main__, which the parent cannot unpickle.
        pickle.dump(tuple(compile_here(request)), answers)
        answers.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
