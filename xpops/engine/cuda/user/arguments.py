"""The arguments of a user's kernel: parse the parameter types from its source, and convert values for the driver."""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.promotion import SCALAR_TYPES
from xpops.engine.cuda.user.accessors import Accessor, accessor_of
from xpops.engine.cuda.user.templates import split_default, template_of
from xpops.plan.text import split, without_comments

TYPES: dict[str, DType] = {
    **{info.c_type: dtype for dtype, info in dt.INFO.items()},
    **{f"{dtype.name}_t": dtype for dtype in (*dt.SIGNED_INTEGERS, *dt.UNSIGNED_INTEGERS)},
    "char": dt.int8,
    "signed char": dt.int8,
    "unsigned char": dt.uint8,
    "short": dt.int16,
    "unsigned short": dt.uint16,
    "int": dt.int32,
    "unsigned": dt.uint32,
    "unsigned int": dt.uint32,
    "long": dt.int64,
    "unsigned long": dt.uint64,
    "long long": dt.int64,
    "unsigned long long": dt.uint64,
    "size_t": dt.uint64,
    "ptrdiff_t": dt.int64,
    "uintptr_t": dt.uint64,
    "intptr_t": dt.int64,
    "half": dt.float16,
    "__half": dt.float16,
    "nv_bfloat16": dt.bfloat16,
    "__nv_bfloat16": dt.bfloat16,
}
_QUALIFIER = re.compile(r"\b(?:(?:const|volatile|__restrict__|__restrict|__grid_constant__)\b|(?:xpops|std)::)")
_INTEGER = ("signed", "unsigned", "char", "short", "int", "long")
_KINDS = {"b": (bool,), "i": (bool, int), "u": (bool, int), "f": (bool, int, float), "c": SCALAR_TYPES}


class Parameter(NamedTuple):
    """One parameter of a kernel.

    Attributes
    ----------
    name : str
    pointer, const : bool
        Whether it is a pointer, and whether it is a pointer to const.
    dtype : numpy.dtype or None
        The dtype of the parameter, or of the elements that it points to. None if the type is not in `TYPES`.
    template : str
        The template parameter that this type is; empty if it is none.
    accessor : Accessor or None
        The accessor, if the parameter is one. It counts as a pointer.
    """

    name: str
    pointer: bool
    const: bool
    dtype: DType | None
    template: str = ""
    accessor: Accessor | None = None


def parameters_of(source: str, name: str) -> tuple[Parameter, ...] | None:
    """Parse the parameters of a kernel from its source; None if the source has no such kernel.

    Examples
    --------
    >>> for each in parameters_of("__global__ void scale(const float* x, double* y, unsigned int n) {}", "scale"):
    ...     print(each.name, each.pointer, each.const, each.dtype)
    x True True float32
    y True False float64
    n False False uint32
    """
    word = re.escape(name.partition("<")[0].rpartition("::")[2].strip())
    code = without_comments(source)
    names = [each.name for each in template_of(code, name.partition("<")[0])]
    given = split(name.partition("<")[2].rpartition(">")[0])
    template = {each: TYPES.get(_plain(text)) for each, text in itertools.zip_longest(names, given, fillvalue="")}
    found = None
    for each in re.finditer(rf"\b__global__\b[^;{{}}]*?\b{word}\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", code):
        if re.search(r"[(&]\s*[&*]|\.\.\.", each[1]):  # references to arrays, functions, packs
            return None
        parsed = tuple(_parameter(text, template) for text in split(each[1]) if text != "void")
        if found is not None and [every[1:] for every in found] != [every[1:] for every in parsed]:
            return None  # of several namespaces, of overloads, or in branches of the preprocessor
        found = parsed
    return found


