"""What torch's compiler must know before it meets a call of xpops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._dynamo import trace_rules

from xpops.frameworks import torch_compiler  # noqa: F401  it registers the operator, which saved programs call


def skip(package: str) -> None:
    """Make torch's compiler never look into the code of a package."""
    trace_rules.add(package)


def allow(functions: Iterable[Callable[..., Any]]) -> None:
    """Make torch's compiler put calls of functions into its programs as they are."""
    for function in functions:
        torch.compiler.allow_in_graph(function)
