"""The rows of the incomplete gamma and beta functions, and of the distributions that they are."""

from __future__ import annotations

from xpops.ops.special.host import OfCounts, binomial, binomial_quantile, binomial_tail, negative_binomial, poisson
from xpops.ops.special.rows import special

_GAMMA, _BETA, _BETA_DISTRIBUTIONS = "incomplete_gamma", "incomplete_beta", "beta_distributions"

# The errors of `pow` and `tgamma` that CUDA documents add up to 31 and 38 units in an incomplete beta function: those
# measured on a host are smaller.
DISTRIBUTIONS = (
    special("gammainc", "a x", _GAMMA, (300, 1600)),
    special("gammaincc", "a x", _GAMMA, (210, 250)),
    special("gammainccinv", "a q", _GAMMA, (12, 40)),
    special("gammaincinv", "a p", _GAMMA, (14, 37)),
    special("chdtr", "v x", _GAMMA, (330, 1700)),
    special("chdtrc", "v x", _GAMMA, (260, 280)),
    special("chdtri", "v q", _GAMMA, (14, 34)),
    special("gdtr", "a b x", _GAMMA, (430, 1700)),
    special("gdtrc", "a b x", _GAMMA, (320, 580)),
    special("pdtr", "k m", _GAMMA, (99, 170)),
    special("pdtrc", "k m", _GAMMA, (450, 930)),
    special("pdtri", "k q", _GAMMA, (12, 12), cpu=OfCounts("pdtri", "gammainccinv", poisson)),
    special("betainc", "a b x", _BETA, (31, 38)),
    special("betaincc", "a b x", _BETA, (31, 38)),
    special("betaincinv", "a b p", _BETA, (31, 38)),
    special("bdtr", "k n p", _BETA_DISTRIBUTIONS, (31, 38), cpu=OfCounts("bdtr", "betaincc", binomial)),
    special("bdtrc", "k n p", _BETA_DISTRIBUTIONS, (31, 38), cpu=OfCounts("bdtrc", "betainc", binomial_tail)),
    special("bdtri", "k n q", _BETA_DISTRIBUTIONS, (25, 29), cpu=OfCounts("bdtri", "betainccinv", binomial_quantile)),
    special("nbdtr", "k n p", _BETA_DISTRIBUTIONS, (31, 38), cpu=OfCounts("nbdtr", "betainc", negative_binomial)),
    special("nbdtrc", "k n p", _BETA_DISTRIBUTIONS, (31, 38), cpu=OfCounts("nbdtrc", "betaincc", negative_binomial)),
    special("nbdtri", "k n q", _BETA_DISTRIBUTIONS, (25, 29), cpu=OfCounts("nbdtri", "betaincinv", negative_binomial)),
    special("fdtr", "dfn dfd x", _BETA_DISTRIBUTIONS, (31, 38)),
    special("fdtrc", "dfn dfd x", _BETA_DISTRIBUTIONS, (39, 39)),
    special("fdtri", "dfn dfd p", _BETA_DISTRIBUTIONS, (40, 50)),
    special("stdtr", "df t", _BETA_DISTRIBUTIONS, (60, 47)),
    special("stdtrit", "df p", _BETA_DISTRIBUTIONS, (40, 38)),
)
