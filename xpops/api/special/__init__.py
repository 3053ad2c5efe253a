"""Special functions, as in ``scipy.special``, for arrays of any framework."""

from xpops.api.special.bessel import j0, j1, y0, y1, yn
from xpops.api.special.beta_distributions import bdtr, bdtrc, bdtri, nbdtr, nbdtrc, nbdtri
from xpops.api.special.degrees import cosdg, cotdg, radian, sinc, sindg, tandg
from xpops.api.special.elementary import cbrt, cosm1, exp2, exp10, expit, exprel, logit
from xpops.api.special.error import erf, erfc, erfcx, erfinv, log_ndtr, ndtr, ndtri
from xpops.api.special.factorials import betaln, binom, poch
from xpops.api.special.gamma import gamma, gammaln, gammasgn, loggamma, multigammaln, rgamma
from xpops.api.special.gamma_distributions import chdtr, chdtrc, chdtri, gdtr, gdtrc, pdtr, pdtrc, pdtri
from xpops.api.special.hypergeometric import hyp1f1, lpmv
from xpops.api.special.incomplete_beta import betainc, betaincc, betaincinv
from xpops.api.special.incomplete_gamma import gammainc, gammaincc, gammainccinv, gammaincinv
from xpops.api.special.information import entr, huber, kl_div, pseudo_huber, rel_entr
from xpops.api.special.integrals import ellipk, ellipkm1, exp1, expi, expn, spence
from xpops.api.special.modified_bessel import i0, i0e, i1, i1e, k0, k0e, k1, k1e
from xpops.api.special.sampling_distributions import fdtr, fdtrc, fdtri, stdtr, stdtrit
from xpops.api.special.transformations import boxcox, boxcox1p, inv_boxcox, inv_boxcox1p, xlog1py, xlogy
from xpops.api.special.zeta import digamma, polygamma, psi, zeta, zetac

__all__ = [
    "bdtr",
    "bdtrc",
    "bdtri",
    "betainc",
    "betaincc",
    "betaincinv",
    "betaln",
    "binom",
    "boxcox",
    "boxcox1p",
    "cbrt",
    "chdtr",
    "chdtrc",
    "chdtri",
    "cosdg",
    "cosm1",
    "cotdg",
    "digamma",
    "ellipk",
    "ellipkm1",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp1",
    "exp2",
    "exp10",
    "expi",
    "expit",
    "expn",
    "exprel",
    "fdtr",
    "fdtrc",
    "fdtri",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "gammaln",
    "gammasgn",
    "gdtr",
    "gdtrc",
    "huber",
    "hyp1f1",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "inv_boxcox",
    "inv_boxcox1p",
    "j0",
    "j1",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "kl_div",
    "log_ndtr",
    "loggamma",
    "logit",
    "lpmv",
    "multigammaln",
    "nbdtr",
    "nbdtrc",
    "nbdtri",
    "ndtr",
    "ndtri",
    "pdtr",
    "pdtrc",
    "pdtri",
    "poch",
    "polygamma",
    "pseudo_huber",
    "psi",
    "radian",
    "rel_entr",
    "rgamma",
    "sinc",
    "sindg",
    "spence",
    "stdtr",
    "stdtrit",
    "tandg",
    "xlog1py",
    "xlogy",
    "y0",
    "y1",
    "yn",
    "zeta",
    "zetac",
]
