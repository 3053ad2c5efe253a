"""NVRTC: from a few lines of glue to a cubin for one architecture."""

from __future__ import annotations

import re
import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from xpops.core.errors import CompileError, DeviceError
from xpops.core.progress import tell_if_slow
from xpops.engine.cuda.runtime import compiler
from xpops.engine.cuda.runtime.compiler import CompilerError
from xpops.engine.cuda.runtime.headers import Headers, cuda_directories, directory_option, headers_of
from xpops.engine.cuda.runtime.nvrtc import Answer, Request

# The header that user code includes first.
PRELUDE = "xpops/user/prelude.cuh"
HEADER_PACKAGES = "nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt"
_ABSENT_HEADER = re.compile(r'(?:could not|cannot) open source file "([^"]+)"')
# A text of the user between directives, and its brackets. Comments, strings and characters have none.
_NAMED_TEXT = re.compile(r'^#line 1 "(.+)"\n(.*?)^#line \d+ "\1"$', re.MULTILINE | re.DOTALL)
_BRACKET = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|([()\[\]{}])""", re.DOTALL)
_HALF_TYPE = re.compile(r'identifier "((?:__)?(?:half2?|nv_bfloat162?))" is undefined')


@cache
def _nvrtc() -> Any:
    """Load NVRTC, and return its bindings.

    Raises
    ------
    DeviceError
        If NVRTC is missing or does not work.
    """
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except Exception as error:  # a broken installation raises anything
        reason = str(error).strip().partition("\n")[0]
        raise DeviceError(
            f"kernels cannot be compiled: NVRTC cannot be loaded ({type(error).__name__}: {reason}); "
            "install cuda-python and nvidia-cuda-nvrtc"
        ) from error
    return nvrtc


@cache
def nvrtc_version() -> str:
    """Load NVRTC. Return its version, and that of its package if installed, since only that has the patch level."""
    _, major, minor = _nvrtc().nvrtcVersion()
    try:
        return f"{major}.{minor} ({version('nvidia-cuda-nvrtc')})"
    except PackageNotFoundError:
        return f"{major}.{minor}"


@cache
def capabilities() -> tuple[int, ...]:
    """The compute capabilities that NVRTC knows."""
    _, found = _nvrtc().nvrtcGetSupportedArchs()
    return tuple(sorted(found))


@cache
def target_of(capability: int) -> str:
    """The target of NVRTC: the GPU's architecture, or the newest PTX if NVRTC is older than the GPU.

    PTX is the last resort, with one warning: the driver compiles it again in every process.
    """
    known = capabilities()
    newest = max(each for each in known if each <= max(capability, known[0]))
    if newest >= capability:
        return f"sm_{capability}"
    warnings.warn(
        f"xpops: NVRTC {nvrtc_version()} does not know sm_{capability}; kernels are compiled to PTX for "
        f"compute_{newest}; install a newer nvidia-cuda-nvrtc",
        stacklevel=2,
    )
    return f"compute_{newest}"


def options_for(capability: int, headers: Headers, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    """NVRTC's options for a compute capability and a source; no fast math, and subnormals are kept.

    Parameters
    ----------
    headers : Headers
        What the source includes.
    options : tuple of str
        Options of the caller. They override ours, and their directories are searched before ours.
    """
    ours = (
        f"--gpu-architecture={target_of(capability)}",
        "--std=c++17",
        # Our kernels use no textures and no types of CUDA's runtime, and compile 5 ms faster without. In a user's code,
        # functions without an annotation are device functions.
        "--device-as-default-execution-space" if PRELUDE in headers.names else "--minimal",
    )
    # The process that compiles may have another working directory.
    given = ((option, directory_option(option)) for option in options)
    theirs = tuple(option if path is None else f"--include-path={path}" for option, path in given)
    return (*with_options(ours, theirs), *(f"--include-path={path}" for path in headers.directories))


def with_options(defaults: tuple[str, ...], options: tuple[str, ...]) -> tuple[str, ...]:
    """The defaults that `options` do not override, followed by `options`.

    Examples
    --------
    >>> with_options(("--std=c++17", "--minimal"), ("-std=c++20",))
    ('--minimal', '-std=c++20')
    """
    given = {_option_name(option) for option in options}
    return (*(each for each in defaults if _option_name(each) not in given), *options)


def _option_name(option: str) -> str:
    return option.lstrip("-").partition("=")[0]


def compile_cubin(
    name: str, source: str, capability: int, options: tuple[str, ...] = (), expressions: tuple[str, ...] = ()
) -> bytes:
    """The cubin of `source` for GPUs of `capability`.

    The result is a cubin, since a driver older than the toolkit loads cubins but not PTX. It is PTX only if `target_of`
    returns a virtual architecture.

    Parameters
    ----------
    options : tuple of str
        Added to the default options, or overriding them.
    expressions : tuple of str
        Instances of templates, like ``"scale<float>"``. The returned bytes begin with their lowered names, each
        followed by a zero byte; the cubin follows.

    Raises
    ------
    CompileError
        With NVRTC's log, the options and the numbered source.
    DeviceError
        If NVRTC cannot be loaded.
    """
    _nvrtc()
    headers = headers_of(source, options)
    request = Request(name, source, options_for(capability, headers, options), expressions)
    with tell_if_slow(f"xpops: compiling {name}"):
        try:
            answer = compiler.compilers.compile(request)
        except CompilerError as error:
            answer = Answer(str(error))
    if answer.log is not None:
        log = _unpaired_brackets(source) + answer.log + _advice(answer.log, headers)
        raise CompileError(name, request.options, source, log)
    return b"".join(each + b"\0" for each in answer.names) + answer.binary


def _unpaired_brackets(source: str) -> str:
    """Messages about brackets without a partner in the texts that ``#line`` directives name.

    The compiler notices such a bracket far behind the text.
    """
    found = ""
    for place, text in _NAMED_TEXT.findall(source):
        opened: list[tuple[str, int]] = []
        for each in _BRACKET.finditer(text):
            line = text.count("\n", 0, each.start()) + 1
            if each[1] and each[1] in "([{":
                opened.append((each[1], line))
            elif each[1] and opened and opened[-1][0] + each[1] in ("()", "[]", "{}"):
                opened.pop()
            elif each[1]:
                opened.append((each[1], line))
                break
        found += "".join(f'{place}({line}): error: "{bracket}" has no partner\n' for bracket, line in opened[-1:])
    return found


def _advice(log: str, headers: Headers) -> str:
    """What to do about an error that concerns CUDA's headers; empty if it does not."""
    absent = _ABSENT_HEADER.search(log)
    if absent and not cuda_directories():
        return (
            f"\n{absent[1]}: CUDA's headers were not found; install them (pip install {HEADER_PACKAGES}), or set "
            "CUDA_HOME to a toolkit"
        )
    if absent:
        return (
            f"\n{absent[1]}: no such header in {', '.join(map(str, headers.directories))}, or in a directory of options"
        )
    unknown = _HALF_TYPE.search(log)
    if unknown:
        return f"\n{unknown[1]} is a type of CUDA's header: #include <cuda_{'bf' if 'bf' in unknown[1] else 'fp'}16.h>"
    return ""
