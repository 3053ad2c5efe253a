"""The Array object, and the few functions that make arrays from memory, views and hosts."""

from xpops.array.array import (
    Array,
    adopt_foreign,
    alias_host,
    allow_host_copies,
    cast,
    contiguous_copy,
    from_host,
    new_array,
    view_of,
)

__all__ = [
    "Array",
    "adopt_foreign",
    "alias_host",
    "allow_host_copies",
    "cast",
    "contiguous_copy",
    "from_host",
    "new_array",
    "view_of",
]
