"""Faults that kernels report: a bad index or matrix. The host checks for them when it waits for the device anyway."""

from __future__ import annotations

import threading
from ctypes import c_int64
from itertools import count
from typing import Protocol

from xpops.core import config
from xpops.core.devices import Device

# As in ``native/xpops/kernels/gather/gather.cuh`` and ``index/targets.cuh``: the low bits of a report are the index, or
# the number of the matrix; the bits above them are the code.
REPORT_BITS = 48
_CODES = 2**15 - 1


class Words(Protocol):
    """An allocator of 8-byte words that kernels write and the host reads."""

    def take(self) -> int:
        """The address of a new word."""


# The type and the text of an error; the reported number replaces "{}".
_Meaning = tuple[type[Exception], str]


class Faults:
    """The last fault on one device, in a word that kernels write and the host reads.

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
        self._codes: dict[_Meaning, int] = {}
        self._meanings: dict[int, _Meaning] = {}
        self._numbers = count()

    @property
    def address(self) -> int:
        """The address of the word where kernels write their reports."""
        with self._lock:
            if self._word is None:
                self._address = self._words.take()
                self._word = c_int64.from_address(self._address)
                self._word.value = 0
        return self._address

    def of_index(self, name: str, length: int, low: int | None = None) -> int:
        """The code for indices called `name`; valid ones are from `low`, by default ``-length``, to ``length - 1``."""
        return self.code(IndexError, f"{name} holds {{}}; accepted: {-length if low is None else low} to {length - 1}")

    def code(self, error: type[Exception], text: str) -> int:
        """The code of an error, shifted to its bits in a report.

        Codes are reused after 32767 different errors: a kernel that still reports an old code raises the wrong error.
        """
        with self._lock:
            meaning = error, text
            number = self._codes.get(meaning)
            if number is None:
                number = next(self._numbers) % _CODES + 1
                self._codes.pop(self._meanings.get(number, meaning), None)
                self._codes[meaning], self._meanings[number] = number, meaning
        return number << REPORT_BITS

    def check(self) -> None:
        """Raise the error that kernels have reported. The caller has waited for the device.

        Raises
        ------
        IndexError, LinAlgError
        """
        if self._word is None or not self._word.value:
            return
        with self._lock:
            report, self._word.value = self._word.value, 0
            if not report:  # another thread raises it
                return
            error, text = self._meanings[report >> REPORT_BITS]
        number = ((report & (1 << REPORT_BITS) - 1) ^ 1 << REPORT_BITS - 1) - (1 << REPORT_BITS - 1)
        when = "" if config.debug else f" ({self._device} found it in an earlier call; XPOPS_DEBUG=1 shows which)"
        raise error(text.replace("{}", str(number)) + when)
