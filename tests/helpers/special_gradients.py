"""Calls of special functions with gradients. Orders, shapes and counts are fixed, because they have no derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import xpops as xp
from tests.helpers.gradients import Case

torch = pytest.importorskip("torch")
special = xp.special

# Each function of one operand: the values that it takes, as in `Operator.domain`.
_UNARY = {
    **dict.fromkeys(("cbrt", "exp1", "gamma", "gammaln", "loggamma", "rgamma", "psi", "digamma"), "positive"),
    **dict.fromkeys(("spence", "entr", "k0", "k0e", "k1", "k1e", "y0", "y1", "tandg", "cotdg"), "positive"),
    **dict.fromkeys(("cosm1", "exp2", "exp10", "expit", "exprel", "sinc", "sindg", "cosdg", "erf", "erfc"), "any"),
    **dict.fromkeys(("erfcx", "ndtr", "log_ndtr", "i0", "i0e", "i1", "i1e", "j0", "j1", "gammasgn"), "any"),
    "expi": "nonzero",
    "erfinv": "unit",
}
# Calls whose operands are all arrays, and those with fixed operands.
_OTHERS: dict[str, tuple[Callable[..., Any], str]] = {
    "logit": (lambda x: special.logit(x * 0.4 + 0.5), "unit"),
    "ndtri": (lambda x: special.ndtri(x * 0.4 + 0.5), "unit"),
    "xlogy": (special.xlogy, "any positive"),
    "xlog1py": (special.xlog1py, "any positive"),
    "boxcox": (lambda x: special.boxcox(x, 0.7), "positive"),
    "boxcox1p": (lambda x: special.boxcox1p(x, 0.7), "positive"),
    "inv_boxcox": (lambda x: special.inv_boxcox(x, 0.7), "positive"),
    "inv_boxcox1p": (lambda x: special.inv_boxcox1p(x, 0.7), "positive"),
    "huber": (special.huber, "positive any"),
    "pseudo_huber": (special.pseudo_huber, "positive any"),
    "kl_div": (special.kl_div, "positive positive"),
    "rel_entr": (special.rel_entr, "positive positive"),
    "radian": (special.radian, "any any any"),
    "betaln": (special.betaln, "positive positive"),
    "binom": (special.binom, "above positive"),
    "poch": (special.poch, "positive positive"),
    "polygamma": (lambda x: special.polygamma(2, x), "positive"),
    "zeta": (lambda q: special.zeta(2.5, q), "positive"),
    "expn": (lambda x: special.expn(3, x), "positive"),
    "yn": (lambda x: special.yn(3, x), "positive"),
    "hyp1f1": (lambda x: special.hyp1f1(1.5, 2.5, x), "any"),
    "lpmv": (lambda x: special.lpmv(1, 3.0, x), "unit"),
    "gammainc": (lambda x: special.gammainc(1.7, x), "positive"),
    "gammaincc": (lambda x: special.gammaincc(1.7, x), "positive"),
    "gammaincinv": (lambda x: special.gammaincinv(1.7, x * 0.4 + 0.5), "unit"),
    "gammainccinv": (lambda x: special.gammainccinv(1.7, x * 0.4 + 0.5), "unit"),
    "chdtr": (lambda x: special.chdtr(3, x), "positive"),
    "chdtrc": (lambda x: special.chdtrc(3, x), "positive"),
    "chdtri": (lambda x: special.chdtri(3, x * 0.4 + 0.5), "unit"),
    "gdtr": (lambda a, x: special.gdtr(a, 1.7, x), "positive positive"),
    "gdtrc": (lambda a, x: special.gdtrc(a, 1.7, x), "positive positive"),
    "pdtr": (lambda m: special.pdtr(2, m), "positive"),
    "pdtrc": (lambda m: special.pdtrc(2, m), "positive"),
    "pdtri": (lambda x: special.pdtri(2, x * 0.4 + 0.5), "unit"),
    "betainc": (lambda x: special.betainc(1.7, 2.3, x * 0.4 + 0.5), "unit"),
    "betaincc": (lambda x: special.betaincc(1.7, 2.3, x * 0.4 + 0.5), "unit"),
    "betaincinv": (lambda x: special.betaincinv(1.7, 2.3, x * 0.4 + 0.5), "unit"),
    "bdtr": (lambda x: special.bdtr(2, 5, x * 0.4 + 0.5), "unit"),
    "bdtrc": (lambda x: special.bdtrc(2, 5, x * 0.4 + 0.5), "unit"),
    "bdtri": (lambda x: special.bdtri(2, 5, x * 0.4 + 0.5), "unit"),
    "nbdtr": (lambda x: special.nbdtr(2, 5, x * 0.4 + 0.5), "unit"),
    "nbdtrc": (lambda x: special.nbdtrc(2, 5, x * 0.4 + 0.5), "unit"),
    "nbdtri": (lambda x: special.nbdtri(2, 5, x * 0.4 + 0.5), "unit"),
    "fdtr": (lambda x: special.fdtr(3, 5, x), "positive"),
    "fdtrc": (lambda x: special.fdtrc(3, 5, x), "positive"),
    "fdtri": (lambda x: special.fdtri(3, 5, x * 0.4 + 0.5), "unit"),
    "stdtr": (lambda x: special.stdtr(3, x), "any"),
    "stdtrit": (lambda x: special.stdtrit(3, x * 0.4 + 0.5), "unit"),
}
_SHAPES = ((2, 3), (3,), (2, 1))
# Torch's functions, of the same operands.
_THEIRS = {
    name: getattr(torch.special, {"psi": "digamma"}.get(name, name))
    for name in ("entr", "erf", "erfc", "erfinv", "expit", "gammaln", "i0", "log_ndtr", "ndtr", "psi", "sinc", "xlogy")
}

SPECIAL = [
    *(
        Case(name, getattr(special, name), _SHAPES[:1], domain, False, _THEIRS.get(name))
        for name, domain in _UNARY.items()
    ),
    *(
        Case(name, call, _SHAPES[: len(domain.split())], domain, False, _THEIRS.get(name))
        for name, (call, domain) in _OTHERS.items()
    ),
]
