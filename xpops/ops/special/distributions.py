"""The rows of the incomplete gamma and beta functions, and of the distributions that they are."""

from __future__ import annotations

from xpops.ops.special.host import OfCounts, binomial, binomial_quantile, binomial_tail, negative_binomial, poisson
from xpops.ops.special.rows import special

_GAMMA, _BETA, _BETA_DISTRIBUTIONS = "incomplete_gamma", "incomplete_beta", "beta_distributions"

# The errors of `pow`, `exp` and `tgamma` that CUDA documents add up to 20 units in an incomplete gamma function, and to
# 31 and 38 in an incomplete beta function: those measured on a host are smaller.
DISTRIBUTIONS = (
    special("gammainc", "a x", _GAMMA, (20, 20)),
    special("gammaincc", "a x", _GAMMA, (20, 20)),
    special("gammainccinv", "a q", _GAMMA, (20, 20)),
    special("gammaincinv", "a p", _GAMMA, (20, 20)),
    special("chdtr", "v x", _GAMMA, (20, 20)),
    special("chdtrc", "v x", _GAMMA, (20, 20)),
    special("chdtri", "v q", _GAMMA, (20, 20)),
    special("gdtr", "a b x", _GAMMA, (20, 20)),
    special("gdtrc", "a b x", _GAMMA, (20, 20)),
    special("pdtr", "k m", _GAMMA, (20, 20)),
    special("pdtrc", "k m", _GAMMA, (20, 20)),
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
    special("fdtrc", "dfn dfd x", _BETA_DISTRIBUTIONS, (31, 38)),
    special("fdtri", "dfn dfd p", _BETA_DISTRIBUTIONS, (31, 38)),
    special("stdtr", "df t", _BETA_DISTRIBUTIONS, (31, 47)),
    special("stdtrit", "df p", _BETA_DISTRIBUTIONS, (31, 38)),
)
