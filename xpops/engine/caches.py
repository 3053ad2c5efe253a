"""The caches of other libraries on the devices: freed when a device runs out of memory."""

from __future__ import annotations

from collections.abc import Callable

# Functions that make other libraries give their cached memory back to the devices.
other_caches: list[Callable[[], None]] = []


def release_other_caches() -> None:
    """Make other libraries give their cached memory back to the devices."""
    for release in other_caches:
        release()
