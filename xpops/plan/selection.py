"""Checks of the operands of selections."""

from __future__ import annotations


def require_count(count: int, rows: int) -> None:
    """Require one value to assign for each place that a mask selects.

    Raises
    ------
    ValueError
    """
    if count != rows:
        raise ValueError(f"__setitem__: the mask selects {count}, but value has {rows} along its first axis")
