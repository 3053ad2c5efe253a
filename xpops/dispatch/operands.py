"""The operands of one call: their layouts, device, framework and stream."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from xpops.core.devices import NOWHERE, Device
from xpops.core.dtypes import DType
from xpops.core.errors import describe
from xpops.core.guards import copies
from xpops.core.layouts import Layout
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch.fusion.traced_arrays import require_no_trace
from xpops.dispatch.tensor import Tensor
from xpops.engine import engine_of
from xpops.engine.program import Data
from xpops.frameworks.adapter import Adapter, Known, R, View
from xpops.frameworks.differentiable import Differentiable
from xpops.frameworks.registry import adapter_of
from xpops.ops.operator import Operator
from xpops.plan.signature import Operand


class Operands:
    """The operands of one call, viewed without a copy.

    Parameters
    ----------
    function : str
        Its public name, for errors.
    names : tuple of str
        The public names of the arguments, for errors.
    arguments : tuple
        Arrays of any framework, Python and NumPy scalars.
    out : array, optional
    out_name : str
        Its public name.

    Attributes
    ----------
    specs : tuple of Layout or type
        The layouts of arrays, the types of scalars. Together with the operator they are the key of the plan.
    values : list
        The data of arrays, the values of scalars: the kernel's arguments.
    writable : tuple of bool
        Whether arrays may be written.
    out : View or None
    target : Data
        The data of `out` that a launch takes.
    device : Device
        The one device of all arrays.
    framework : Adapter or None
        The framework of the result: that of all foreign operands and `out`. None if one of these is an xpops array, or
        they belong to no framework or to several.
    stream : int
        The stream of the call: the framework's current stream if it has one, else that of xpops.
    inputs : list
        The data that a launch takes (`xpops.dispatch.steady`): like `values`, but the framework's own choice for its
        arrays.

    Raises
    ------
    TypeError
        If an argument is no array and no scalar, or all are scalars.
    ValueError
        If the arrays are on different devices.
    """

    def __init__(
        self, function: str, names: tuple[str, ...], arguments: tuple[Any, ...], out: Any = None, out_name: str = "out"
    ) -> None:
        self._function = function
        self._foreign: list[tuple[Adapter, View]] = []
        self._written: tuple[Adapter, Any] | None = None
        # Whether the kernel takes the arguments themselves. False if a NumPy scalar became a Python scalar, or if an
        # operand was copied: torch's lazy conjugates and negatives, whose memory holds other values than the tensor.
        self._as_given = True
        adapters = [self._adapter(x, name) for x, name in zip(arguments, names, strict=True)]
        lender = None if out is None else self._adapter(out, out_name)
        self.framework = _common_framework((*arguments, out), [*adapters, lender])
        views = [self._view(x, adapter, name) for x, adapter, name in zip(arguments, adapters, names, strict=True)]
        self.specs: tuple[Operand, ...] = tuple(view.layout if isinstance(view, View) else type(view) for view in views)
        self.values = [view.data if isinstance(view, View) else view for view in views]
        take = None if self.framework is None else self.framework.data_of
        self.inputs = self.values if take is None else [take(x) if isinstance(x, View) else x for x in views]
        self.writable = tuple(not isinstance(view, View) or view.writable for view in views)
        self.out: View | None = None
        self.target: Data = None
        if out is not None:
            view = self._view(out, lender, out_name)
            if not isinstance(view, View):
                raise TypeError(f"{function}: {out_name} is a scalar, {out!r}; accepted: an array")
            self.out = view
            self.target = view.data if take is None else take(view)
            if lender is not None:
                self._written = (lender, out)
            names, views = (out_name, *names), [self.out, *views]
        self.device = self._common_device(names, views)
        self.stream = self._stream_of(self.device)

    def keys(self, arguments: tuple[Any, ...], specs: tuple[Operand, ...]) -> tuple[Operand | Known, ...] | None:
        """What the steady state reads from `arguments` of `specs`; None if it would not recognise them."""
        if not self._as_given:
            return None
        if self.framework is None:
            return None if self._foreign else specs
        learn = self.framework.learn
        known: list[Operand | Known] = []
        for x, spec in zip(arguments, specs, strict=True):
            found = learn(x, spec) if isinstance(spec, Layout) else spec
            if found is None:
                return None
            known.append(found)
        return tuple(known)

    @property
    def adapt_kernel(self) -> Callable[[Any, tuple[Layout, ...], Callable[..., R]], Callable[..., R]]:
        """A function of a way, layouts of results and a kernel: the kernel that takes `inputs`, on such operands."""
        if self.framework is None or not engine_of(self.device).is_host:
            return _keep_kernel
        return partial(self.framework.host_kernel, self.specs)

    def adapt_launch(
        self, op: Operator, dtype: DType | None, out: Layout, launch: Callable[..., R]
    ) -> Callable[..., R]:
        """The launch of an elementwise call that takes `inputs`, on such operands."""
        if self.framework is None or not engine_of(self.device).is_host:
            return launch
        return self.framework.host_launch(op, self.specs, dtype, out, launch)

    def repeated(
        self, arguments: tuple[Any, ...], launch: Callable[..., Any], call: Callable[[], Differentiable] | None = None
    ) -> Callable[..., Any]:
        """The launch of later calls like this one, as `Adapter.repeated` says."""
        return launch if self.framework is None else self.framework.repeated(launch, call, arguments)

    def release(self) -> None:
        """Make each lender's stream wait for our work on its memory, and tell the framework of `out` of the write.

        If a lender's stream is unknown, the engine keeps the memory alive until our work is done.
        """
        engine = engine_of(self.device)
        if self._written is not None:
            adapter, out = self._written
            adapter.written(out)
        for adapter, view in self._foreign:
            theirs = adapter.current_stream(self.device)
            if theirs is None:
                engine.retain(view.owner, self.stream)
            elif theirs != self.stream:
                engine.order(self.stream, theirs)

    def _stream_of(self, device: Device) -> int:
        theirs = self.framework.current_stream(device) if self.framework is not None else None
        return engine_of(device).current_stream() if theirs is None else theirs

    def _adapter(self, x: Any, argument: str) -> Adapter | None:
        """The adapter of a foreign array; None for xpops arrays and scalars."""
        if isinstance(x, (Tensor, *SCALAR_TYPES, np.generic)):
            return None
        adapter = adapter_of(type(x))
        if adapter is None:
            require_no_trace(x, self._function)
            raise TypeError(
                f"{self._function}: {argument} is {describe(x)}; "
                "accepted: an array (anything with __dlpack__) or a Python scalar"
            )
        return adapter

    def _view(self, x: Any, adapter: Adapter | None, argument: str) -> Any:
        """The View of an array, or the value of a scalar as one of Python's four types."""
        if isinstance(x, Tensor):
            return View(x._layout, x._data, x._owner, x._writable)
        if adapter is None:
            value = x
            if isinstance(x, np.generic):
                value, self._as_given = x.item(), False
            for kind in SCALAR_TYPES:
                if isinstance(value, kind):
                    return kind(value)
            raise TypeError(f"{self._function}: {argument} is {x!r}; accepted: bool, int, float and complex scalars")
        if copies.is_open and adapter.resolve(x) is not x:
            copies.report(f"{self._function}: {argument} is a lazy conjugate or negative, which is copied")
        view = adapter.view(x, self._function, argument, self._stream_of)
        self._as_given &= adapter.is_own(x, view)
        if not engine_of(view.layout.device).is_host:
            self._foreign.append((adapter, view))
        return view

    def _common_device(self, names: tuple[str, ...], views: list[Any]) -> Device:
        found = [(name, view.layout.device) for name, view in zip(names, views, strict=True) if isinstance(view, View)]
        if not found:
            raise TypeError(f"{self._function}: every operand is a Python scalar; accepted: at least one array")
        first, device = found[0]
        for name, other in found[1:]:
            if NOWHERE in (device, other):  # that one stands for an array on the device of the other
                device = NOWHERE
            elif other != device:
                raise ValueError(
                    f"{self._function}: {first} is on {device} and {name} on {other}; "
                    f"move one with {name}.to_device({first}.device)"
                )
        return device


def _keep_kernel(way: Any, layouts: tuple[Layout, ...], kernel: Callable[..., R]) -> Callable[..., R]:
    return kernel


def _common_framework(arguments: tuple[Any, ...], adapters: list[Adapter | None]) -> Adapter | None:
    if any(isinstance(x, Tensor) for x in arguments):
        return None
    foreign = {id(adapter): adapter for adapter in adapters if adapter is not None}
    return next(iter(foreign.values())) if len(foreign) == 1 else None
