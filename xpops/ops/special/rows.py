"""How rows of special functions are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from xpops.ops.derivatives.special import DERIVATIVES
from xpops.ops.operator import Operator
from xpops.ops.special.host import OfSciPy


def special(
    name: str,
    arguments: str,
    header: str,
    ulps: tuple[float, float],
    *,
    plain: Callable[..., Any] | None = None,
    cpu: Callable[..., Any] | None = None,
    public: str = "",
    long: Literal["never", "always"] = "always",
    core: bool = False,
) -> Operator:
    """A row of a function with named arguments, with its derivatives.

    On the CPU it is SciPy's function of this name, or `plain` without SciPy; or `cpu`, whether SciPy is there or not.
    With `core`, the compiled core computes float32 and narrower dtypes.
    """
    names = tuple(arguments.split())
    return Operator(
        name,
        len(names),
        "real floating-point",
        "promoted",
        f"special/{header}",
        cpu or OfSciPy(public or name, plain),
        wide_integers=True,
        arguments=names,
        public=public,
        ulps=ulps,
        cost="transcendental",
        long=long,
        core=core,
        derivatives=DERIVATIVES.get(name, ()),
    )
