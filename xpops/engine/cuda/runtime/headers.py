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


class Include(NamedTuple):
    """An include directive: a name, and the directory of the header that has it. None if the name is in ``<>``."""

    name: str
    beside: str | None


class Text(NamedTuple):
    """A header: the SHA-256 of its bytes, its directives, and whether all of these have a name, rather than a macro."""

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
    forced = tuple(Include(found[1], None) for found in map(_PRE_INCLUDE.fullmatch, options) if found)
    others = (each for each in options if not (_PATH.fullmatch(each) or _PRE_INCLUDE.fullmatch(each)))
    text = _parse(source.encode(), os.getcwd())
    includes = frozenset((*forced, *text.includes))
    own = include_directory()
    local = any(each.beside is not None and os.path.exists(f"{each.beside}/{each.name}") for each in includes)
    found = _own_headers(own, frozenset(each.name for each in includes))
    if given or local or found.missing:
        found = _closure(includes, given, (own, own / "standard", *cuda_directories(), own / "cuda"))
    return found._replace(complete=found.complete and text.named and not any(map(_OTHER_INPUT.match, others)))


@cache
def _own_headers(own: Path, names: frozenset[str]) -> Headers:
    """What a source includes of our own headers."""
    return _closure(frozenset(Include(name, None) for name in names), (), (own, own / "standard"))


def _closure(includes: frozenset[Include], given: tuple[Path, ...], directories: tuple[Path, ...]) -> Headers:
    """Follow all directives, even those that the preprocessor will skip.

    Some headers of CUDA name what they include by a macro. This is another header of the same version.
    """
    searched, fixed = tuple(map(str, (*given, *directories))), tuple(f"{each}/" for each in directories)
    wanted, seen = list(includes), set(includes)
    digests, missing = set[tuple[str, str]](), set[str]()
    complete = True
    while wanted:
        name, beside = wanted.pop()
        for directory in searched if beside is None else (beside, *searched):
            path = f"{directory}/{name}"
            text = (_read_once if path.startswith(fixed) else _read)(path)
            if text is not None:
                digests.add((name, text.digest))
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
    includes, named = [], True
    for each in _DIRECTIVE.finditer(text):
        if text[text.rfind(b"\n", 0, each.start()) + 1 : each.start()].strip():
            continue  # a comment
        named = named and each[2] is not None
        if each[2] is not None:
            includes.append(Include(each[2].decode(errors="replace"), directory if each[1] == b'"' else None))
    return Text(sha256(text).hexdigest(), tuple(includes), named)
