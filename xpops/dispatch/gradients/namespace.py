"""The functions of which derivatives consist."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from xpops.core import dtypes as dt
from xpops.core.devices import NOWHERE
from xpops.core.dtypes import DType
from xpops.core.layouts import layout_of
from xpops.core.symbols import scalar_type
from xpops.dispatch import steady
from xpops.dispatch.fusion.traced_arrays import Traced
from xpops.dispatch.fusion.traced_scalars import TracedScalar
from xpops.dispatch.tensor import Tensor
from xpops.frameworks.differentiable import Facts
from xpops.frameworks.registry import adapter_of
from xpops.ops.activation import BACKWARD
from xpops.ops.elementwise import OPERATORS


def is_scalar(x: Any) -> bool:
    """Whether `x` is a number, a symbol of one, or a scalar argument of a fused function."""
    return isinstance(x, TracedScalar) or scalar_type(x) is not None


class Namespace:
    """The public functions, and a few more that derivatives need."""

    def __getattr__(self, name: str) -> Any:
        # This package is below the public functions and cannot import them. Any array came from them.
        found = getattr(sys.modules["xpops"], name)
        setattr(self, name, found)
        return found

    @staticmethod
    def facts(x: Any) -> Facts:
        """The shape and the dtype of an array of any framework."""
        if isinstance(x, Traced):
            return Facts(x.shape, x.dtype)
        if isinstance(x, Tensor):
            return Facts(x._layout.shape, x._layout.dtype)
        adapter = adapter_of(type(x))
        if adapter is None:  # a scalar argument of a fused function, perhaps: then the functions are called one by one
            raise TypeError(f"{x!r} is not an array")
        return adapter.facts(x)

    @staticmethod
    def is_traced(x: Any) -> bool:
        """Whether an array has no memory of its own, within a program that a framework traces."""
        adapter = adapter_of(type(x))
        return adapter is not None and adapter.is_traced(x)

    def is_complex(self, x: Any) -> bool:
        """Whether an array is complex."""
        return self.facts(x)[1] in dt.COMPLEX_FLOATS

    def conj(self, x: Any) -> Any:
        """The conjugate. Real arrays and scalars are not copied."""
        if is_scalar(x):
            return x.conjugate() if complex in (type(x), getattr(x, "kind", None)) else x
        return sys.modules["xpops"].conj(x) if self.is_complex(x) else x

    def square(self, x: Any) -> Any:
        """The square. That of a scalar is a scalar."""
        return x * x if is_scalar(x) else sys.modules["xpops"].square(x)

    def like(self, x: Any, made: Any) -> Any:
        """An xpops array as an array of the framework and on the device of `x`."""
        if isinstance(x, Tensor):
            return made.to_device(x._layout.device)
        adapter = adapter_of(type(x))
        assert adapter is not None
        return adapter.constant(made, x)

    def by_parts(self, function: Callable[[Any], Any], x: Any) -> Any:
        """A linear function that does not take complex arrays, of `x`."""
        if not self.is_complex(x):
            return function(x)
        return self.add(function(self.real(x)), self.multiply(function(self.imag(x)), 1j))

    def sums_at(self, source: Any, index: Any, axis: int, length: int) -> Any:
        """The sums of elements at the places that `index`, of the same shape, says along an axis of `length`."""
        # By name, because that module is above this one, as the public functions are.
        return import_module("xpops.dispatch.scattering").sums_at(source, index, axis, length)

    def ldexp(self, x: Any, power: Any) -> Any:
        """``x * 2**power``. The public function refuses powers that are not integers by their dtype."""
        return import_module("xpops.dispatch").elementwise(OPERATORS["ldexp"], (x, power))

    def gelu_backward(self, g: Any, x: Any) -> Any:
        """The product of `g` and the slope of gelu at `x`."""
        return import_module("xpops.dispatch").elementwise(BACKWARD["gelu_backward"], (g, x))

    def spread(self, x: Any, shape: tuple[int, ...]) -> Any:
        """`x` broadcast to a shape. In a fused function it is broadcast where it is used."""
        return x if isinstance(x, Traced) else self.broadcast_to(x, shape)

    def fit(self, value: Any, like: Any, shape: tuple[int, ...], dtype: DType) -> Any:
        """A cotangent that a derivative returned, as that of an operand: real if it is, of its shape and dtype.

        A number stands for an array of the shape of `like`.
        """
        if is_scalar(value):
            value = self.where(self.equal(like, 0), value, value)
        found, own = self.facts(value)
        if len(found) == len(shape) and found == shape and own == dtype:
            return value
        if own in dt.COMPLEX_FLOATS and dtype not in dt.COMPLEX_FLOATS:
            value, own = self.real(value), dt.REAL_OF[own]
        extra = max(len(found) - len(shape), 0)
        if extra:
            value = self.sum(value, axis=tuple(range(extra)))
        # In a fused function a cotangent may lack leading axes, along which it is broadcast.
        lengths = zip(reversed(shape), reversed(found), strict=False)
        stretched = tuple(-axis for axis, (length, given) in enumerate(lengths, 1) if length == 1 and given != 1)
        if stretched:
            value = self.sum(value, axis=stretched, keepdims=True)
        return value if own == dtype else self.astype(value, dtype)


NAMESPACE = Namespace()


def without_memory(facts: Facts) -> Tensor:
    """An array of which a call finds the facts of its results."""
    found: Tensor = steady.array_class(layout_of(facts.dtype, facts.shape, None, NOWHERE), 0, None)
    return found


def stand_in(x: Any) -> Any:
    """An array without memory like `x`; scalars, and what no fused function takes, as they are."""
    return without_memory(NAMESPACE.facts(x)) if adapter_of(type(x)) is not None else x
