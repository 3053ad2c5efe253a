"""The generator: distributions made of others, choices, and orders."""

from __future__ import annotations

import builtins
import math
from typing import Any

from xpops.api.creation.conversion import asarray
from xpops.api.creation.filling import zeros
from xpops.api.creation.ranges import arange
from xpops.api.data_types import astype
from xpops.api.elementwise.exponential import exp
from xpops.api.elementwise.limits import maximum
from xpops.api.elementwise.powers import sqrt
from xpops.api.indexing import take_along_axis
from xpops.api.linalg.decompositions import eigh
from xpops.api.manipulation.axes import matrix_transpose
from xpops.api.manipulation.joining import stack
from xpops.api.manipulation.shapes import reshape
from xpops.api.sorting import argsort
from xpops.api.statistics.extremes import max
from xpops.api.statistics.sums import cumulative_sum, sum
from xpops.core import dtypes as dt
from xpops.numpy.arguments import is_scalar, on_arrays, store
from xpops.numpy.random.counts import Counts
from xpops.numpy.random.draws import known, require
from xpops.numpy.random.rejection import Rejection
from xpops.numpy.random.transforms import Transforms
from xpops.ops.random import LAWS

# NumPy refuses more items of a kind.
_MOST_ITEMS = 10**9 - 1


