"""Wrappers: arrays that mean more than their memory. xpops recognises them, and refuses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xpops.core.devices import Device
from xpops.core.errors import describe
from xpops.frameworks.adapter import View
from xpops.frameworks.dlpack import DLPackAdapter


class WrapperAdapter(DLPackAdapter):
    """The adapter that refuses wrappers: masked arrays, unit arrays, labelled arrays, and matrices.

    The ``*`` of a matrix is another operation. No function may compute on bare memory unless the caller asks for it.
    """

    name = "wrapper"

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        raise wrapper_error(x, function, argument)


ADAPTER = WrapperAdapter()


def wrapper_error(x: Any, function: str, argument: str) -> TypeError:
    """The error for a wrapper. It says how to get the bare memory."""
    if isinstance(x, np.ma.MaskedArray):
        way = "filled()"
    elif isinstance(x, np.ndarray):
        way = "view(numpy.ndarray)"
    else:
        way = f"data or xpops.from_dlpack({argument})" if hasattr(type(x), "__dlpack__") else "data"
    return TypeError(
        f"{function}: {argument} is {describe(x)}, which wraps data with more, such as a mask, a unit or labels, that "
        f"would be lost; accepted: its plain data, such as {argument}.{way}"
    )
