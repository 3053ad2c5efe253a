"""Indices that kernels found out of range, which the host learns of when it waits for the device anyway."""

from __future__ import annotations

import threading
from ctypes import c_int64
from itertools import count
from typing import Protocol

from xpops.core import config
from xpops.core.devices import Device

# As in ``native/xpops/kernels/gather.cuh``: a report is a code, above these bits, and the index.
REPORT_BITS = 48
_CODES = 2**15 - 1


class Words(Protocol):
    """Where 8 bytes come from that the host reads and kernels write."""

    def take(self) -> int:
        """Their address."""


class IndexFaults:
    """The last index out of range on one device, in a word that kernels write and the host reads.

    Parameters
    ----------
    words : HostWords
    device : Device
    """

    def __init__(self, words: Words, device: Device) -> None:
        self._words, self._device = words, device
        self._word: c_int64 | None = None
        self._address = 0
        self._lock = threading.Lock()
        self._codes: dict[tuple[str, int, int], int] = {}
        self._meanings: dict[int, tuple[str, int, int]] = {}
        self._numbers = count()

    @property
    def address(self) -> int:
        """Where kernels write their reports."""
        with self._lock:
            if self._word is None:
                self._address = self._words.take()
                self._word = c_int64.from_address(self._address)
                self._word.value = 0
        return self._address

    def code(self, name: str, length: int, low: int | None = None) -> int:
        """The bits of a report for the indices called `name` along an axis of `length`, by default from ``-length`` on.

        After some 32 thousand others they stand for something else: then a report says the wrong name.
        """
        with self._lock:
            meaning = name, -length if low is None else low, length
            number = self._codes.get(meaning)
            if number is None:
                number = next(self._numbers) % _CODES + 1
                self._codes.pop(self._meanings.get(number, meaning), None)
                self._codes[meaning], self._meanings[number] = number, meaning
        return number << REPORT_BITS

    def check(self) -> None:
        """Raise what kernels have reported; the device has been waited for.

        Raises
        ------
        IndexError
        """
        if self._word is None or not self._word.value:
            return
        with self._lock:
            report, self._word.value = self._word.value, 0
            if not report:  # another thread raises it
                return
            name, low, length = self._meanings[report >> REPORT_BITS]
        index = ((report & (1 << REPORT_BITS) - 1) ^ 1 << REPORT_BITS - 1) - (1 << REPORT_BITS - 1)
        when = "" if config.debug else f" ({self._device} found it in an earlier call; XPOPS_DEBUG=1 shows which)"
        raise IndexError(f"{name} holds {index}; accepted: {low} to {length - 1}{when}")
