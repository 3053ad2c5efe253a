"""Forgets the plans that the package keeps, so that what a test runs does not depend on the tests before it."""

from __future__ import annotations

import gc
from functools import cache
from typing import Any


def forget_plans() -> None:
    """Empty every cache of plans that there was at the first call."""
    for each in _caches():
        each.clear()


@cache
def _caches() -> list[dict[Any, Any]]:
    from xpops.plan.cache import BoundedDict

    # Not isinstance: it asks lazy objects of other libraries for their class, which wakes or warns.
    return [each for each in gc.get_objects() if issubclass(type(each), BoundedDict)]
