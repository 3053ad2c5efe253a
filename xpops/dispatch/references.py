"""The arrays that a function uses without being passed them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch.tensor import Tensor
from xpops.frameworks.registry import adapter_of

_LEAVES = (*SCALAR_TYPES, str, bytes, type, type(None), ModuleType)


def referenced_arrays(function: Callable[..., Any]) -> list[Any]:
    """The arrays, of any framework, in the closure, the defaults and the globals that a function uses.

    Also those in tuples, lists, dicts and attributes found there, and in other functions of the same package.

    Examples
    --------
    >>> scale = xp.asarray([2.0])
    >>> referenced_arrays(lambda x: x * scale)
    [Array([2.], dtype=float64, device='cpu')]
    """
    package = _package_of(function)
    found: list[Any] = []
    seen: dict[int, Any] = {}  # keeps the objects, so that each id stays that of one object
    todo: list[Any] = [function]
    while todo:
        each = todo.pop()
        if isinstance(each, _LEAVES) or id(each) in seen:
            continue
        seen[id(each)] = each
        if isinstance(each, Tensor) or adapter_of(type(each)) is not None:
            found.append(each)
        else:
            todo += _held_by(each, package)
    return found


def _package_of(function: Callable[..., Any]) -> str:
    """The package in which a function was written; empty if it has no module, such as one made by exec."""
    module = getattr(function, "__module__", None)
    return module.partition(".")[0] if isinstance(module, str) else ""


def _held_by(x: Any, package: str) -> Iterable[Any]:
    """The objects that `x` refers to."""
    if isinstance(x, FunctionType):
        return _held_by_function(x) if _package_of(x) == package else ()
    if isinstance(x, MethodType):
        return x.__self__, x.__func__
    if isinstance(x, partial):
        return x.func, *x.args, *x.keywords.values()
    if isinstance(x, dict):
        return x.values()
    if isinstance(x, (tuple, list, set, frozenset)):
        return x
    attributes = getattr(x, "__dict__", None)
    if isinstance(attributes, dict) and "__wrapped__" in attributes:  # such as a graph: only its function counts
        return (attributes["__wrapped__"],)
    inherited = [vars(cls).values() for cls in type(x).__mro__ if cls.__module__.partition(".")[0] == package]
    return chain(attributes.values() if isinstance(attributes, dict) else (), *inherited)


def _held_by_function(function: FunctionType) -> Iterable[Any]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # the variable is not assigned yet
            continue
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from (function.__globals__[name] for name in _names(function.__code__) if name in function.__globals__)


def _names(code: CodeType) -> set[str]:
    """The names of globals and attributes in a function's code, and in that of functions defined in it."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names}.union(*map(_names, inner))
