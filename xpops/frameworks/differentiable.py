"""Calls with derivatives, for frameworks that record gradients."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, NamedTuple, Protocol

from xpops.core.devices import NOWHERE, Device
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.core.operands import Scalar
from xpops.engine.program import Kernel


class Facts(NamedTuple):
    """What a derivative may know of an array without its elements."""

    shape: tuple[int, ...]
    dtype: DType

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def device(self) -> Device:
        """The device of arrays without memory."""
        return NOWHERE


# A function of the cotangents of a call's results, the arguments and the results. Of the last two it reads those that
# `Differentiable.saved` names. It returns the cotangents of the arguments, None for those that need none.
Backward = Callable[[Any, list[Any], Any], tuple[Any, ...]]


class Record(partial[Any]):
    """The launch of a call of which a framework records the gradient: it takes the arguments, not their data."""


class Differentiable(Protocol):
    """A call and its derivatives (`xpops.dispatch.gradients`), which `Adapter.record` takes.

    Attributes
    ----------
    broadcasts : bool
        Whether the call is elementwise.
    name : str
        A text for `call_named`, also in another process.
    """

    broadcasts: bool

    @property
    def name(self) -> str: ...

    def compute(self, *arguments: Any) -> Any:
        """The result, or a tuple of results."""

    def kernel(self, arguments: tuple[Layout | Scalar, ...], outs: tuple[Layout, ...], device: Device) -> Kernel:
        """The kernel ``(stream, *outs, *arrays)`` that writes the results of dense arrays of these layouts.

        The layouts of `outs` may have narrower dtypes than the results.
        """

    def results(self, arguments: tuple[Any, ...]) -> Facts | tuple[Facts, ...]:
        """The facts of the results, without computing them. `Facts` stand for the arrays among the arguments."""

    def saved(self, wanted: tuple[bool, ...]) -> tuple[tuple[int, ...], bool]:
        """The places of the arguments, and whether the results, that the cotangents of `wanted` arguments need."""

    def cotangents(
        self,
        wanted: tuple[bool, ...],
        given: Any,
        facts: tuple[Facts | None, ...],
        arguments: list[Any],
        results: Any,
        fused: bool,
    ) -> tuple[Any, ...]:
        """The cotangents of `wanted` arguments; None for others.

        Parameters
        ----------
        wanted : tuple of bool
        given : array or tuple of array
            The cotangents of the results.
        facts : tuple of Facts or None
            Those of arguments; None for scalars.
        arguments : list
            The scalars, and the arrays that `saved` names.
        results : array or tuple of array or None
        fused : bool
            Whether to fuse what can be. A framework does not record the steps of fused functions one by one.
        """

    def backward(self, wanted: tuple[bool, ...], given: Any, facts: tuple[Facts | None, ...], fused: bool) -> Backward:
        """What `cotangents` calls: for other cotangents and arguments, too, with the shapes and dtypes of these."""


# The call that has a name. `xpops.dispatch.gradients.calls` sets it: this package must not import that one.
call_named: Callable[[str], Differentiable]
