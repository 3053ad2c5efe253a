"""Empties the caches of plans, so that the lines that a test runs do not depend on earlier tests."""

from __future__ import annotations

import gc
from functools import cache
from typing import Any


def forget_plans() -> None:
    """Empty every cache of plans that existed at the first call."""
    for each in _caches():
        each.clear()


@cache
def _caches() -> list[dict[Any, Any]]:
    from xpops.plan.cache import BoundedDict

    # Not isinstance: it reads the class of lazy objects of other libraries, which loads them or warns.
    return [each for each in gc.get_objects() if issubclass(type(each), BoundedDict)]
