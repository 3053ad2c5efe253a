"""Configuration: the only reader of environment variables.

``XPOPS_DEFAULT_DEVICE``  the device of new arrays (default: the first CUDA device, else the CPU).
``XPOPS_ALLOW_HOST_COPIES``  ``1``: NumPy may copy arrays from a GPU to the host implicitly, in all threads.
``XPOPS_CACHE_DIR``       the directory of compiled kernels (default: ``$XDG_CACHE_HOME/xpops`` or ``~/.cache/xpops``;
                          for a user without a home directory ``$TMPDIR/xpops-<uid>``).
``XPOPS_PREPARE``         ``0``: import compiles nothing, not even with an empty cache.
``XPOPS_PURE``            ``1``: do without the compiled core.
``XPOPS_DEBUG``           ``1``: wait after every launch, so that a fault names the operator that caused it, and an
                          index out of range raises in its own call.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

default_device: str | None = os.environ.get("XPOPS_DEFAULT_DEVICE") or None
allow_host_copies: bool = os.environ.get("XPOPS_ALLOW_HOST_COPIES", "0") not in ("", "0")
pure: bool = os.environ.get("XPOPS_PURE", "0") not in ("", "0")
prepare: bool = os.environ.get("XPOPS_PREPARE", "1") != "0"
debug: bool = os.environ.get("XPOPS_DEBUG", "0") not in ("", "0")


def cache_directory() -> Path:
    """The directory of compiled kernels; it need not exist."""
    chosen = os.environ.get("XPOPS_CACHE_DIR")
    try:
        if chosen:
            return Path(chosen).expanduser()
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xpops"
    except RuntimeError:  # neither HOME nor the user database names a home directory
        # Not tempfile.gettempdir(): if no other directory is writable, it returns the current directory.
        directory = Path(os.environ.get("TMPDIR") or "/tmp") / f"xpops-{os.getuid()}"
        if chosen:
            warnings.warn(
                f"xpops: XPOPS_CACHE_DIR is {chosen!r}, which names no home directory; kernels go to {directory}",
                stacklevel=2,
            )
        return directory


def environment() -> dict[str, str]:
    """The environment, for a child process."""
    return dict(os.environ)


def set_default(name: str, value: str) -> None:
    """Set a variable that another library reads, unless the user has set it."""
    os.environ.setdefault(name, value)
