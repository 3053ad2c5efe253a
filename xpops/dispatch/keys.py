"""The key under which a call is remembered: everything that its result depends on."""

from __future__ import annotations

from typing import Any


class Fixed(tuple[Any, ...]):
    """A tuple of parameters that xpops makes, not the caller: the types of its elements need not be part of a key."""

    __slots__ = ()


def call_key(way: Any, specs: tuple[Any, ...], parameters: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """The key of a call of `way`, an operator or a plan.

    `primitives.call_known` looks a call up. On the CPU it would add a tenth to the time of ``a + b`` (7.3 us instead of
    6.5). So elementwise calls, operators, `primitives.unary` and `call`, and ``x[i]`` have look-ups of their own.

    The types of parameters are part of the key: 1, 1.0 and True are equal, but a function may accept only some of them.

    Parameters
    ----------
    way : hashable
        The operator, or the plan function with its settings.
    specs : tuple of Layout or type
        The layouts of arrays, the types of scalars. Empty in keys of an inline cache, which checks the operands itself.
    parameters : tuple of hashable

    Raises
    ------
    TypeError
        If a parameter is not hashable: not here, but when the returned key is hashed.

    Examples
    --------
    >>> call_key("sum", (), (1,)) == call_key("sum", (), (1.0,))
    False
    >>> call_key("sum", (), ((0, 1),)) == call_key("sum", (), ((False, True),))
    False
    """
    kinds = [each.__class__ for each in parameters]
    return way, specs, parameters, *(_types_of(parameters) if tuple in kinds else kinds)


def _types_of(parameters: tuple[Any, ...]) -> list[Any]:
    """The types of the parameters; a tuple of types for a tuple."""
    return [tuple(_types_of(each)) if each.__class__ is tuple else each.__class__ for each in parameters]
