"""Modules that are imported at first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from xpops.core.elsewhere import FUNCTIONS, refuse


def import_later(package: str, names: list[str]) -> tuple[Callable[[str], ModuleType], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    names : list of str
        All public names. A name without an attribute is a module: it is imported when it is first read.

    Examples
    --------
    >>> get, _ = import_later("xpops", ["fft"])
    >>> get("fft").__name__
    'xpops.fft'
    """

    def get(name: str) -> ModuleType:
        if name not in names:
            refuse(package, name, FUNCTIONS)
        return import_module(f"{package}.{name}")

    return get, names.copy
