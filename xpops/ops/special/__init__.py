"""The rows of special functions: elementwise operators that are not in the standard, in ``xpops.special``.

The names, arguments and meanings are those of ``scipy.special``.
"""

from __future__ import annotations

from xpops.ops.operator import Operator
from xpops.ops.special.distributions import DISTRIBUTIONS
from xpops.ops.special.elementary import ELEMENTARY
from xpops.ops.special.integrals import INTEGRALS

SPECIAL: dict[str, Operator] = {row.name: row for row in (*ELEMENTARY, *INTEGRALS, *DISTRIBUTIONS)}
