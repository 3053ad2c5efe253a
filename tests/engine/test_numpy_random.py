"""`xpops.numpy.random`: laws by moments, and with SciPy by chi-square and Kolmogorov-Smirnov tests."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

import xpops as xp
import xpops.numpy as np
from xpops.testing import to_numpy

COUNT = 20000
# Method and parameters -> mean, variance, and the distribution of SciPy with its parameters. NaN: there is none.
CONTINUOUS: dict[tuple[Any, ...], tuple[float, float, str, tuple[Any, ...]]] = {
    ("random",): (0.5, 1 / 12, "uniform", ()),
    ("uniform", -1, 3): (1, 4 / 3, "uniform", (-1, 4)),
    ("normal", 1, 2): (1, 4, "norm", (1, 2)),
    ("standard_normal",): (0, 1, "norm", ()),
    ("exponential", 2): (2, 4, "expon", (0, 2)),
    ("standard_exponential",): (1, 1, "expon", ()),
    ("lognormal", 0.3, 0.5): (
        math.exp(0.425),
        (math.exp(0.25) - 1) * math.exp(0.85),
        "lognorm",
        (0.5, 0, math.exp(0.3)),
    ),
    ("laplace", 1, 2): (1, 8, "laplace", (1, 2)),
    ("logistic", 1, 2): (1, 4 * math.pi**2 / 3, "logistic", (1, 2)),
    ("gumbel", 1, 2): (1 + 2 * 0.5772156649, 4 * math.pi**2 / 6, "gumbel_r", (1, 2)),
    ("standard_cauchy",): (math.nan, math.nan, "cauchy", ()),
    ("pareto", 5): (0.25, 5 / 48, "lomax", (5,)),
    ("weibull", 2): (math.gamma(1.5), 1 - math.gamma(1.5) ** 2, "weibull_min", (2,)),
    ("power", 3): (0.75, 3 / 80, "powerlaw", (3,)),
    ("rayleigh", 2): (2 * math.sqrt(math.pi / 2), (4 - math.pi) * 2, "rayleigh", (0, 2)),
    ("triangular", 1, 2, 5): (8 / 3, 13 / 18, "triang", (0.25, 1, 4)),
    ("wald", 2, 3): (2, 8 / 3, "invgauss", (2 / 3, 0, 3)),
    ("vonmises", 0.0, 2.0): (0, math.nan, "vonmises", (2.0,)),
    ("vonmises", 0.0, 0.0): (0, math.pi**2 / 3, "uniform", (-math.pi, 2 * math.pi)),
    ("standard_gamma", 0.1): (0.1, 0.1, "gamma", (0.1,)),
    ("standard_gamma", 1.0): (1, 1, "gamma", (1,)),
    ("gamma", 20.0, 0.5): (10, 5, "gamma", (20, 0, 0.5)),
    ("chisquare", 3): (3, 6, "chi2", (3,)),
    ("noncentral_chisquare", 0.5, 3): (3.5, 13, "ncx2", (0.5, 3)),
    ("noncentral_chisquare", 3, 40): (43, 166, "ncx2", (3, 40)),
    ("noncentral_chisquare", 3, 0): (3, 6, "chi2", (3,)),
    ("noncentral_f", 3, 12, 2.5): (2.2, math.nan, "ncf", (3, 12, 2.5)),
    ("f", 3, 12): (1.2, math.nan, "f", (3, 12)),
    ("standard_t", 3): (0, math.nan, "t", (3,)),
    ("beta", 0.1, 0.2): (1 / 3, 2 / 9 / 1.3, "beta", (0.1, 0.2)),
    ("beta", 2, 5): (2 / 7, 10 / 49 / 8, "beta", (2, 5)),
}
DISCRETE: dict[tuple[Any, ...], tuple[float, float, str, tuple[Any, ...]]] = {
    ("integers", 3, 9): (5.5, 35 / 12, "randint", (3, 9)),
    ("poisson", 0.3): (0.3, 0.3, "poisson", (0.3,)),
    ("poisson", 9.9): (9.9, 9.9, "poisson", (9.9,)),
    ("poisson", 10.0): (10, 10, "poisson", (10,)),
    ("poisson", 400.0): (400, 400, "poisson", (400,)),
    ("binomial", 5, 0.9): (4.5, 0.45, "binom", (5, 0.9)),
    ("binomial", 40, 0.25): (10, 7.5, "binom", (40, 0.25)),
    ("binomial", 1000, 0.6): (600, 240, "binom", (1000, 0.6)),
    ("negative_binomial", 2.5, 0.3): (2.5 * 0.7 / 0.3, 2.5 * 0.7 / 0.09, "nbinom", (2.5, 0.3)),
    ("geometric", 0.2): (5, 20, "geom", (0.2,)),
    ("logseries", 0.7): (-0.7 / 0.3 / math.log(0.3), math.nan, "logser", (0.7,)),
    ("logseries", 0.999): (999 / math.log(1000), math.nan, "logser", (0.999,)),
    ("zipf", 1.2): (math.nan, math.nan, "zipf", (1.2,)),
    ("zipf", 4.5): (1.1267338673 / 1.0547075107, math.nan, "zipf", (4.5,)),
    ("hypergeometric", 7, 5, 4): (7 / 3, 70 / 99, "hypergeom", (12, 7, 4)),
    ("hypergeometric", 5, 9000, 4000): (20000 / 9005, math.nan, "hypergeom", (9005, 5, 4000)),
    ("hypergeometric", 30, 50, 60): (22.5, 22.5 * 0.625 * 20 / 79, "hypergeom", (80, 30, 60)),
    ("hypergeometric", 3000, 700, 1000): (30000 / 37, math.nan, "hypergeom", (3700, 3000, 1000)),
    ("hypergeometric", 20, 20, 20): (10, 100 / 39, "hypergeom", (40, 20, 20)),
    ("hypergeometric", 10**9 - 1, 10**9 - 1, 10): (5, 2.5, "binom", (10, 0.5)),
}
LAWS = {**CONTINUOUS, **DISCRETE}


def drawn(call: tuple[Any, ...], device: Any, count: int = COUNT, seed: int = 11) -> Any:
    name, *parameters = call
    xp.set_default_device(device)
    try:
        return getattr(np.random.default_rng(seed), name)(*parameters, size=count)
    finally:
        xp.set_default_device(None)


@pytest.mark.parametrize("call", LAWS, ids=str)
def test_moments(call: tuple[Any, ...], device: Any) -> None:
    mean, variance, _, _ = LAWS[call]
    found = drawn(call, device)
    assert found.dtype == (xp.int64 if call in DISCRETE else xp.float64)
    x = to_numpy(found)
    if not math.isnan(mean) and not math.isnan(variance):
        assert abs(x.mean() - mean) < 4.5 * math.sqrt(variance / COUNT)
        assert abs(x.var() / variance - 1) < 0.25


@pytest.mark.parametrize("call", CONTINUOUS, ids=str)
def test_continuous_laws(call: tuple[Any, ...], device: Any) -> None:
    stats = pytest.importorskip("scipy.stats")
    _, _, name, parameters = CONTINUOUS[call]
    assert stats.kstest(to_numpy(drawn(call, device)), getattr(stats, name)(*parameters).cdf).pvalue > 1e-4


@pytest.mark.parametrize("call", DISCRETE, ids=str)
def test_discrete_laws(call: tuple[Any, ...], device: Any) -> None:
    stats = pytest.importorskip("scipy.stats")
    _, _, name, parameters = DISCRETE[call]
    law, x = getattr(stats, name)(*parameters), to_numpy(drawn(call, device))
    # SciPy sums a law until it finds a quantile, which takes minutes for long tails.
    found = numpy.geomspace(1, 1e7, 25).round() if name == "zipf" else law.ppf(numpy.linspace(0.02, 0.98, 25))
    cuts = numpy.unique(found)
    wanted = numpy.diff([0.0, *law.cdf(cuts), 1.0])
    kept = wanted * COUNT > 5
    counts = numpy.bincount(numpy.searchsorted(cuts, x), minlength=len(wanted))
    assert counts[~kept].sum() <= 40
    assert stats.chisquare(counts[kept], wanted[kept] / wanted[kept].sum() * counts[kept].sum()).pvalue > 1e-4


@pytest.mark.parametrize("mean", [1e12, 1e15, 3e18])
def test_counts_of_huge_means_are_normal(mean: float, device: Any) -> None:
    stats = pytest.importorskip("scipy.stats")
    for call, variance in ((("poisson", mean), mean), (("binomial", int(2 * mean), 0.5), mean / 2)):
        x = (to_numpy(drawn(call, device)) - mean) / math.sqrt(variance)
        assert stats.kstest(x, "norm").pvalue > 1e-4


@pytest.mark.parametrize("call", LAWS, ids=str)
def test_devices_agree(call: tuple[Any, ...], cuda: Any) -> None:
    host, there = to_numpy(drawn(call, "cpu")), to_numpy(drawn(call, cuda))
    if call in DISCRETE:
        assert (host != there).mean() < 1e-3
    else:
        numpy.testing.assert_allclose(there, host, rtol=1e-9, atol=1e-12)


def test_vectors(device: Any) -> None:
    shares = to_numpy(drawn(("dirichlet", [1.0, 2.0, 0.5]), device))
    numpy.testing.assert_allclose(shares.sum(1), 1, rtol=1e-12)
    numpy.testing.assert_allclose(shares.mean(0), numpy.array([1, 2, 0.5]) / 3.5, atol=0.01)
    counts = to_numpy(drawn(("multinomial", 20, [0.2, 0.5, 0.3]), device))
    assert counts.min() >= 0
    assert (counts.sum(1) == 20).all()
    numpy.testing.assert_allclose(counts.mean(0), [4, 10, 6], atol=0.06)
    numpy.testing.assert_allclose(numpy.cov(counts.T)[0, 1], -2, atol=0.15)
    colors, kept = numpy.array([20, 5, 0, 75]), 40
    counts = to_numpy(drawn(("multivariate_hypergeometric", colors.tolist(), kept), device))
    assert counts.min() >= 0
    assert (counts <= colors).all()
    assert (counts.sum(1) == kept).all()
    shares = colors / 100
    numpy.testing.assert_allclose(counts.mean(0), kept * shares, atol=0.08)
    spread = kept * 60 / 99 * (numpy.diag(shares) - numpy.outer(shares, shares))
    numpy.testing.assert_allclose(numpy.cov(counts.T), spread, atol=0.15)
    points = to_numpy(drawn(("multivariate_normal", [1, 2], [[2, 0.5], [0.5, 1]]), device))
    numpy.testing.assert_allclose(points.mean(0), [1, 2], atol=0.05)
    numpy.testing.assert_allclose(numpy.cov(points.T), [[2, 0.5], [0.5, 1]], atol=0.08)


def test_parameters_broadcast(device: Any) -> None:
    rng = np.random.default_rng(5)
    xp.set_default_device(device)
    try:
        for name in ("normal", "uniform", "laplace", "gamma", "beta"):
            assert getattr(rng, name)(xp.asarray([0.5, 1.0]), [[2.0], [3.0]]).shape == (2, 2)
        means = to_numpy(np.mean(rng.poisson([0.0, 2.0, 100.0], size=(5000, 3)), 0))
        numpy.testing.assert_allclose(means, [0, 2, 100], atol=0.7)
        assert to_numpy(rng.binomial([0, 7, 7], [0.5, 1.0, 0.0])).tolist() == [0, 7, 0]
        assert to_numpy(rng.geometric(1.0, 3)).tolist() == [1, 1, 1]
        assert to_numpy(rng.hypergeometric([5, 0, 5, 0, 9], [0, 5, 7, 0, 9], [3, 3, 12, 0, 0])).tolist() == [
            3,
            0,
            5,
            0,
            0,
        ]
        means = to_numpy(np.mean(rng.hypergeometric([3, 500], 500, [[50], [400]], size=(5000, 2, 2)), 0))
        numpy.testing.assert_allclose(means, [[150 / 503, 25], [1200 / 503, 200]], atol=0.35)
        assert to_numpy(rng.logseries([0.0, 1e-300])).tolist() == [1, 1]
        assert to_numpy(rng.zipf([1e4, 1e300, math.inf])).tolist() == [1, 1, 1]
        assert to_numpy(np.min(rng.zipf(1 + 1e-9, 1000))) > 0
        for name in ("noncentral_chisquare", "noncentral_f"):
            wanted = (2, 2) if name == "noncentral_chisquare" else (2, 2, 2)
            parameters = [[0.5, 1.0], [[2.0], [3.0]], [[[0.0]], [[4.0]]]][: len(wanted)]
            assert getattr(rng, name)(*parameters).shape == wanted
        assert to_numpy(rng.multivariate_hypergeometric([3], 2)).tolist() == [2]
        assert rng.multivariate_hypergeometric([3, 4], 2, size=(2, 3)).shape == (2, 3, 2)
        counts = to_numpy(rng.multinomial([[10], [0]], [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]))
        assert counts.sum(-1).tolist() == [[10, 10], [0, 0]]
        assert counts[:, 1].tolist() == [[10, 0, 0], [0, 0, 0]]
        assert rng.multivariate_normal([0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], 3, method="cholesky").shape == (3, 2)
        assert rng.normal().shape == rng.gamma(2.0).shape == ()
        assert rng.random((2, 3), np.float32).dtype == np.float32
        out = xp.zeros(4)
        assert rng.standard_normal(out=out) is out
        assert to_numpy(np.any(out != 0))
    finally:
        xp.set_default_device(None)


def test_orders_and_choices(device: Any) -> None:
    rng = np.random.default_rng(5)
    x = xp.reshape(xp.arange(12, device=device), (3, 4))
    for axis in (0, 1, None):
        moved = to_numpy(rng.permuted(x, axis=axis))
        assert moved.shape == (3, 4)
        numpy.testing.assert_array_equal(
            numpy.sort(moved, axis=axis).reshape(-1), numpy.sort(to_numpy(x), axis=axis).reshape(-1)
        )
        assert (moved != to_numpy(x)).any()
    rows = to_numpy(rng.permutation(x))
    assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, to_numpy(x).tolist()))
    rng.shuffle(x)
    assert sorted(to_numpy(x).reshape(-1).tolist()) == list(range(12))
    assert set(to_numpy(rng.choice([1.5, 2.5], 50, p=[1.0, 0.0])).tolist()) == {1.5}
    assert sorted(to_numpy(rng.choice(6, 6, replace=False)).tolist()) == list(range(6))
    assert len(rng.bytes(5)) == 5
    first, second = rng.spawn(2)
    assert isinstance(first, np.random.Generator)
    assert to_numpy(first.normal(size=3)).tolist() != to_numpy(second.normal(size=3)).tolist()
    assert np.random.default_rng(rng) is rng


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("gamma", (0.0,), "gamma: shape is 0.0; accepted: above 0"),
        ("binomial", (5, 1.5), "binomial: p is 1.5; accepted: 0 and more, up to 1"),
        ("poisson", (-1.0,), "poisson: lam is -1.0; accepted: 0 and more"),
        ("triangular", (1, 0, 2), "triangular: mode is 0; accepted: 1 and more"),
        ("laplace", (0, -1), "laplace: scale is -1"),
        ("geometric", (0.0,), "geometric: p is 0.0; accepted: above 0, up to 1"),
        ("poisson", ([1.0, -2.0],), "poisson: lam is -2.0; accepted: 0 and more"),
        ("zipf", (1.0,), "zipf: a is 1.0; accepted: above 1"),
        ("logseries", (1.0,), "logseries: p is 1.0; accepted: 0 and more, up to 0.99"),
        ("noncentral_chisquare", (0.0, 1.0), "noncentral_chisquare: df is 0.0; accepted: above 0"),
        ("noncentral_chisquare", (1.0, -1.0), "noncentral_chisquare: nonc is -1.0; accepted: 0 and more"),
        ("noncentral_f", (1.0, 0.0, 1.0), "noncentral_f: dfden is 0.0; accepted: above 0"),
        ("hypergeometric", (5, 6, 12), "hypergeometric: nsample is 12; accepted: 0 and more, up to 11"),
        ("hypergeometric", (10**9, 6, 1), "hypergeometric: ngood is 1000000000; accepted: 0 and more, up to 999999999"),
        ("multivariate_hypergeometric", ([5, 6], 12), "nsample is 12; accepted: 0 and more, up to 11"),
        ("multivariate_hypergeometric", ([5, -6], 2), "colors is -6; accepted: 0 and more"),
        ("dirichlet", ([1.0, -1.0],), "dirichlet: alpha is -1.0; accepted: 0 and more"),
        ("multinomial", (3, [0.5, 1.5]), "multinomial: pvals is 1.5; accepted: 0 and more, up to 1"),
    ],
)
def test_errors(name: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(np.random.default_rng(1), name)(*arguments)