def _plain(text: str) -> str:
    """A type without qualifiers and namespace, and the words of a built-in integer in the usual order."""
    words = _QUALIFIER.sub(" ", text).split()
    count = next((i for i, word in enumerate(words) if word not in _INTEGER), len(words))
    first, rest = words[:count], words[count:]
    if len(first) > 1 or first == ["signed"]:
        sign = [word for word in first if word == "unsigned" or (word == "signed" and "char" in first)]
        size = [word for word in first if word not in ("signed", "unsigned", "int")]
        first = [*sign, *size] if size else [*sign, "int"]
    return " ".join((*first, *rest))


def _parameter(text: str, template: Mapping[str, DType | None]) -> Parameter:
    """Parse a parameter. `template` has the parameters of the kernel's template, with their dtypes as far as known."""
    found = accessor_of(text)
    if found is not None:
        kind = _plain(found.element)
        letter = kind if kind in template else ""
        return Parameter(found.name, True, found.const, template.get(kind, TYPES.get(kind)), letter, found.accessor)
    text = split_default(text)
    before, star, _ = text.partition("*")
    words = _plain(text.replace("*", " "))
    kind, _, name = words.rpartition(" ")
    if words in TYPES or not kind:  # it has no name
        kind, name = words, ""
    plain = text.count("*") < 2 and "&" not in text and "[" not in text
    const = re.search(r"\bconst\b", before) is not None
    if not plain:
        return Parameter(name, bool(star), const, None)
    letter = kind if kind in template else ""
    return Parameter(name, bool(star), const, template.get(kind, TYPES.get(kind)), letter)


def check_array(dtype: DType, parameter: Parameter | None, what: str) -> None:
    """Raise TypeError if the parameter does not point to `dtype`, or to unsigned integers of the same size."""
    if parameter is None:
        return
    if not parameter.pointer and parameter.dtype is not None:
        raise TypeError(f"{what} is an array; the kernel takes {parameter.dtype}; accepted: a scalar")
    wanted = parameter.dtype
    bits = wanted in dt.UNSIGNED_INTEGERS and wanted.itemsize == dtype.itemsize
    if wanted is not None and dtype != wanted and not bits:
        raise TypeError(f"{what} is an array of {dtype}; accepted: {wanted}, as the kernel has it")


def scalar(value: Any, parameter: Parameter | None, what: str) -> Any:
    """Convert the argument for a parameter that is not an array to a ctypes value."""
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array, ctypes._SimpleCData)):
        return value
    if isinstance(value, bytes):
        return (ctypes.c_char * len(value)).from_buffer_copy(value)
    if parameter is not None and parameter.pointer:
        raise TypeError(f"{what} is {value!r}; the kernel takes a pointer; accepted: an array")
    if not isinstance(value, np.generic):
        value = _converted(value, parameter, what)
    elif parameter is not None and parameter.dtype not in (None, value.dtype):
        raise TypeError(f"{what} is a NumPy {value.dtype}; accepted: {parameter.dtype}, as the kernel has it")
    return (ctypes.c_char * value.itemsize).from_buffer_copy(value.tobytes())


def _converted(value: Any, parameter: Parameter | None, what: str) -> np.generic:
    """Convert a Python scalar to the parameter's dtype in the source."""
    if parameter is None or parameter.dtype is None:
        raise TypeError(
            f"{what} is a Python {type(value).__name__}, and the source does not say its type; accepted: a NumPy "
            "scalar, a ctypes value or bytes"
        )
    dtype = parameter.dtype
    kind = "f" if dtype in (*dt.REAL_FLOATS, *dt.FLOAT8) else dtype.kind
    if not isinstance(value, _KINDS[kind]):
        raise TypeError(f"{what} is a Python {type(value).__name__}; accepted: {dtype}, as the kernel has it")
    try:
        made = np.array(value).astype(dtype) if kind in "bfc" else np.array(value, dtype)
    except OverflowError:
        raise OverflowError(f"{what} is {value}; accepted: what {dtype} holds, as the kernel has it") from None
    return cast("np.generic", made[()])
