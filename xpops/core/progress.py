"""A message on the terminal when an operation is slow."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 2.0


@contextmanager
def tell_if_slow(text: str) -> Iterator[None]:
    """Print `text` to stderr if the body takes more than two seconds; only on a terminal."""
    if sys.stderr is None or sys.stderr.closed or not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(PATIENCE, print, (text,), {"file": sys.stderr, "flush": True})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
