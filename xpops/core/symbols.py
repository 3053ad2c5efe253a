"""Numbers that a compiler knows by a symbol: they compute like numbers, and have a value only when the program runs."""

from __future__ import annotations

from operator import index
from typing import Any

from xpops.core.promotion import SCALAR_TYPES

# Class of symbolic numbers -> the Python type that they stand for. A framework adds its own.
kinds: dict[type, type] = {}


def scalar_type(x: Any) -> type | None:
    """The one of Python's scalar types that a number or a symbol has; None if `x` is neither.

    Examples
    --------
    >>> scalar_type(True), scalar_type(1.5), scalar_type("1")
    (<class 'bool'>, <class 'float'>, None)
    """
    for kind in SCALAR_TYPES:
        if isinstance(x, kind):
            return kind
    return kinds.get(type(x))


def integer(x: Any) -> Any:
    """An integer, or its symbol. TypeError if `x` is none.

    Examples
    --------
    >>> import numpy as np
    >>> integer(np.int8(3))
    3
    """
    return x if kinds.get(type(x)) is int else index(x)
