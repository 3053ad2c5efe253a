"""The generator: distributions, permutations and choices."""

from __future__ import annotations

import math
import operator
from typing import Any

from xpops.api.creation.conversion import asarray
from xpops.api.devices import device_or_default
from xpops.api.elementwise.arithmetic import divide, multiply
from xpops.api.elementwise.comparison import greater_equal
from xpops.api.indexing import take
from xpops.api.manipulation.shapes import reshape
from xpops.api.random.distributions import Distributions
from xpops.api.searching import count_nonzero, searchsorted
from xpops.api.sorting import argsort
from xpops.api.statistics.sums import cumulative_sum
from xpops.api.utility import all
from xpops.arrays import Array, adopt_foreign
from xpops.core import config
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.dispatch import elementwise
from xpops.engine import engine_of
from xpops.frameworks.registry import adapter_of
from xpops.ops.elementwise import IDENTITY
from xpops.ops.random import LAWS
from xpops.plan.strides import views
from xpops.plan.strides.overlap import overlaps_itself


class Generator(Distributions):
    """Random numbers that depend only on a seed. The CPU and every GPU give the same bits.

    Philox4x32-10 computes them from a key, which depends on the seed, and a counter: 64 bits for the stream of numbers,
    and 64 bits for the position. A call uses as many counters as it needs. Element ``i`` depends on the seed, the
    stream, the first counter of the call, and ``i``. There is no state on the device, so calls on several devices, CUDA
    streams and threads are safe. One counter gives

    - 4 elements of `uniform`, `normal` and `exponential`, or 2 in float64,
    - 4 of `bernoulli` and `dropout_mask`,
    - 2 of `integers`, or 1 if the range is above ``2**32`` and not a power of two.

    Several calls give the same numbers as one call, if all calls but the last use whole counters.

    Parameters
    ----------
    seed : int, optional
        Not negative, of any size. `numpy.random.SeedSequence` computes the key and the stream from it. By default a
        random seed from the system, which `state` contains.

    Raises
    ------
    TypeError, ValueError
        If `seed` is not an integer, or negative.

    Examples
    --------
    >>> generator = xp.random.Generator(7)
    >>> generator.integers(10, size=5)
    Array([7, 8, 3, 0, 9], dtype=int64, device='cpu')
    """

    def permutation(self, x: Any, axis: int = 0, *, device: str | None = None) -> Any:
        """A random order of integers, or of an array.

        Parameters
        ----------
        x : int or array
            An integer n means the numbers 0 to n - 1; an array its slices along `axis`.
        axis : int
        device : Device or str, optional
            The device of the numbers; by default the default device. An array stays on its device.

        Returns
        -------
        array
            int64 of shape ``(n,)``; for an array its dtype, shape and framework.

        Raises
        ------
        TypeError
            If `x` is neither an integer nor an array.
        ValueError
            If `x` is negative or an array without axes, or an array is not on `device`.
        IndexError
            If there is no such axis.

        Examples
        --------
        >>> xp.random.Generator(7).permutation(5)
        Array([3, 2, 0, 1, 4], dtype=int64, device='cpu')
        """
        length, given, where = _population(x, axis, device, "permutation", "x")
        order = self._random_order(length, where, "permutation")
        return order if given is None else _to_framework_of(x, take(given, order, axis=axis))

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle the slices of an array along an axis in place, to the order that `permutation` would give.

        Parameters
        ----------
        x : array
            Of any framework, and writable.
        axis : int

        Raises
        ------
        TypeError
            If `x` is not an array.
        ValueError
            If it has no axes, or is read-only, or may have several elements at one address.
        IndexError
            If there is no such axis.

        Examples
        --------
        >>> x = xp.arange(5)
        >>> xp.random.Generator(7).shuffle(x)
        >>> x
        Array([3, 2, 0, 1, 4], dtype=int64, device='cpu')
        """
        given = adopt_foreign(x, "shuffle", "x")
        if not given._writable:
            raise ValueError("shuffle: x is read-only; accepted: a writable array")
        if overlaps_itself(given._layout):
            raise ValueError("shuffle: x may have several elements at one address; accepted: an array without repeats")
        length, _, where = _population(given, axis, None, "shuffle", "x")
        elementwise(IDENTITY, (take(given, self._random_order(length, where, "shuffle"), axis=axis),), x)

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        *,
        device: str | None = None,
    ) -> Any:
        """Random integers from 0 to n - 1, or random slices of an array, in random order.

        Parameters
        ----------
        a : int or array
            An integer n means the numbers 0 to n - 1.
        size : int or tuple of int, optional
            The shape of the choices; by default ``()``, a single one.
        replace : bool
            Whether an item may be chosen more than once.
        p : array or sequence of float, optional
            A weight for each item, not negative. The probability of being chosen (first) is the weight divided by the
            sum. By default all items are equally likely. Sums of weights are rounded, so that choices may differ
            between devices if a random number is at the border between two items.
        axis : int
        device : Device or str, optional
            The device of integers; by default the default device. An array stays on its device.

        Returns
        -------
        array
            int64, or the dtype and framework of `a`. Has the shape of `a`, with `axis` replaced by `size`.

        Raises
        ------
        TypeError
            If `a` is neither an integer nor an array.
        ValueError
            If there are too few items, or `p` has another shape than ``(n,)`` or is on another device. On the CPU, and
            on a GPU with ``XPOPS_DEBUG=1``, also if a weight is negative or not finite, or too few are above 0.
        IndexError
            If there is no such axis.

        Examples
        --------
        >>> xp.random.Generator(7).choice(10, size=4, replace=False)
        Array([3, 8, 2, 6], dtype=int64, device='cpu')
        >>> xp.random.Generator(7).choice(xp.asarray([1.5, 2.5]), size=4, p=[0.9, 0.1])
        Array([1.5, 1.5, 1.5, 1.5], dtype=float64, device='cpu')
        """
        length, given, where = _population(a, axis, device, "choice", "a")
        shape = views.shape_of(() if size is None else size, "choice", "size")
        count = math.prod(shape)
        needed = min(count, 1) if replace else count
        if needed > length:
            way = "with" if replace else "without"
            raise ValueError(
                f"choice: size is {shape}, a has {length} elements; accepted {way} replacement: up to {length}"
            )
        weights = None if p is None else _weights(p, length, needed, where)
        if not replace:
            chosen = reshape(self._random_order(length, where, "choice", weights)[:count], shape)
        elif weights is None or not count:
            chosen = self._draw("choice", LAWS["integers"], shape, dt.int64, where, 0, max(length, 1))
        else:
            sums = cumulative_sum(weights)
            drawn = self._draw("choice", LAWS["uniform"], shape, dt.float64, where, 0.0, 1.0)
            chosen = searchsorted(sums, multiply(drawn, sums[-1]), side="right")
        return chosen if given is None else _to_framework_of(a, take(given, chosen, axis=axis))

    def _random_order(self, length: int, device: Device, function: str, weights: Array | None = None) -> Array:
        """Indices in random order. With weights, each next index is chosen among those that remain.

        Indices of weight 0 come last. Keys: exponential numbers divided by weights (Efraimidis and Spirakis, 2006).
        """
        if weights is None:
            keys = self._draw(function, LAWS["integers"], (length,), dt.uint64, device, 0, 0)
        else:
            keys = divide(self._draw(function, LAWS["exponential"], (length,), dt.float64, device, 1.0), weights)
        order: Array = argsort(keys)
        return order


def _population(
    x: Any, axis: Any, device: str | None, function: str, argument: str
) -> tuple[int, Array | None, Device]:
    """The number of items to choose from, the array if `x` is one, and the device of the result."""
    if not isinstance(x, Array) and adapter_of(type(x)) is None:
        try:
            length = operator.index(x)
        except TypeError:
            raise TypeError(f"{function}: {argument} is {x!r}; accepted: an integer or an array") from None
        if length < 0:
            raise ValueError(f"{function}: {argument} is {length}; accepted: 0 and more, and arrays")
        return length, None, device_or_default(device, function)
    given = adopt_foreign(x, function, argument)
    if not given.ndim:
        raise ValueError(f"{function}: {argument} has no axes; accepted: one axis or more")
    if device is not None and device_or_default(device, function) != given.device:
        raise ValueError(f"{function}: device is {str(device)!r}, {argument} is on {given.device}; move it first")
    return given.shape[views.axis_of(axis, given.ndim, function)], given, given.device


def _weights(p: Any, length: int, needed: int, device: Device) -> Array:
    """The weights as a float64 array on `device`, after checks."""
    known = isinstance(p, Array) or adapter_of(type(p)) is not None
    given = adopt_foreign(p, "choice", "p") if known else asarray(p, device=device)
    if given.shape != (length,):
        raise ValueError(f"choice: p has shape {given.shape}; accepted: ({length},), a weight for each of a")
    if given.dtype not in dt.CATEGORIES["real-valued"]:
        raise TypeError(f"choice: p has dtype {given.dtype}; accepted: real-valued dtypes")
    if given.device != device:
        raise ValueError(f"choice: a is on {device} and p on {given.device}; move one with p.to_device(a.device)")
    weights = asarray(given, dtype=dt.float64)
    if engine_of(device).is_host or config.debug:
        if not all(greater_equal(weights, 0)) or not math.isfinite(cumulative_sum(weights)[-1] if length else 0):
            raise ValueError("choice: p holds a weight that is negative or not finite; accepted: 0 and more")
        if (positive := int(count_nonzero(weights))) < needed:
            raise ValueError(f"choice: p has {positive} weights above 0; accepted: {needed} or more")
    return weights


def _to_framework_of(given: Any, result: Array) -> Any:
    """`result` as an array of the framework of `given`."""
    adapter = None if isinstance(given, Array) else adapter_of(type(given))
    return result if adapter is None else adapter.export(result)
