"""What selections demand of their operands."""

from __future__ import annotations


def require_count(count: int, rows: int) -> None:
    """Refuse values to assign that are not one for each place.

    Raises
    ------
    ValueError
    """
    if count != rows:
        raise ValueError(f"__setitem__: the mask selects {count}, but value has {rows} along its first axis")
