"""Configuration: the only reader of environment variables.

``XPOPS_DEFAULT_DEVICE``  where new arrays go (default: the first CUDA device, else the CPU).
``XPOPS_CACHE_DIR``       where compiled kernels are kept (default: ``$XDG_CACHE_HOME/xpops`` or ``~/.cache/xpops``).
``XPOPS_PREPARE``         ``0``: import compiles nothing, not even with an empty cache.
``XPOPS_DEBUG``           ``1``: wait after every launch, so that a fault names the operator that made it, and an index
                          out of range raises in the call that it is for.
"""

from __future__ import annotations

import os
from pathlib import Path

default_device: str | None = os.environ.get("XPOPS_DEFAULT_DEVICE") or None
prepare: bool = os.environ.get("XPOPS_PREPARE", "1") != "0"
debug: bool = os.environ.get("XPOPS_DEBUG", "0") not in ("", "0")


def cache_directory() -> Path:
    """The directory of compiled kernels; it need not exist."""
    chosen = os.environ.get("XPOPS_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xpops"


def environment() -> dict[str, str]:
    """The environment, for a child process."""
    return dict(os.environ)
