"""The headers of a source: the directories that the compiler searches, and a digest of all that it may read."""

from __future__ import annotations

import importlib.util
import os
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

# CUDA's own headers, by their names in cuda.pathfinder.
_CUDA = ("cudart", "cccl", "curand")
# It begins with #, and not at the start of a line, because this is found ten times as fast.
_DIRECTIVE = re.compile(rb'#[ \t]*include\b[ \t]*(?:([<"])([^>"\n]+)[>"])?')
_PATH = re.compile(r"(?:-I|--?include-path=)(.+)")
_PRE_INCLUDE = re.compile(r"--?(?:pre-)?include=(.+)")
# Options that name other inputs, or whose value is an option of its own.
_OTHER_INPUT = re.compile(r"-I|--?(?:pre-)?include|--?opt")


# Directives whose outcome depends on files that they need not name.
_ASKS = re.compile(rb"include_next|__has_include")


class Include(NamedTuple):
    """An include directive: a name, and for a name in quotes the directory and the digest of the header that has it."""

    name: str
    beside: str | None = None
    within: str = ""


class Text(NamedTuple):
    """A header: the SHA-256 of its bytes, its directives, and whether they name all files that they depend on."""

    digest: str
    includes: tuple[Include, ...]
    named: bool


class Headers(NamedTuple):
    """What a source includes, directly or indirectly.

    Attributes
    ----------
    directories : tuple of Path
        Where the compiler must search, after the directories that options name.
    digest : str
        SHA-256 of the names and the bytes of all headers.
    complete : bool
        Whether the digest covers all that the compiler may read.
    names : frozenset of str
        The names in the directives.
    missing : frozenset of str
        Those that no directory has.
    """

    directories: tuple[Path, ...]
    digest: str
    complete: bool
    names: frozenset[str]
    missing: frozenset[str]


@cache
def include_directory() -> Path:
    """The directory of ``xpops/...`` headers: beside the package in a checkout, inside it when installed."""
    package = Path(__file__).parents[3]
    installed = package / "native"
    return installed if installed.is_dir() else package.parent / "native"


@cache
def cuda_directories() -> tuple[Path, ...]:
    """The directories of CUDA's headers: of its wheels or the toolkit, else of the copies in CuPy's wheels; or none."""
    from cuda.pathfinder import find_nvidia_header_directory

    found = (find_nvidia_header_directory(each) for each in _CUDA)
    return tuple(dict.fromkeys(Path(each) for each in found if each is not None)) or _copies_in_cupy()


def _copies_in_cupy() -> tuple[Path, ...]:
    found = importlib.util.find_spec("cupy")
    if found is None or found.origin is None:
        return ()
    root = Path(found.origin).parent / "_core/include/cupy"
    versions = sorted(root.glob("_cuda/cuda-*"), key=lambda path: [int(each) for each in re.findall(r"\d+", path.name)])
    libraries = (root / "_cccl" / each for each in ("libcudacxx", "cub", "thrust"))
    return (*versions[-1:], *(each for each in libraries if each.is_dir()))


def directory_option(option: str) -> Path | None:
    """The directory that an option like ``-Iinclude`` names; None if it is another option."""
    found = _PATH.fullmatch(option)
    return Path(found[1]).absolute() if found else None


def headers_of(source: str, options: tuple[str, ...] = ()) -> Headers:
    """What `source` includes. CUDA's headers are searched only if it includes other headers than ours.

    The digest has the bytes of the headers, neither paths nor times. So it is the same on every machine, and no change
    escapes it.
    """
    given = tuple(path for path in map(directory_option, options) if path is not None)
    forced = tuple(Include(found[1]) for found in map(_PRE_INCLUDE.fullmatch, options) if found)
    others = (each for each in options if not (_PATH.fullmatch(each) or _PRE_INCLUDE.fullmatch(each)))
    here = os.getcwd()
    text = _parse(source.encode(), here)
    includes = frozenset((*forced, *(Include(each.name) for each in text.includes)))
    own = include_directory()
    local = any(each.beside is not None and os.path.exists(f"{here}/{each.name}") for each in text.includes)
    found = _own_headers(own, frozenset(each.name for each in includes))
    if given or local or found.missing:
        # The process that compiles has another working directory.
        working = (Path(here),) * local
        found = _closure(includes, (*given, *working), (own, own / "standard", *cuda_directories(), own / "cuda"))
        found = found._replace(directories=(*working, *found.directories))
    return found._replace(complete=found.complete and text.named and not any(map(_OTHER_INPUT.match, others)))


@cache
def _own_headers(own: Path, names: frozenset[str]) -> Headers:
    """What a source includes of our own headers."""
    return _closure(frozenset(map(Include, names)), (), (own, own / "standard"))


def _closure(includes: frozenset[Include], given: tuple[Path, ...], directories: tuple[Path, ...]) -> Headers:
    """Follow all directives, even those that the preprocessor will skip.

    Some headers of CUDA name what they include by a macro. This is another header of the same version.
    """
    searched, fixed = tuple(map(str, (*given, *directories))), tuple(f"{each}/" for each in directories)
    wanted, seen = list(includes), set(includes)
    digests, missing = set[tuple[str, str, str]](), set[str]()
    complete = True
    while wanted:
        name, beside, within = wanted.pop()
        for directory in searched if beside is None else (beside, *searched):
            path = os.path.join(directory, name)
            text = (_read_once if path.startswith(fixed) else _read)(path)
            if text is not None:
                digests.add((within, name, text.digest))
                complete = complete and (text.named or path.startswith(fixed))
                new = [each for each in text.includes if each not in seen]
                wanted += new
                seen.update(new)
                break
        else:
            missing.add(name)
    digest = sha256(repr((sorted(digests), sorted(missing))).encode()).hexdigest()
    return Headers(directories, digest, complete, frozenset(each.name for each in seen), frozenset(missing))


def _read(path: str) -> Text | None:
    """The header at a path; None if there is none."""
    try:
        with open(path, "rb") as file:
            return _parse(file.read(), os.path.dirname(path))
    except OSError:
        return None


# Our headers and CUDA's do not change while a process runs.
_read_once = cache(_read)


def _parse(text: bytes, directory: str) -> Text:
    """Read the directives, and some that are comments: a digest of too many headers is a digest, too."""
    includes, named, digest = [], _ASKS.search(text) is None, sha256(text).hexdigest()
    for each in _DIRECTIVE.finditer(text):
        if b"//" in text[text.rfind(b"\n", 0, each.start()) + 1 : each.start()]:
            continue
        named = named and each[2] is not None
        if each[2] is not None:
            name = each[2].decode(errors="replace")
            includes.append(Include(name, directory, digest) if each[1] == b'"' else Include(name))
    return Text(digest, tuple(includes), named)
