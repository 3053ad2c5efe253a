"""The Array object, and the few functions that make arrays from memory, views and hosts."""

from xpops.arrays.array import (
    Array,
    adopt_foreign,
    contiguous_copy,
    from_host,
    new_array,
    view_of,
)
from xpops.arrays.host import allow_host_copies

__all__ = [
    "Array",
    "adopt_foreign",
    "allow_host_copies",
    "contiguous_copy",
    "from_host",
    "new_array",
    "view_of",
]
