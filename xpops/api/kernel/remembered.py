"""Launches of a raw kernel like an earlier one: what was checked, chosen and compiled for it is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from xpops.api.kernel.packing import pack
from xpops.core.layouts import Layout
from xpops.dispatch import Tensor, steady
from xpops.dispatch.keys import way_of
from xpops.dispatch.operands import Operands
from xpops.engine.cuda.user.arguments import Parameter
from xpops.engine.cuda.user.raw import Function, Shape
from xpops.frameworks.adapter import Adapter, is_inherited
from xpops.plan.cache import BoundedDict

# The most launches that a kernel remembers.
_LIMIT = 256


class Prepared(NamedTuple):
    """A launch, but for the values and the addresses of its arguments.

    Attributes
    ----------
    name : str
        The kernel's, for errors.
    function : Function
    parameters : tuple of Parameter or None
        None if the source does not say them.
    layouts : dict of int to Layout
        Of the arguments that are arrays.
    written : tuple of int
        The places of the arrays that the kernel may write.
    grid, block : tuple of int
    shared : int
    cooperative : bool
    cluster : tuple of int or None
    """

    name: str
    function: Function
    parameters: tuple[Parameter, ...] | None
    layouts: dict[int, Layout]
    written: tuple[int, ...]
    grid: Shape
    block: Shape
    shared: int
    cooperative: bool
    cluster: Shape | None


class RememberedLaunches:
    """The launches of one kernel."""

    def __init__(self) -> None:
        # The last is `Adapter.lend`, or None if values are memory already.
        self._known: BoundedDict[
            tuple[Any, ...], tuple[Prepared, Callable[[], int], Adapter | None, Callable[[Any], Any] | None]
        ]
        self._known = BoundedDict(_LIMIT)

    def launch(self, how: tuple[Any, ...], arguments: Sequence[Any]) -> bool:
        """Launch like an earlier call. False, and nothing is done, if there was none or an array is read-only.

        Parameters
        ----------
        how : tuple
            Everything about the call but its arguments, as it was given.
        arguments : sequence
        """
        specs, values = [], []
        for argument in arguments:
            read: Callable[[Any], tuple[Any, Any]] = steady.readers.get(argument.__class__, _read_scalar)
            spec, value = read(argument)
            specs.append(spec)
            values.append(value)
        try:
            found = self._known.get((way_of(RememberedLaunches, how), *specs))
        except TypeError:  # a list cannot be hashed
            return False
        if found is None:
            return False
        prepared, stream_of, framework, lend = found
        is_writable = _is_writable if framework is None else framework.is_writable
        if not all(is_writable(arguments[place]) for place in prepared.written):
            return False
        if lend is not None:
            values = list(map(lend, values))
        packed = pack(prepared.name, prepared.parameters, prepared.layouts, values)
        if framework is not None:
            for place in prepared.written:
                framework.written(arguments[place])
        options = prepared.shared, stream_of(), prepared.cooperative, prepared.cluster
        prepared.function.launch(prepared.grid, prepared.block, packed, *options)
        return True

    def remember(self, how: tuple[Any, ...], arguments: Sequence[Any], operands: Operands, launch: Prepared) -> None:
        """Keep a launch for later calls like it."""
        arrays = tuple(arguments[place] for place in launch.layouts)
        keys = operands.keys(arrays, operands.specs)
        if keys is None:
            return
        known = dict(zip(launch.layouts, keys, strict=True))
        specs = [known[i] if i in known else _scalar_key(each) for i, each in enumerate(arguments)]
        if None not in specs:
            steady.read_by_framework(arrays, operands.framework)
            way = way_of(RememberedLaunches, how)
            framework = operands.framework
            lend = None if framework is None or is_inherited(framework, "lend") else framework.lend
            self._known[way, *specs] = launch, steady.stream_getter(operands), framework, lend


def _is_writable(x: Tensor) -> bool:
    return x._writable


def _read_scalar(x: Any) -> tuple[type | None, Any]:
    return _scalar_key(x), x


def _scalar_key(x: Any) -> type | None:
    """The class of a scalar whose values all have the same bytes; None for anything else, which is not remembered."""
    return type(x) if isinstance(x, (bool, int, float, complex, np.number, np.bool_)) else None
