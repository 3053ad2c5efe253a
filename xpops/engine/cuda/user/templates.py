"""Kernels that are templates: parse their parameters, and spell and deduce their arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.plan.text import depth_of, split

# The types that need no header.
_BUILT_IN = {
    dt.bool: "bool",
    dt.int8: "signed char",
    dt.uint8: "unsigned char",
    dt.int16: "short",
    dt.uint16: "unsigned short",
    dt.int32: "int",
    dt.uint32: "unsigned int",
    dt.int64: "long long",
    dt.uint64: "unsigned long long",
    dt.float32: "float",
    dt.float64: "double",
}


class TemplateParameter(NamedTuple):
    """One parameter of a template: its name, and whether it has a default."""

    name: str
    optional: bool


def template_of(source: str, name: str) -> tuple[TemplateParameter, ...]:
    """The parameters of a kernel's template, in order. Empty if the kernel is not a template.

    Examples
    --------
    >>> for each in template_of("template <typename T, int N = 4> __global__ void fill(T* x, T value) {}", "fill"):
    ...     print(*each)
    T False
    N True
    >>> template_of("__global__ void fill(float* x) {}", "fill")
    ()
    """
    kernel = re.compile(rf"[^;{{}}]*\b__global__\b[^;{{}}]*?\b{re.escape(name.rpartition('::')[2])}\s*\(")
    for found in reversed(list(re.finditer(r"\btemplate\s*<", source))):
        ends = (each.end() for each in re.finditer(">", source[found.end() :]))
        end = next((found.end() + each for each in ends if depth_of("<" + source[found.end() :][:each]) == 0), None)
        if end is not None and kernel.match(source, end):
            return tuple(_parameter(each) for each in split(source[found.end() : end - 1]))
    return ()


def _parameter(text: str) -> TemplateParameter:
    """Parse a parameter, like ``class T`` or ``int N = 4``. Its name may be missing."""
    words = re.findall(r"\w+", split_default(text))
    return TemplateParameter(words[-1] if len(words) > 1 else "", len(split_default(text)) < len(text))


def split_default(text: str) -> str:
    """What is before the default of a parameter, like ``int n`` of ``int n = 4``."""
    places = (place for place, each in enumerate(text) if each == "=" and depth_of(text[:place]) == 0)
    return text[: next(places, len(text))].rstrip()


def spelled(dtype: DType) -> str:
    """The C++ type of a dtype, as a kernel without any header knows it, or else with our namespace.

    Examples
    --------
    >>> spelled(dt.float32), spelled(dt.float16)
    ('float', 'xpops::float16')
    """
    return _BUILT_IN.get(dtype) or f"xpops::{dt.INFO[dtype].c_type}"


def deduced(template: Iterable[TemplateParameter], found: Mapping[str, DType], function: str) -> tuple[DType, ...]:
    """The template's arguments, from the dtypes that the kernel's arguments give its parameters.

    Parameters at the end that have defaults may be missing.

    Raises
    ------
    TypeError
        If no argument gives a parameter its dtype.
    """
    dtypes: list[DType] = []
    missing = ""
    for name, optional in template:
        if name in found and not missing:
            dtypes.append(found[name])
        elif name in found or not optional:
            raise TypeError(
                f"{function}: no argument says what {missing or name} is; accepted: the template's arguments in "
                f"brackets, like {function}[xp.float32]"
            )
        else:
            missing = missing or name
    return tuple(dtypes)
