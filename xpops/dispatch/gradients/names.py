"""Names of recorded calls: texts that a program of a compiler contains, and that another process can read.

A name is JSON. Plan functions and rows are in it by name, their parameters by value. What has no name, such as a fused
function within another function, gets a token that only this process knows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from importlib import import_module
from operator import index
from secrets import token_hex
from types import CodeType
from typing import Any

import numpy as np

from xpops.core.dtypes import as_dtype
from xpops.dispatch.keys import Fixed
from xpops.ops.activation import ACTIVATIONS, BACKWARD
from xpops.ops.elementwise import OPERATORS
from xpops.ops.fft import TRANSFORMS
from xpops.ops.reduction import HOST_REDUCTIONS, NUMBER_POSITIONS, REDUCTIONS
from xpops.ops.scan import SCANS
from xpops.ops.softmax import LOG_SOFTMAX, SOFTMAX

_ROWS: dict[str, dict[str, Any]] = {
    "operator": OPERATORS,
    "activation": ACTIVATIONS,
    "backward": BACKWARD,
    "reduction": REDUCTIONS,
    "host reduction": HOST_REDUCTIONS,
    "number position": NUMBER_POSITIONS,
    "scan": SCANS,
    "transform": TRANSFORMS,
    "softmax": {row.name: row for row in (SOFTMAX, LOG_SOFTMAX)},
}
_PLACES = {id(row): (table, name) for table, rows in _ROWS.items() for name, row in rows.items()}
# Token -> what has no name. A program that contains the token may live as long as the process.
_local: dict[str, Any] = {}
_tokens: dict[int, str] = {}


def encode(value: Any) -> str:
    """The name of a call from the values that make it.

    Examples
    --------
    >>> encode(("sum", 1, (0, None), np.dtype("float32")))
    '{"tuple": ["sum", 1, {"tuple": [0, null]}, {"dtype": "float32"}]}'
    """
    return json.dumps(_to_json(value))


def decode(name: str) -> Any:
    """The values that a name contains.

    Raises
    ------
    ValueError
        If it names something that this process does not have.

    Examples
    --------
    >>> decode('{"tuple": ["sum", {"complex": [0.0, 1.0]}]}')
    ('sum', 1j)
    """
    return _from_json(json.loads(name))


def _to_json(x: Any) -> Any:
    if x is None or x.__class__ in (bool, int, float, str):
        return x
    if isinstance(x, Fixed):
        return {"fixed": list(map(_to_json, x))}
    if isinstance(x, tuple):
        return {"tuple": list(map(_to_json, x))}
    if isinstance(x, list):
        return list(map(_to_json, x))
    if isinstance(x, dict):
        return {"dict": {name: _to_json(each) for name, each in x.items()}}
    if isinstance(x, complex):
        return {"complex": [x.real, x.imag]}
    if isinstance(x, bytes):
        return {"bytes": x.hex()}
    if isinstance(x, np.dtype):
        return {"dtype": x.name}
    if isinstance(x, np.generic):
        return {"scalar": [x.dtype.name, x.tobytes().hex()]}
    if hasattr(type(x), "__index__"):  # a symbolic size of a compiler
        return index(x)
    if id(x) in _PLACES:
        return {"row": list(_PLACES[id(x)])}
    return _reference(x)


def _from_json(x: Any) -> Any:
    if isinstance(x, list):
        return list(map(_from_json, x))
    if not isinstance(x, dict):
        return x
    ((kind, given),) = x.items()
    return _KINDS[kind](given)


def _scalar(given: list[str]) -> np.generic:
    found: np.generic = np.frombuffer(bytes.fromhex(given[1]), as_dtype(given[0]))[0]
    return found


def _reference(x: Any) -> dict[str, Any]:
    """An object by its place in a module, or by a token."""
    owner = _fused_of(x)
    if owner is not None and owner.member_of is not None:
        return {"member": list(map(_to_json, owner.member_of))}
    place = _place_of(x if owner is None else owner)
    if place is None:
        token = _tokens.get(id(x))
        if token is None:
            token = _tokens[id(x)] = token_hex(8)
            _local[token] = x  # which also keeps the id
        return {"local": token}
    return {"object": place} if owner is None else {"fused": [place, _digest(owner)]}


def _fused_of(plan: Any) -> Any:
    """The fused function whose plan function this is; None if it is none."""
    owner = plan.args[0] if isinstance(plan, partial) else None
    return owner if getattr(owner, "_plan", None) is plan else None


def _place_of(x: Any) -> str | None:
    """The module of an object and its name there."""
    module = getattr(x, "__module__", None)
    for name, each in vars(sys.modules.get(module or "", object)).items():
        if each is x:
            return f"{module}:{name}"
    return None


def _digest(fused: Any) -> str:
    """A digest of the code of a fused function, so that another version of it has another name."""
    return sha256(repr(_parts(getattr(fused.function, "__code__", None))).encode()).hexdigest()[:16]


def _parts(code: Any) -> Any:
    """What makes a code object: its instructions, names and constants, those of functions within it too."""
    if not isinstance(code, CodeType):
        return code
    return code.co_code, code.co_names, tuple(map(_parts, code.co_consts))


def _local_object(token: str) -> Any:
    if token not in _local:
        raise ValueError(
            "the program calls a function of the process that made it, which this process does not have; accepted in "
            "saved programs: public functions, and fused functions that are variables of a module"
        )
    return _local[token]


def _object(place: str) -> Any:
    """The object at a place: one of xpops."""
    module, _, name = place.partition(":")
    if module.partition(".")[0] != "xpops":
        raise ValueError(f"{place} is not a part of xpops; accepted: names of calls that xpops made")
    return getattr(import_module(module), name)


def _fused(given: list[str]) -> Any:
    """The plan function of a fused function that this process has imported."""
    (place, digest) = given
    module, _, name = place.partition(":")
    found = getattr(sys.modules.get(module), name, None)
    if _fused_of(getattr(found, "_plan", None)) is None or _digest(found) != digest:
        raise ValueError(
            f"the program calls the fused function {name} of {module}, and this process has none or another one; "
            f"accepted: the program after `import {module}`"
        )
    return found._plan  # type: ignore[union-attr]


def _member(given: list[Any]) -> Any:
    """The plan function of a member of a family of functions."""
    family, *arguments = map(_from_json, given)
    return family.member(*arguments)._plan


_KINDS: dict[str, Callable[[Any], Any]] = {
    "fixed": lambda given: Fixed(map(_from_json, given)),
    "tuple": lambda given: tuple(map(_from_json, given)),
    "dict": lambda given: {name: _from_json(each) for name, each in given.items()},
    "complex": lambda given: complex(*given),
    "bytes": bytes.fromhex,
    "dtype": as_dtype,
    "scalar": _scalar,
    "row": lambda given: _ROWS[given[0]][given[1]],
    "local": _local_object,
    "object": _object,
    "fused": _fused,
    "member": _member,
}
