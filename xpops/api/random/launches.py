"""The launches that draw random numbers: a draw like an earlier one only allocates and launches."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from xpops.api.devices import default_device, device_or_default
from xpops.core.dtypes import DType
from xpops.core.layouts import layout_of
from xpops.dispatch.keys import is_constant, way_of
from xpops.dispatch.steady import Launch, make_launch_on
from xpops.engine import engine_of
from xpops.ops.random import Law
from xpops.plan.cache import BoundedDict
from xpops.plan.strides import views

# A launch ``(key, branch, position, *parameters)`` that makes an array, and the counters that it uses.
Draw = tuple[Launch, int]

_draws: BoundedDict[tuple[Any, ...], Draw] = BoundedDict(1024)


def launch_of(law: Law, function: str, size: Any, dtype: DType, device: Any) -> Draw:
    """The draw of an array. Errors name `function`.

    Raises
    ------
    TypeError, ValueError
        If `size` is not a shape, or `device` is not a device.
    DeviceError
        If the device is not available.
    """
    lengths = tuple(size) if isinstance(size, list) else size
    way = way_of(law, (lengths, dtype, default_device() if device is None else device))
    with suppress(TypeError):  # a size that cannot be hashed
        known = _draws.get(way)
        if known is not None:
            return known
    shape = views.shape_of(() if size is None else size, function, "size")
    layout = layout_of(dtype, shape, None, device_or_default(device, function))
    engine = engine_of(layout.device)
    launch = make_launch_on(engine, (layout,), engine.random(law, layout), None, engine.current_stream)
    made = launch, -(-layout.size // law.count(dtype))
    if is_constant(lengths):
        with suppress(TypeError):
            _draws[way] = made
    return made
