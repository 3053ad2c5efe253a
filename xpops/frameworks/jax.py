"""JAX arrays. They are immutable, so their views are read-only, even if a capsule allows writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from xpops.core.devices import CPU, Device
from xpops.core.layouts import Layout
from xpops.frameworks.adapter import View
from xpops.frameworks.dlpack import DLPackAdapter, dlpack_view

ALIGNMENT = 16


class JaxAdapter(DLPackAdapter):
    """Exchange through DLPack. XLA does not expose its streams, so DLPack's handshake orders the work."""

    name = "jax"

    def is_array_type(self, cls: type) -> bool:
        return issubclass(cls, (jax.Array, jax.core.Tracer))

    def view(self, x: Any, function: str, argument: str, stream: Callable[[Device], int]) -> View:
        if isinstance(x, jax.core.Tracer):
            raise TypeError(
                f"{function}: {argument} is a JAX tracer; accepted: an array with a value, so call {function} outside "
                "of jax.jit, jax.grad and jax.vmap"
            )
        return dlpack_view(x, function, argument, stream, writable=False)

    def export(self, array: Any) -> Any:
        # On a GPU XLA takes only this alignment; on the CPU it copies misaligned memory itself.
        if not _is_compact(array._layout) or (array._layout.device != CPU and array._data % ALIGNMENT):
            array = array.copy()
        # Export as writable: JAX cannot read the read-only flag, and never writes.
        return jax.dlpack.from_dlpack(type(array)(array._layout, array._data, array._owner, True))


ADAPTER = JaxAdapter()


def _is_compact(layout: Layout) -> bool:
    """Whether the elements have no gaps and no repeats, in any order of the axes: JAX takes only such arrays."""
    step = 1
    for stride, length in sorted(zip(layout.strides, layout.shape, strict=True)):
        if length > 1 and stride != step:
            return False
        step *= length
    return True
