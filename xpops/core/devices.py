"""Devices: strings with a type and an index."""

from __future__ import annotations

import re
from typing import Any, ClassVar


class Device(str):
    """A device that holds arrays: ``"cpu"`` or ``"cuda:N"``.

    A device *is* its string, so it hashes and compares like it, and every function takes either.

    Parameters
    ----------
    name : str or device
        ``"cpu"``, ``"cuda"`` (the same as ``"cuda:0"``) or ``"cuda:N"``; or the device object of torch, JAX or cupy.

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

    def __new__(cls, name: object) -> Device:
        known = name if isinstance(name, Device) else cls._known.get(name) if isinstance(name, str) else None
        if known is not None:
            return known
        plain = name if isinstance(name, str) else _name_of(name)
        match = re.fullmatch(r"(cpu)|cuda(?::(\d+))?", plain)
        if match is None:
            raise ValueError(f"device: {name!r} is no device; accepted: 'cpu', 'cuda', 'cuda:N'")
        index = int(match[2] or 0)
        full = "cpu" if match[1] else f"cuda:{index}"
        self = cls._known.get(full)
        if self is None:
            self = super().__new__(cls, full)
            self.type, self.index = ("cpu" if match[1] else "cuda"), index
            cls._known[full] = self
        cls._known[plain] = self
        return self

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return Device, (str(self),)


def _name_of(device: Any) -> str:
    """Our name of another library's device; "" if it has none."""
    library = type(device).__module__.partition(".")[0]
    if library == "torch":
        return str(device)
    if library == "cupy":
        return f"cuda:{device.id}"
    if library in ("jax", "jaxlib"):
        platform = getattr(device, "platform", "")
        return {"cpu": "cpu", "gpu": f"cuda:{getattr(device, 'local_hardware_id', 0)}"}.get(platform, "")
    return ""


CPU = Device("cpu")


def _nowhere() -> Device:
    """A device that no user can name."""
    found = str.__new__(Device, "nowhere")
    found.type, found.index = "nowhere", 0
    return found


# The device of arrays without memory (`xpops.engine.shapes`).
NOWHERE = _nowhere()
