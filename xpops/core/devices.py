"""Devices: strings with a type and an index."""

from __future__ import annotations

import re
from typing import ClassVar


class Device(str):
    """A device that holds arrays: ``"cpu"`` or ``"cuda:N"``.

    A device *is* its string, so it hashes and compares like it, and every function takes either.

    Parameters
    ----------
    name : str
        ``"cpu"``, ``"cuda"`` (the same as ``"cuda:0"``) or ``"cuda:N"``.

    Raises
    ------
    ValueError
        If the name has another form.

    Examples
    --------
    >>> Device("cuda") == "cuda:0", Device("cuda:1").index
    (True, 1)
    """

    __slots__ = ("index", "type")
    _known: ClassVar[dict[str, Device]] = {}
    type: str
    index: int  # type: ignore[assignment]  # a device is no sequence of letters to search

    def __new__(cls, name: str) -> Device:
        known = name if isinstance(name, Device) else cls._known.get(name) if isinstance(name, str) else None
        if known is not None:
            return known
        match = re.fullmatch(r"(cpu)|cuda(?::(\d+))?", name) if isinstance(name, str) else None
        if match is None:
            raise ValueError(f"device: {name!r} is no device; accepted: 'cpu', 'cuda', 'cuda:N'")
        index = int(match[2] or 0)
        full = "cpu" if match[1] else f"cuda:{index}"
        self = cls._known.get(full)
        if self is None:
            self = super().__new__(cls, full)
            self.type, self.index = ("cpu" if match[1] else "cuda"), index
            cls._known[full] = self
        cls._known[name] = self
        return self

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Device, (str(self),)


CPU = Device("cpu")


def _nowhere() -> Device:
    """A device that no user can name."""
    found = str.__new__(Device, "nowhere")
    found.type, found.index = "nowhere", 0
    return found


# The device of arrays without memory (`xpops.engine.shapes`).
NOWHERE = _nowhere()
