"""What tests of code on xpops need: arrays of every kind, comparisons, and blocks in which nothing copies or waits.

`xpops.testing.strategies` needs hypothesis. It is imported at first use.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from xpops.core.lazy import import_later as _import_later
from xpops.testing.blocks import assert_no_copies, assert_no_sync
from xpops.testing.comparison import assert_allclose, ulp_error
from xpops.testing.framework import Framework
from xpops.testing.frameworks import frameworks_on, to_numpy
from xpops.testing.layouts import LAYOUTS, View
from xpops.testing.values import draw_values, generator, random_bits, special_values

if _TYPE_CHECKING:
    from xpops.testing import strategies

__all__ = [
    "LAYOUTS",
    "Framework",
    "View",
    "assert_allclose",
    "assert_no_copies",
    "assert_no_sync",
    "draw_values",
    "frameworks_on",
    "generator",
    "random_bits",
    "special_values",
    "strategies",
    "to_numpy",
    "ulp_error",
]

if not _TYPE_CHECKING:
    __getattr__, __dir__ = _import_later(__name__, __all__)
