"""Distributions: methods of the generator whose elements are drawn independently."""

from __future__ import annotations

from typing import Any

from numpy.typing import DTypeLike

from xpops.api.random.launches import launch_of
from xpops.api.random.parameters import dtype_of, integer_range, real_number, require_finite
from xpops.api.random.source import Source
from xpops.arrays import Array
from xpops.core.dtypes import DType
from xpops.core.operands import Shape
from xpops.ops.random import LAWS, Law
from xpops.plan.strides import views


class Distributions(Source):
    """The methods of `Generator` that fill an array in one launch."""

    def uniform(
        self,
        low: float = 0.0,
        high: float = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> Array:
        """Real numbers in ``[low, high)``.

        ``low + (high - low) * u``, where u in [0, 1) has 53 random bits in float64, 24 in float32, 11 in float16 and 8
        in bfloat16. u is never 1, but for ranges other than [0, 1) the sum may round to `high`, as in NumPy.

        Parameters
        ----------
        low, high : float
        size : int or tuple of int, optional
            The shape; by default ``()``, a single element.
        dtype : numpy.dtype, optional
            Real floating-point; by default float64. `low` and `high` are rounded to it; for 16-bit floats
            to float32.
        device : Device or str, optional
            By default the default device.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            If an argument has the wrong type, or `dtype` is not accepted.
        ValueError
            If a bound is not finite, or too large for the dtype, or `high` is below `low`.

        Examples
        --------
        >>> xp.random.Generator(7).uniform(-1, 1, size=3, dtype=xp.float32)
        Array([-0.6760291 ,  0.59002066, -0.6150367 ], dtype=float32, device='cpu')
        """
        law, first = LAWS["uniform"], real_number(low, "uniform", "low")
        last = real_number(high, "uniform", "high", first)
        found = dtype_of(law, dtype, "uniform")
        require_finite(found, "uniform", low=first, high=last, range=last - first)
        return self._draw("uniform", law, size, found, device, first, last - first)

    def normal(
        self,
        loc: float = 0.0,
        scale: float = 1.0,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: str | None = None,
    ) -> Array:
        """Numbers of the normal distribution.

        The Box-Muller method, exact to some units in the last place. Every device gives the same bits. Each number has
        32 random bits and is within 6.8 standard deviations; in float64 it has 64 and is within 9.5. Half types are
        float32 numbers, rounded.

        Parameters
        ----------
        loc, scale : float
            The mean and the standard deviation, which is not negative.
        size : int or tuple of int, optional
            The shape; by default ``()``, a single element.
        dtype : numpy.dtype, optional
            Real floating-point; by default float64.
        device : Device or str, optional
            By default the default device.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            If an argument has the wrong type, or `dtype` is not accepted.
        ValueError
            If a parameter is not finite, or too large for the dtype, or `scale` is negative.

        Examples
        --------
        >>> xp.random.Generator(7).normal(size=(2, 2), dtype=xp.float32)
        Array([[-0.5324366,  1.8322141],
               [-0.9955362,  1.5180304]], dtype=float32, device='cpu')
        """
        law, mean = LAWS["normal"], real_number(loc, "normal", "loc")
        deviation = real_number(scale, "normal", "scale", 0)
        found = dtype_of(law, dtype, "normal")
        require_finite(found, "normal", loc=mean, scale=deviation)
        return self._draw("normal", law, size, found, device, mean, deviation)

    def exponential(
        self, scale: float = 1.0, size: Any = None, *, dtype: DTypeLike | None = None, device: str | None = None
    ) -> Array:
        """Numbers of the exponential distribution, ``-scale * log(u)``. Every device gives the same bits.

        u is in (0, 1), and has 32 random bits, or 64 in float64. So a number is at most 22.9 times `scale`, or 45.1
        times in float64, and 0 only if `scale` is 0 or the product underflows.

        Parameters
        ----------
        scale : float
            The mean, which is not negative.
        size : int or tuple of int, optional
            The shape; by default ``()``, a single element.
        dtype : numpy.dtype, optional
            Real floating-point; by default float64.
        device : Device or str, optional
            By default the default device.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            If an argument has the wrong type, or `dtype` is not accepted.
        ValueError
            If `scale` is not finite, or too large for the dtype, or negative.

        Examples
        --------
        >>> xp.random.Generator(7).exponential(10, size=3, dtype=xp.float32)
        Array([18.202486 ,  2.2940013, 16.477545 ], dtype=float32, device='cpu')
        """
        law, mean = LAWS["exponential"], real_number(scale, "exponential", "scale", 0)
        found = dtype_of(law, dtype, "exponential")
        require_finite(found, "exponential", scale=mean)
        return self._draw("exponential", law, size, found, device, mean)

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: Any = None,
        dtype: DTypeLike | None = None,
        endpoint: bool = False,
        *,
        device: str | None = None,
    ) -> Array:
        """Integers from `low` to `high`, all equally likely.

        For a range of n integers, the probability of each is within ``2**-64`` of ``1 / n``; exact if n is a power of
        two, else within ``2**-128`` if n is above ``2**32``. The numbers do not depend on the dtype.

        Parameters
        ----------
        low, high : int
            If only one is given, it is `high`, and `low` is 0.
        size : int or tuple of int, optional
            The shape; by default ``()``, a single element.
        dtype : numpy.dtype, optional
            An integer dtype; by default int64.
        endpoint : bool
            Whether the range includes `high`.
        device : Device or str, optional
            By default the default device.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            If an argument has the wrong type, or `dtype` is not accepted.
        ValueError
            If there is not an integer in the range.
        OverflowError
            If `dtype` cannot hold all integers of the range.

        Examples
        --------
        >>> xp.random.Generator(7).integers(1, 6, size=8, endpoint=True, dtype=xp.int8)
        Array([5, 6, 2, 1, 6, 3, 3, 5], dtype=int8, device='cpu')
        """
        found = dtype_of(LAWS["integers"], dtype, "integers")
        first, count = integer_range(low, high, endpoint, found)
        wide = count > 2**32 and count & (count - 1)
        law = LAWS["wide_integers" if wide else "integers"]
        return self._draw("integers", law, size, found, device, first % 2**64, count % 2**64)

    def bernoulli(self, p: float = 0.5, size: Any = None, *, device: str | None = None) -> Array:
        """Truth values, each True with probability `p`.

        Parameters
        ----------
        p : float
            From 0 to 1; rounded to a multiple of ``2**-32``.
        size : int or tuple of int, optional
            The shape; by default ``()``, a single element.
        device : Device or str, optional
            By default the default device.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            If an argument has the wrong type, or `dtype` is not accepted.
        ValueError
            If `p` is not from 0 to 1.

        Examples
        --------
        >>> xp.random.Generator(7).bernoulli(0.25, size=5)
        Array([ True, False,  True, False,  True], dtype=bool, device='cpu')
        """
        return self._draw_booleans("bernoulli", real_number(p, "bernoulli", "p", 0, 1), size, device)

    def dropout_mask(self, shape: Shape, p: float = 0.5, *, device: str | None = None) -> Array:
        """The mask of the elements that dropout keeps. Each is False (dropped) with probability `p`.

        Dropout of `x` is ``xp.where(mask, x, 0) / (1 - p)``.

        Parameters
        ----------
        shape : int or tuple of int
        p : float
            From 0 to 1; ``1 - p`` is rounded to a multiple of ``2**-32``.
        device : Device or str, optional
            By default the default device.

        Returns
        -------
        Array
            bool: the values that `bernoulli` gives for ``1 - p``.

        Raises
        ------
        TypeError
            If an argument has the wrong type, or `dtype` is not accepted.
        ValueError
            If `p` is not from 0 to 1.

        Examples
        --------
        >>> xp.random.Generator(7).dropout_mask((2, 3), 0.1)
        Array([[ True,  True,  True],
               [ True,  True,  True]], dtype=bool, device='cpu')
        """
        kept = 1 - real_number(p, "dropout_mask", "p", 0, 1)
        return self._draw_booleans("dropout_mask", kept, views.shape_of(shape, "dropout_mask"), device)

    def _draw_booleans(self, function: str, p: float, size: Any, device: str | None) -> Array:
        law = LAWS["bernoulli"]
        return self._draw(function, law, size, dtype_of(law, None, function), device, round(p * 2**32))

    def _draw(self, function: str, law: Law, size: Any, dtype: DType, device: str | None, *parameters: float) -> Array:
        """A new array of numbers that `law` computes from the next counters."""
        launch, counters = launch_of(law, function, size, dtype, device)
        made: Array = launch(*self._take(counters), *parameters)
        return made
