"""JAX arrays. They are immutable, so they are read-only here, whatever their capsules say."""

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
    """In and out through DLPack. XLA keeps its streams to itself, so DLPack's handshake orders the work."""

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
        # XLA takes no other alignment on a GPU; on the CPU it makes a copy of its own.
        if not _is_compact(array._layout) or (array._layout.device != CPU and array._data % ALIGNMENT):
            array = array.copy()
        # JAX cannot read that an array is read-only, and need not: it never writes.
        return jax.dlpack.from_dlpack(type(array)(array._layout, array._data, array._owner, True))


ADAPTER = JaxAdapter()


def _is_compact(layout: Layout) -> bool:
    """Whether elements lie without gaps and repeats, in any order of the axes: JAX takes nothing else."""
    step = 1
    for stride, length in sorted(zip(layout.strides, layout.shape, strict=True)):
        if length > 1 and stride != step:
            return False
        step *= length
    return True
