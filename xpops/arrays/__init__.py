"""The Array object, and functions that make arrays: from new memory, foreign memory, views and ndarrays."""

from xpops.arrays.array import (
    Array,
    adopt_foreign,
    contiguous_copy,
    from_host,
    new_array,
)
from xpops.arrays.exchange import offer_exchange
from xpops.arrays.host import allow_host_copies
from xpops.arrays.regions import view_of

__all__ = [
    "Array",
    "adopt_foreign",
    "allow_host_copies",
    "contiguous_copy",
    "from_host",
    "new_array",
    "view_of",
]

offer_exchange()
