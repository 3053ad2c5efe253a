"""NVRTC: from a few lines of glue to a cubin for one architecture."""

from __future__ import annotations

import re
import warnings
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from xpops.core.errors import CompileError, DeviceError
from xpops.core.progress import tell_if_slow
from xpops.engine.cuda.runtime import compiler
from xpops.engine.cuda.runtime.compiler import CompilerError
from xpops.engine.cuda.runtime.nvrtc import Answer, Request


@cache
def include_directory() -> Path:
    """The directory of ``xpops/...`` headers: beside the package in a checkout, inside it when installed."""
    package = Path(__file__).parents[3]
    installed = package / "native"
    return installed if installed.is_dir() else package.parent / "native"


_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
_DIRECTIVE = re.compile(r"^\s*#\s*include\b", re.MULTILINE)


@cache
def _header(name: str) -> tuple[bytes, frozenset[str]]:
    """The bytes of one of our headers and the names that it includes; both empty if it is not our header."""
    try:
        text = (include_directory() / name).read_bytes()
    except OSError:
        return b"", frozenset()
    return text, frozenset(_INCLUDE.findall(text.decode()))


@cache
def _closure(included: frozenset[str]) -> str:
    found: set[str] = set()
    wanted = set(included)
    while wanted:
        found |= wanted
        wanted = {name for header in wanted for name in _header(header)[1]} - found
    digest = sha256()
    for name in sorted(found):
        digest.update(name.encode() + b"\0" + _header(name)[0] + b"\0")
    return digest.hexdigest()


def header_digest(source: str) -> str:
    """SHA-256 of the paths and the bytes of every header that `source` includes, directly or indirectly.

    So a change to one header recompiles only the sources that include it.
    """
    return _closure(frozenset(_INCLUDE.findall(source)))


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
def target_of(capability: int) -> str:
    """The target of NVRTC: the GPU's architecture, or the newest PTX if NVRTC is older than the GPU.

    PTX is the last resort, with one warning: the driver compiles it again in every process.
    """
    _, supported = _nvrtc().nvrtcGetSupportedArchs()
    newest = max(each for each in supported if each <= max(capability, min(supported)))
    if newest >= capability:
        return f"sm_{capability}"
    warnings.warn(
        f"xpops: NVRTC {nvrtc_version()} does not know sm_{capability}; kernels are compiled to PTX for "
        f"compute_{newest}; install a newer nvidia-cuda-nvrtc",
        stacklevel=2,
    )
    return f"compute_{newest}"


def options_for(capability: int) -> tuple[str, ...]:
    """NVRTC's options for a compute capability; no fast math, and subnormals are kept."""
    return (
        f"--gpu-architecture={target_of(capability)}",
        "--std=c++17",
        "--minimal",  # no textures and no runtime functions, which no kernel here uses: saves 5 ms
        f"--include-path={include_directory()}",
    )


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
    name = option.lstrip("-").partition("=")[0]
    return "" if name == "include-path" else name  # a command may have several include paths


def names_its_headers(source: str, options: tuple[str, ...]) -> bool:
    """Whether a compilation reads only `source` and our own headers, so that the cache key covers every input."""
    found = _INCLUDE.findall(source)
    return (
        len(found) == len(_DIRECTIVE.findall(source))
        and all(_header(name)[0] for name in found)
        and not any("include" in option or option.startswith(("-I", "-opt", "--opt")) for option in options)
    )


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
    request = Request(name, source, with_options(options_for(capability), options), expressions)
    with tell_if_slow(f"xpops: compiling {name}"):
        try:
            answer = compiler.compilers.compile(request)
        except CompilerError as error:
            answer = Answer(str(error))
    if answer.log is not None:
        raise CompileError(name, request.options, source, answer.log)
    return b"".join(each + b"\0" for each in answer.names) + answer.binary
