"""The rows of the error function, gamma, zeta, exponential integrals, Bessel and hypergeometric functions."""

from __future__ import annotations

import math

from xpops.ops.activation import normal_distribution
from xpops.ops.special import host
from xpops.ops.special.host import OfSciPy
from xpops.ops.special.rows import special

_ERROR, _GAMMA, _ZETA, _INTEGRALS, _BESSEL = "error", "gamma", "zeta", "integrals", "bessel"
_HYPERGEOMETRIC = "hypergeometric"

INTEGRALS = (
    special("erf", "x", _ERROR, (2.5, 2.5), plain=host.of_numbers(math.erf)),
    special("erfc", "x", _ERROR, (4.5, 5.5), plain=host.of_numbers(math.erfc)),
    special("erfcx", "x", _ERROR, (5, 4)),
    special("erfinv", "x", _ERROR, (6.5, 6)),
    special("log_ndtr", "x", _ERROR, (7.5, 7)),
    special("ndtr", "x", _ERROR, (7.5, 7), plain=normal_distribution, long="never", core=True),
    special("ndtri", "p", _ERROR, (6, 6)),
    special("betaln", "a b", _GAMMA, (12, 15)),
    special("binom", "n k", _GAMMA, (6.5, 7.5)),
    special("gamma", "x", _GAMMA, (5.5, 10.5), plain=host.of_numbers(math.gamma)),
    special("gammaln", "x", _GAMMA, (6.5, 4.5), plain=host.of_numbers(math.lgamma)),
    special("gammasgn", "x", _GAMMA, (0, 0)),
    special("loggamma", "x", _GAMMA, (6.5, 4.5)),
    special("multigammaln", "a d", _GAMMA, (7, 5), cpu=host.multigammaln),
    special("poch", "z m", _GAMMA, (36, 30)),
    special("rgamma", "x", _GAMMA, (8, 13)),
    special("polygamma", "n x", _ZETA, (8, 13)),
    special("psi", "x", _ZETA, (3.5, 3.5)),
    special("riemann_zeta", "x", _ZETA, (23, 21), public="zeta"),
    special("zeta", "x q", _ZETA, (8.5, 24)),
    special("zetac", "x", _ZETA, (5, 6)),
    special("ellipk", "m", _INTEGRALS, (4, 4.5)),
    special("ellipkm1", "p", _INTEGRALS, (4.5, 4.5)),
    special("exp1", "x", _INTEGRALS, (5, 6.5)),
    special("expi", "x", _INTEGRALS, (9, 20)),
    special("expn", "n x", _INTEGRALS, (7, 6), cpu=OfSciPy("expn", whole=(0,))),
    special("spence", "x", _INTEGRALS, (4, 4)),
    special("i0", "x", _BESSEL, (7, 8)),
    special("i0e", "x", _BESSEL, (5, 6.5)),
    special("i1", "x", _BESSEL, (5.5, 5)),
    special("i1e", "x", _BESSEL, (4.5, 7)),
    special("j0", "x", _BESSEL, (9.5, 7.5)),
    special("j1", "x", _BESSEL, (9.5, 7.5)),
    special("k0", "x", _BESSEL, (5, 6.5)),
    special("k0e", "x", _BESSEL, (5, 5.5)),
    special("k1", "x", _BESSEL, (4, 4)),
    special("k1e", "x", _BESSEL, (3, 4.5)),
    special("y0", "x", _BESSEL, (9.5, 7.5)),
    special("y1", "x", _BESSEL, (9.5, 7.5)),
    special("yn", "n x", _BESSEL, (13, 12), cpu=OfSciPy("yn", whole=(0,))),
    special("hyp1f1", "a b x", _HYPERGEOMETRIC, (38, 34)),
    special("lpmv", "m v x", _HYPERGEOMETRIC, (25, 28)),
)
