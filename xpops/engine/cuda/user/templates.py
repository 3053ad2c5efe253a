"""Kernels that are templates: parse their parameters, and spell and deduce their arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType

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
    """The parameters of a kernel's template, in order; empty if it is no template.

    Examples
    --------
    >>> for each in template_of("template <typename T, int N = 4> __global__ void fill(T* x, T value) {}", "fill"):
    ...     print(*each)
    T False
    N True
    >>> template_of("__global__ void fill(float* x) {}", "fill")
    ()
    """
    word = re.escape(name.rpartition("::")[2])
    found = re.findall(rf"\btemplate\s*<([^;{{}}()]*?)>\s*__global__[^;{{}}]*?\b{word}\s*\(", source)
    if not found:
        return ()
    halves = [each.partition("=") for each in found[-1].split(",") if each.strip()]
    return tuple(TemplateParameter(before.split()[-1].lstrip("."), bool(equals)) for before, equals, _ in halves)


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
