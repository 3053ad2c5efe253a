"""Expected types of calls on NumPy's arrays, xpops' own and other producers. This file is type-checked, never run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import xpops as xp
from xpops import Array


class Other:
    """An array of a framework that the checker does not know."""

    def __dlpack__(self, *, stream: Any = None) -> Any:
        return None


class OnlyCuda:
    """A producer of CUDA's array interface."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {}


Host = NDArray[Any]
n, f32, own, other = np.ones(3), np.ones(3, np.float32), xp.zeros(3), Other()

# Operators.
assert_type(xp.add(n, f32), Host)
assert_type(xp.add(n, 1), Host)
assert_type(xp.add(1j, n), Host)
assert_type(xp.add(own, own), Array)
assert_type(xp.add(own, np.float32(2)), Array)
assert_type(xp.add(True, own), Array)
assert_type(xp.add(own, n), Array)
assert_type(xp.add(n, own), Array)
assert_type(xp.add(other, other), Array)
assert_type(xp.add(OnlyCuda(), n), Array)
assert_type(xp.sqrt(n), Host)
assert_type(xp.sqrt(own), Array)
assert_type(xp.sqrt(other), Array)
assert_type(xp.where(n > 0, n, 0), Host)
assert_type(xp.where(own, own, n), Array)
assert_type(xp.where(n > 0), tuple[Host, ...])
assert_type(xp.where(own), tuple[Array, ...])
assert_type(xp.clip(n, 0, f32), Host)
assert_type(xp.clip(own, max=1), Array)

# With `out`, a result has the type of `out`.
assert_type(xp.add(n, n, out=own), Array)
assert_type(xp.add(own, own, out=other), Other)
assert_type(xp.sqrt(own, out=own), Array)

# Functions.
assert_type(xp.sum(n, axis=(0, 1), dtype="float64"), Host)
assert_type(xp.sum(own, keepdims=True), Array)
assert_type(xp.astype(n, xp.float32), Host)
assert_type(xp.reshape(n, (3, 1)), Host)
assert_type(xp.unstack(own), tuple[Array, ...])
assert_type(xp.nonzero(n), tuple[Host, ...])
assert_type(xp.matmul(n, n), Host)
assert_type(xp.matmul(n, own), Array)
assert_type(xp.take(own, 1), Array)
assert_type(xp.searchsorted(n, 2.0), Host)
assert_type(xp.concat([n, f32]), Host)
assert_type(xp.stack((own, own)), Array)
assert_type(xp.concat([n, own]), Array)
assert_type(xp.einsum("i,i", n, n), Host)
assert_type(xp.nn.softmax(n), Host)
assert_type(xp.nn.scatter_add(n, n, n), Host)
assert_type(xp.linalg.inv(own), Array)
assert_type(xp.fft.fft(n), Host)
assert_type(xp.zeros_like(n), Array)
assert_type(xp.from_dlpack(n), Array)

values, counts = xp.unique_counts(n)
assert_type(values, Host)
assert_type(counts, Host)
assert_type(xp.unique_all(own).inverse_indices, Array)
assert_type(xp.linalg.svd(other).Vh, Array)
assert_type(xp.linalg.qr(n, mode="complete").Q, Host)

# Methods.
assert_type(own + 1, Array)
assert_type(1 - own, Array)
assert_type(own == own, Array)
assert_type(own < 2, Array)
assert_type(-own, Array)
assert_type(own @ own, Array)
assert_type(own[0], Array)
assert_type(own.T, Array)
assert_type(own.sum(axis=0), Array)
assert_type(own.std(correction=1), Array)
assert_type(own.reshape(3, 1), Array)
assert_type(own.astype(xp.int32), Array)
assert_type(own.nonzero(), tuple[Array, ...])
own += 1
assert_type(own, Array)


@xp.fuse
def swish(x: Array, scale: float) -> Array:
    """A fused function."""
    return x / (1 + xp.exp(-scale * x))


assert_type(swish(own, 2.0), Array)
assert_type(swish(own, scale=2.0), Array)
assert_type(swish.source(own, 2.0), str)


@xp.graph
def step(x: Array, *, scale: float) -> tuple[Array, Array]:
    """A recorded function."""
    return x * scale, x


assert_type(step(own, scale=2.0), tuple[Array, Array])
step(own, 2.0)  # type: ignore[call-arg]


def of_any_array(x: Any) -> None:
    """If the operand is Any, the result is Any."""
    assert_type(xp.add(x, x), Any)
    assert_type(xp.sum(x), Any)


# Wrong calls.
xp.add(1, 2)  # type: ignore[call-overload]
xp.add("a", n)  # type: ignore[call-overload]
xp.add(n, [1])  # type: ignore[call-overload]
xp.add(n, n, ou=n)  # type: ignore[call-overload]
xp.sqrt(4.0)  # type: ignore[call-overload]
xp.sum(n, axis="x")  # type: ignore[arg-type]
xp.sum(n, axes=1)  # type: ignore[call-overload]
xp.sum([1, 2])  # type: ignore[call-overload]
xp.matmul(n, 2)  # type: ignore[call-overload]
xp.linalg.svd(n, full=True)  # type: ignore[call-overload]
xp.zeros("3")  # type: ignore[arg-type]
swish(own, "2")  # type: ignore[arg-type]
own + "x"  # type: ignore[arg-type]
own.sum(axis=1.5)  # type: ignore[arg-type]
