"""How rows of operators are written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from xpops.core.dtypes import DType
from xpops.ops.operator import Operator
from xpops.ops.torch import TorchFunction as Torch


def row(
    name: str,
    arity: int,
    accepts: str,
    result: str = "promoted",
    *,
    header: str,
    cpu: Callable[..., Any] | None = None,
    torch: Torch | frozenset[DType] | None = None,
    **options: Any,
) -> Operator:
    """A row whose functions on the CPU are by default those of the same name. `torch` may be the dtypes of torch's."""
    same = Torch(name, torch) if isinstance(torch, frozenset) else torch
    return Operator(name, arity, accepts, result, header, cpu or getattr(np, name), torch=same, **options)  # type: ignore[arg-type]


# Rows whose functor neither begins nor ends with a product or sum that the compiler could contract.
plain = partial(row, contracts=False)
transcendental = partial(row, cost="transcendental")
narrow = partial(transcendental, narrow=True)
