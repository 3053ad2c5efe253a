"""The disk cache of compiled kernels: processes share it, entries have checksums, and its faults never stop a call."""

from __future__ import annotations

import os
import stat
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from xpops.core import config
from xpops.engine.cuda.runtime import compiler
from xpops.engine.cuda.runtime.compile import compile_cubin, nvrtc_version, options_for
from xpops.engine.cuda.runtime.headers import Headers, directory_option, headers_of

if TYPE_CHECKING:
    from cuda.core.utils import FileStreamProgramCache

T = TypeVar("T")

# Increase this number when the form of an entry or the key changes.
SCHEMA = 1
SIZE_LIMIT = 1 << 30
_DIGEST_BYTES = 32

# The number of kernels that this process compiled; tests read it to prove that no kernel is compiled twice.
compilations = 0
_count_lock = threading.Lock()


def key_of(
    source: str, headers: Headers, capability: int, options: tuple[str, ...] = (), expressions: tuple[str, ...] = ()
) -> bytes:
    """A hash of all that can change the cubin: schema, source, options, architecture, NVRTC's version, and headers."""
    # The digest of the headers' contents replaces the include paths, which differ between installations.
    given = repr([each for each in options_for(capability, headers, options) if directory_option(each) is None])
    parts = (str(SCHEMA), source, given, nvrtc_version(), headers.digest, *expressions)
    return sha256("\0".join(parts).encode()).digest()


@cache
def disk() -> FileStreamProgramCache | None:
    """The cache on disk. If none can be opened: None, and one warning."""
    directory = config.cache_directory()
    reason = ""
    try:
        from cuda.core.utils import FileStreamProgramCache
    except Exception as error:  # a broken installation raises anything
        reason = f"cuda-core cannot be imported ({type(error).__name__}: {error}); install cuda-core"
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        reason = reason or _danger(directory)
        if not reason:
            return FileStreamProgramCache(directory, max_size_bytes=SIZE_LIMIT)
    except OSError as error:
        reason = f"{directory}: {error.strerror or error}"
    warnings.warn(f"xpops: kernels are not kept on disk: {reason}", stacklevel=2)
    return None


def _danger(directory: Path) -> str:
    """Why kernels in `directory` cannot be trusted: another user owns it or can write to it. Empty if it is safe.

    If no other user can enter `directory`, the folders of entries in it are safe. Otherwise check them, too.
    """
    if not hasattr(os, "geteuid"):
        return ""
    folders = [directory]
    if directory.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH):
        folders += [*directory.glob("entries"), *directory.glob("entries/*/")]
    for path in folders:
        found = path.stat()
        if found.st_uid not in (os.geteuid(), 0) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return (
                f"{path} belongs to user {found.st_uid} and has mode {stat.S_IMODE(found.st_mode):04o}; accepted: a "
                f"directory that only user {os.geteuid()} can write (chmod 700 {directory})"
            )
    return ""


def _read(key: bytes) -> bytes | None:
    """The entry; None if it is missing, damaged or unreadable."""
    store = disk()
    entry: bytes | None = None
    if store is not None:
        with suppress(OSError):
            entry = store.get(key)
    if entry is None or sha256(entry[:-_DIGEST_BYTES]).digest() != entry[-_DIGEST_BYTES:]:
        return None
    return entry[:-_DIGEST_BYTES]


def _write(key: bytes, cubin: bytes) -> None:
    store = disk()
    if store is not None:
        try:
            store[key] = cubin + sha256(cubin).digest()
        except OSError as error:
            warnings.warn(f"xpops: a kernel could not be kept on disk: {error.strerror or error}", stacklevel=2)


def cubin_for(
    name: str, source: str, capability: int, options: tuple[str, ...] = (), expressions: tuple[str, ...] = ()
) -> bytes:
    """Load the cubin of `source` from the disk, or compile it and store it there; see `compile_cubin`.

    A source that may read headers without naming them is compiled in every process.
    """
    headers = headers_of(source, options)
    key = key_of(source, headers, capability, options, expressions)

    def compiled() -> bytes:
        return _compiled(name, source, capability, options, expressions, headers, key)

    return (_read(key) if headers.complete else None) or compiler.background.run(key, compiled)


def begin_cubin(name: str, source: str, capability: int) -> None:
    """Begin to compile what `cubin_for` will be asked for, which finds it under way or on the disk.

    Errors are raised by `cubin_for`. Without a disk nothing begins, since the cubin could be lost.
    """
    headers = headers_of(source, ())
    key = key_of(source, headers, capability)
    if headers.complete and disk() is not None and _read(key) is None:
        compiler.background.begin(key, lambda: _compiled(name, source, capability, (), (), headers, key))


def _compiled(
    name: str,
    source: str,
    capability: int,
    options: tuple[str, ...],
    expressions: tuple[str, ...],
    headers: Headers,
    key: bytes,
) -> bytes:
    """The cubin of `source`, compiled and stored on the disk."""
    global compilations
    ended = _read(key) if headers.complete else None  # by a task that ended after the caller looked
    if ended is not None:
        return ended
    cubin = compile_cubin(name, source, capability, options, expressions)
    with _count_lock:
        compilations += 1
    if headers.complete:
        _write(key, cubin)
    return cubin


class Once:
    """A dictionary of computed values: the first thread that asks computes the value, and other threads wait for it."""

    def __init__(self) -> None:
        self._values: dict[object, object] = {}
        self._locks: dict[object, threading.Lock] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def get(self, key: object, make: Callable[[], T]) -> T:
        """The value of `key`; computed by `make` if it is missing. If `make` raises, nothing is stored."""
        if key not in self._values:
            with self._lock:
                lock = self._locks.setdefault(key, threading.Lock())
            with lock:
                if key not in self._values:
                    self._values[key] = make()
        return self._values[key]  # type: ignore[return-value]
