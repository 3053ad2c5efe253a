"""Events that a test can forbid: copies of arrays, and waits for the GPU (`xpops.testing`).

Code that is about to copy or to wait says so: ``if copies.is_open: copies.report("reshape: ...")``. Without an open
block this reads one attribute.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Guard:
    """One kind of event.

    Attributes
    ----------
    is_open : int
        The number of blocks of this process that forbid the event, in all threads.
    """

    def __init__(self, kind: str) -> None:
        self.is_open = 0
        self._lock = threading.Lock()
        # What the innermost block of this thread or task has seen.
        self._seen: ContextVar[list[str] | None] = ContextVar(f"xpops_{kind}", default=None)

    def report(self, event: str) -> None:
        """Raise AssertionError if a block of this thread or task forbids the event."""
        seen = self._seen.get()
        if seen is not None:
            seen.append(event)
            raise AssertionError(event)

    @contextmanager
    def forbid(self) -> Iterator[None]:
        """A block of this thread or task in which the event raises; at its end too, if the code caught the error."""
        token = self._seen.set(seen := list[str]())
        with self._lock:
            self.is_open += 1
        try:
            yield
        finally:
            with self._lock:
                self.is_open -= 1
            self._seen.reset(token)
        if seen:
            raise AssertionError(seen[0])


copies, waits = Guard("copies"), Guard("waits")
