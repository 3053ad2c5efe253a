"""The bare array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpops.core.compiled import compiled
from xpops.core.layouts import Layout
from xpops.engine.program import Data, Owner

if TYPE_CHECKING or compiled is None:

    class Tensor:
        """A layout, data and an owner. `xpops.arrays.Array` adds operators, conversions and indexing.

        Attributes
        ----------
        _layout : Layout
        _data : Data
            An address on CUDA, an ndarray on the CPU.
        _owner : object
            The object that keeps the memory alive.
        _writable : bool
        """

        __slots__ = ("__weakref__", "_data", "_layout", "_owner", "_writable")

        def __init__(self, layout: Layout, data: Data, owner: Owner, writable: bool = True) -> None:
            self._layout, self._data, self._owner, self._writable = layout, data, owner, writable

else:
    Tensor = compiled.Tensor
