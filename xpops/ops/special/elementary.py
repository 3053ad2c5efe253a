"""The rows of special functions that consist of a few exponentials, logarithms or circular functions."""

from __future__ import annotations

import numpy as np

from xpops.ops.special import host
from xpops.ops.special.rows import special

_ELEMENTARY, _INFORMATION, _DEGREES = "elementary", "information", "degrees"

ELEMENTARY = (
    special("cbrt", "x", _ELEMENTARY, (1.5, 3), plain=np.cbrt),
    special("cosm1", "x", _ELEMENTARY, (3, 3), cpu=host.cosm1),
    special("exp2", "x", _ELEMENTARY, (2.5, 1.5), plain=np.exp2),
    special("exp10", "x", _ELEMENTARY, (2.5, 2), plain=lambda x: np.power(x.dtype.type(10), x)),
    special("expit", "x", _ELEMENTARY, (3.5, 4.5), plain=host.expit),
    special("exprel", "x", _ELEMENTARY, (2.5, 2.5), plain=host.exprel),
    special("logit", "x", _ELEMENTARY, (2, 2.5), plain=host.logit),
    special("boxcox", "x lmbda", _ELEMENTARY, (22, 13)),
    special("boxcox1p", "x lmbda", _ELEMENTARY, (24, 17)),
    special("inv_boxcox", "x lmbda", _ELEMENTARY, (13, 19)),
    special("inv_boxcox1p", "x lmbda", _ELEMENTARY, (14, 16)),
    special("xlogy", "x1 x2", _ELEMENTARY, (2.5, 2), plain=host.xlogy),
    special("xlog1py", "x1 x2", _ELEMENTARY, (2, 2), plain=host.xlog1py),
    special("entr", "x", _INFORMATION, (2.5, 2), plain=host.entr),
    special("huber", "delta r", _INFORMATION, (2, 2), plain=host.huber),
    special("kl_div", "x1 x2", _INFORMATION, (11, 9), plain=host.kl_div),
    special("pseudo_huber", "delta r", _INFORMATION, (3.5, 3.5), plain=host.pseudo_huber),
    special("rel_entr", "x1 x2", _INFORMATION, (2.5, 2.5), plain=host.rel_entr),
    special("cosdg", "x", _DEGREES, (2, 2.5)),
    special("cotdg", "x", _DEGREES, (3.5, 3.5)),
    special("radian", "d m s", _DEGREES, (3.5, 3), plain=host.radian),
    special("sinc", "x", _DEGREES, (3.5, 3), cpu=np.sinc),
    special("sindg", "x", _DEGREES, (2, 2.5)),
    special("tandg", "x", _DEGREES, (3.5, 3)),
)
