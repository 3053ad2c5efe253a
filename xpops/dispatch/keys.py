"""The key under which a call is remembered: everything that its result depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core.compiled import compiled


class Fixed(tuple[Any, ...]):
    """A tuple of parameters that xpops makes, not the caller: the types of its elements need not be part of a key."""

    __slots__ = ()


def _way_of(plan: Any, parameters: tuple[Any, ...]) -> tuple[Any, ...]:
    """The first element of the key of a call: the plan with its parameters.

    The types of parameters are part of it: 1, 1.0 and True are equal, but a function may accept only some of them.

    Parameters
    ----------
    plan : hashable
        The plan function.
    parameters : tuple of hashable

    Raises
    ------
    TypeError
        If a parameter is not hashable: not here, but when the key is hashed.

    Examples
    --------
    >>> way_of("sum", (1,)) == way_of("sum", (1.0,))
    False
    >>> way_of("sum", ((0, 1),)) == way_of("sum", ((False, True),))
    False
    """
    return plan, parameters, *map(_kind, parameters)


def is_constant(parameter: object) -> bool:
    """Whether nobody can change a hashable parameter. Torch hashes 0-d tensors by identity, but they are integers too.

    Examples
    --------
    >>> is_constant((0, None, np.int8(1), "fro"))
    True
    """
    if isinstance(parameter, tuple):
        return isinstance(parameter, Fixed) or all(map(is_constant, parameter))
    if isinstance(parameter, list):  # torch's compiler passes lists that can be hashed
        return False
    return isinstance(parameter, (int, np.generic)) or not hasattr(parameter.__class__, "__index__")


def _kind(parameter: object) -> object:
    """The type of a parameter; the types of the elements of a tuple, a named one, too."""
    if isinstance(parameter, tuple) and not isinstance(parameter, Fixed):
        return tuple(map(_kind, parameter))
    return parameter.__class__


way_of = _way_of if compiled is None else compiled.way_of
