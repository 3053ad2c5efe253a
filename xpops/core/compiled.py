"""The compiled core of the steady state (``native/dispatch``), if it was built. Without it, calls take longer."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from xpops.core import config


def _load() -> ModuleType | None:
    """The module; None if it was not built or is not wanted, or if Python has no global lock: the core relies on it."""
    if config.pure or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    try:
        return import_module("xpops.core._compiled")
    except ImportError:
        return None


compiled = _load()
