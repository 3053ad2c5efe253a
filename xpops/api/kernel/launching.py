"""What calls of user-defined kernels say: grids, blocks, and the arguments of templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import prod
from operator import index
from typing import Any

import numpy as np

from xpops.core.dtypes import INFO, as_dtype
from xpops.engine.cuda.user.raw import Shape
from xpops.engine.cuda.user.templates import spelled


def texts_of(given: Iterable[str], argument: str) -> tuple[str, ...]:
    """A sequence of texts as a tuple, after a check."""
    found = (given,) if isinstance(given, str) else tuple(given)
    if isinstance(given, str) or not all(isinstance(each, str) for each in found):
        raise TypeError(f"RawModule: {argument} is {given!r}; accepted: a sequence of texts")
    return found


def options_of(given: Iterable[str]) -> tuple[str, ...]:
    """Options for NVRTC, after a check. An option and its value that are two texts are joined.

    Examples
    --------
    >>> options_of(["-D", "N=4", "-std", "c++20", "-lineinfo"])
    ('-DN=4', '-std=c++20', '-lineinfo')
    """
    found: list[str] = []
    for each in texts_of(given, "options"):
        if each.startswith("-"):
            found.append(each)
        elif not found or "=" in found[-1] or _WITH_VALUE.match(found[-1]):
            raise ValueError(f"RawModule: options has {each!r}; accepted: options, which begin with '-'")
        else:
            found[-1] += each if found[-1] in _SHORT else f"={each}"
    for each in found:
        if each.lstrip("-").partition("=")[0] in _OTHER_CODE:
            raise ValueError(f"RawModule: options has {each!r}; accepted: options that keep the result as it is")
    return tuple(found)


def shape_of(given: int | Sequence[int], argument: str, name: str, least: int) -> Shape:
    """One to three lengths as three, after a check. Missing lengths are 1."""
    with suppress(TypeError):
        found = [index(each) for each in (given if isinstance(given, Sequence) else (given,))]
        if 1 <= len(found) <= 3 and all(each >= least for each in found):
            x, y, z = (*found, 1, 1)[:3]
            return x, y, z
    words = ", or 'elements'" if argument == "grid" else ""
    raise ValueError(f"{name}: {argument} is {given!r}; accepted: one to three integers, {least} or more each{words}")


def grid_of(given: int | str | Sequence[int], block: Shape, sizes: Iterable[int], name: str) -> Shape:
    """The grid of a launch. "elements" means a thread for each element of the largest array.

    Parameters
    ----------
    sizes : iterable of int
        The numbers of elements of the arrays.
    """
    if given != "elements":
        return shape_of(given, "grid", name, 0)  # type: ignore[arg-type]
    most = max(sizes, default=None)
    if most is None:
        raise ValueError(f"{name}: grid is 'elements', and no argument is an array; accepted: integers")
    return -(-most // prod(block)), 1, 1


def template_text(argument: Any, name: str) -> str:
    """The C++ text of a template's argument: a dtype of any library, a number, or the text itself.

    Examples
    --------
    >>> [template_text(each, "fill") for each in (np.float32, True, 4, "float", "Pair<int>")]
    ['float', 'true', '4', 'float', 'Pair<int>']
    """
    if isinstance(argument, bool | np.bool_):
        return "true" if argument else "false"
    if isinstance(argument, str):
        return spelled(as_dtype(argument)) if argument in _NAMES else argument
    with suppress(TypeError):
        return str(index(argument))
    return spelled(as_dtype(argument, name))


# Options whose value follows at once, and such options with a value.
_SHORT = ("-D", "-I", "-U")
_WITH_VALUE = re.compile(r"-[DIU].")
# Options by which NVRTC returns something else than a cubin for the GPU.
_OTHER_CODE = frozenset(("arch", "gpu-architecture", "gpu-code", "ptx", "dlto", "dlink-time-opt")) | frozenset(
    ("dc", "device-c", "rdc", "relocatable-device-code")
)

# Texts that mean a dtype. Every other text is C++, such as float and int.
_NAMES = {dtype.name for dtype in INFO} - {"bool"}
