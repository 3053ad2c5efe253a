"""Accessors (``native/xpops/index/accessor.cuh``): parameters that are an array with its shape and strides."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from xpops.core.layouts import Layout
from xpops.plan.text import split

_ACCESSOR = re.compile(
    r"(?:::)?(?:\w+\s*::\s*)*(?:PackedTensor)?Accessor(?P<bits>32|64|)\s*<(?P<arguments>.*)>\s*(?P<name>\w*)", re.DOTALL
)
_QUALIFIER = re.compile(r"\b(?:const|volatile|__grid_constant__)\b")


class Accessor(NamedTuple):
    """The template arguments of an accessor.

    Attributes
    ----------
    ndim : str
        The number of axes, as the source has it.
    bits : {32, 64}
        The width of lengths and strides.
    """

    ndim: str
    bits: int


class AccessorParameter(NamedTuple):
    """A parameter that is an accessor: its name, the type of its elements, whether they are const, and the accessor."""

    name: str
    element: str
    const: bool
    accessor: Accessor


def accessor_of(text: str) -> AccessorParameter | None:
    """Parse a parameter. Returns None if its type is not an accessor.

    Examples
    --------
    >>> accessor_of("const torch::PackedTensorAccessor32<scalar_t, 4, torch::RestrictPtrTraits> a")
    AccessorParameter(name='a', element='scalar_t', const=True, accessor=Accessor(ndim='4', bits=32))
    >>> accessor_of("xpops::Accessor<const float, 2, long long> x").accessor.bits
    64
    >>> accessor_of("float* x")
    """
    begin, end = (text + "<").index("<"), text.rfind(">") + 1
    outside = text[:begin] + text[end:]
    plain = _QUALIFIER.sub(" ", text[:begin]) + text[begin:end] + _QUALIFIER.sub(" ", text[end:])
    found = _ACCESSOR.fullmatch(plain.strip())
    arguments = split(found["arguments"]) if found else []
    if found is None or len(arguments) < 2:
        return None
    element, ndim, *more = arguments
    wide = found["bits"] == "64" or any(re.search(r"64|\blong\b|\b(?:size|ptrdiff)_t\b", each) for each in more)
    const = any(re.search(r"\bconst\b", each) for each in (outside, element))
    return AccessorParameter(
        found["name"], _QUALIFIER.sub(" ", element).strip(), const, Accessor(ndim, 64 if wide else 32)
    )


def packed_accessor(accessor: Accessor, layout: Layout, address: int, what: str) -> bytes:
    """The bytes of an accessor: the address, the lengths and the strides.

    Raises
    ------
    TypeError
        If the array has another number of axes.
    ValueError
        If lengths or offsets exceed the accessor's width.
    """
    if accessor.ndim.isdigit() and int(accessor.ndim) != layout.ndim:
        raise TypeError(f"{what} has {layout.ndim} axes; accepted: {accessor.ndim}, as the kernel has it")
    reach = sum((length - 1) * abs(step) for length, step in zip(layout.shape, layout.strides, strict=True))
    if accessor.bits == 32 and layout.size and max((reach, *layout.shape)) >= 2**31:
        raise ValueError(
            f"{what} reaches {reach} elements from its first one; accepted: fewer than 2**31, or Accessor64, or "
            "PackedTensorAccessor64"
        )
    form = "i" if accessor.bits == 32 else "q"
    return struct.pack(f"<Q{2 * layout.ndim}{form}", address, *layout.shape, *layout.strides)