class Generator(Transforms, Rejection, Counts):
    """NumPy's generator on Philox. The arrays are new arrays of ours on the default device.

    `uniform`, `normal`, `exponential`, `integers` and orders have the same bits on every device. Other numbers are
    functions of these, and differ by rounding; a count may differ where rounding decides.

    The numbers are not those of NumPy's generator. See `xpops.random.Generator` for seeds, streams and threads.

    Parameters
    ----------
    seed : int, optional

    Examples
    --------
    >>> from xpops.numpy.random import Generator
    >>> Generator(7).poisson(3.0, size=6).dtype
    dtype('int64')
    """

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        """As `numpy.random.Generator.gamma`."""
        require("gamma", "shape", shape, 0, beyond=True)
        require("gamma", "scale", scale, 0)
        lengths, (alpha, scale) = self._shaped(size, shape, scale)
        return scale * exp(self._log_gamma(lengths, alpha))

    def chisquare(self, df: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.chisquare`."""
        require("chisquare", "df", df, 0, beyond=True)
        shape, (df,) = self._shaped(size, df)
        return 2 * exp(self._log_gamma(shape, df / 2))

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.f`."""
        require("f", "dfnum", dfnum, 0, beyond=True)
        require("f", "dfden", dfden, 0, beyond=True)
        shape, (above, below) = self._shaped(size, dfnum, dfden)
        return exp(self._log_gamma(shape, above / 2) - self._log_gamma(shape, below / 2)) * (below / above)

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.noncentral_chisquare`."""
        require("noncentral_chisquare", "df", df, 0, beyond=True)
        require("noncentral_chisquare", "nonc", nonc, 0)
        shape, (df, nonc) = self._shaped(size, df, nonc)
        return 2 * exp(self._log_gamma(shape, self._noncentral(shape, df, nonc)))

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.noncentral_f`."""
        require("noncentral_f", "dfnum", dfnum, 0, beyond=True)
        require("noncentral_f", "dfden", dfden, 0, beyond=True)
        require("noncentral_f", "nonc", nonc, 0)
        shape, (above, below, nonc) = self._shaped(size, dfnum, dfden, nonc)
        logarithm = self._log_gamma(shape, self._noncentral(shape, above, nonc)) - self._log_gamma(shape, below / 2)
        return exp(logarithm) * (below / above)

    def _noncentral(self, shape: tuple[int, ...], df: Any, nonc: Any) -> Any:
        """Shapes of gamma distributions whose mixture is half of a noncentral chi-square distribution."""
        return self._poisson(shape, nonc / 2) + df / 2

    def standard_t(self, df: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.standard_t`."""
        require("standard_t", "df", df, 0, beyond=True)
        shape, (df,) = self._shaped(size, df)
        return self._gaussian(shape) * (df / 2) ** 0.5 * exp(-0.5 * self._log_gamma(shape, df / 2))

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.beta`."""
        require("beta", "a", a, 0, beyond=True)
        require("beta", "b", b, 0, beyond=True)
        shape, (a, b) = self._shaped(size, a, b)
        return 1 / (1 + exp(self._log_gamma(shape, b) - self._log_gamma(shape, a)))

    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.dirichlet`."""
        require("dirichlet", "alpha", alpha, 0)
        alpha = asarray(alpha, dtype=dt.float64)
        shape = (*self._shaped(() if size is None else size)[0], *alpha.shape)
        logarithms = self._log_gamma(shape, alpha)
        shares = exp(logarithms - max(logarithms, axis=-1, keepdims=True))
        return shares / sum(shares, axis=-1, keepdims=True)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """As `numpy.random.Generator.poisson`."""
        require("poisson", "lam", lam, 0)
        shape, (mean,) = self._shaped(size, lam)
        return astype(self._poisson(shape, mean), dt.int64)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.binomial`."""
        require("binomial", "n", n, 0)
        require("binomial", "p", p, 0, highest=1)
        shape, (n, p) = self._shaped(size, n, p)
        return astype(self._binomial(shape, n, p), dt.int64)

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.negative_binomial`: Poisson's distribution with gamma means."""
        require("negative_binomial", "n", n, 0, beyond=True)
        require("negative_binomial", "p", p, 0, beyond=True, highest=1)
        shape, (n, p) = self._shaped(size, n, p)
        return astype(self._poisson(shape, exp(self._log_gamma(shape, n)) * ((1 - p) / p)), dt.int64)

    def zipf(self, a: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.zipf`: the zeta distribution."""
        require("zipf", "a", a, 1, beyond=True)
        shape, (a,) = self._shaped(size, a)
        return astype(self._zipf(shape, a), dt.int64)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.hypergeometric`."""
        require("hypergeometric", "ngood", ngood, 0, highest=_MOST_ITEMS)
        require("hypergeometric", "nbad", nbad, 0, highest=_MOST_ITEMS)
        items = ngood + nbad if is_scalar(ngood) and is_scalar(nbad) else math.inf
        require("hypergeometric", "nsample", nsample, 0, highest=items)
        shape, (good, bad, drawn) = self._shaped(size, ngood, nbad, nsample)
        return astype(self._hypergeometric(shape, good, bad, drawn), dt.int64)

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: str = "marginals"
    ) -> Any:
        """As `numpy.random.Generator.multivariate_hypergeometric`, by marginals; `method` changes nothing."""
        require("multivariate_hypergeometric", "colors", colors, 0, highest=_MOST_ITEMS)
        numbers, colors = known(colors), asarray(colors, dtype=dt.float64)
        items = builtins.sum(numbers) if len(numbers) == colors.size else math.inf
        require("multivariate_hypergeometric", "nsample", nsample, 0, highest=items)
        shape, (rest,) = self._shaped(() if size is None else size, nsample)
        left = sum(colors) - cumulative_sum(colors)
        counts = []
        for place in range(colors.size - 1):
            counts.append(self._hypergeometric(shape, colors[place], left[place], rest))
            rest = rest - counts[-1]
        return astype(stack([*counts, zeros(shape, dtype=dt.float64) + rest], axis=-1), dt.int64)

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """As `numpy.random.Generator.multinomial`: a binomial draw for each probability but the last."""
        require("multinomial", "n", n, 0)
        require("multinomial", "pvals", pvals, 0, highest=1)
        chances = asarray(pvals, dtype=dt.float64)
        shape, (trials, _) = self._shaped(size, n, chances[..., 0])
        rest = zeros(shape, dtype=dt.float64) + trials
        left = 1.0 - cumulative_sum(chances, axis=-1, include_initial=True)
        counts = []
        for place in range(chances.shape[-1] - 1):
            share = (chances[..., place] / maximum(left[..., place], 1e-300)).clip(0.0, 1.0)
            counts.append(self._binomial(shape, rest, share))
            rest = rest - counts[-1]
        return astype(stack([*counts, rest], axis=-1), dt.int64)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: str = "ignore",
        tol: float = 1e-8,
        *,
        method: str = "eigh",
    ) -> Any:
        """As `numpy.random.Generator.multivariate_normal`, by eigenvalues. Negative ones count as 0.

        `check_valid`, `tol` and `method` change nothing.
        """
        mean, cov = asarray(mean, dtype=dt.float64), asarray(cov, dtype=dt.float64)
        values, vectors = eigh(cov)
        shape = (*self._shaped(() if size is None else size)[0], mean.shape[-1])
        factor = vectors * sqrt(maximum(values, 0.0))
        return mean + self._gaussian(shape) @ matrix_transpose(factor)

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        """As `numpy.random.Generator.permuted`: each line along the axis in its own order."""

        @on_arrays()
        def permuted(x: Any) -> Any:
            lines, along = (reshape(x, (-1,)), 0) if axis is None else (x, axis)
            keys = self._draw("permuted", LAWS["integers"], lines.shape, dt.uint64, x.device, 0, 0)
            return reshape(take_along_axis(lines, argsort(keys, axis=along), axis=along), x.shape)

        return store(permuted(arange(x) if isinstance(x, int) else x), out, "permuted")

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, **options: Any
    ) -> Any:
        """As `numpy.random.Generator.choice`; `shuffle` changes nothing."""
        options.pop("shuffle", None)
        return super().choice(asarray(a) if isinstance(a, (list, tuple)) else a, size, replace, p, axis, **options)

    def permutation(self, x: Any, axis: int = 0, **options: Any) -> Any:
        """As `numpy.random.Generator.permutation`."""
        return super().permutation(asarray(x) if isinstance(x, (list, tuple)) else x, axis, **options)

    def bytes(self, length: int) -> builtins.bytes:
        """As `numpy.random.Generator.bytes`. Waits for the device."""
        return builtins.bytes(self.integers(256, size=length, dtype=dt.uint8).to_numpy().tobytes())
