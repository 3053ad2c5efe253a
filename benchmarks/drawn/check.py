"""Our results compared with torch's."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.drawn.call import Call


def find_error(call: Call, result: Any, reference: Any) -> str:
    """What is wrong with our result, or an empty string. Compares with torch's, in float64."""
    ours = torch.from_dlpack(result)
    if tuple(ours.shape) != tuple(reference.shape):
        return f"shape {tuple(ours.shape)}, not {tuple(reference.shape)}"
    nans = any(operand.values == "nans" for operand in call.operands)
    if call.name.startswith("arg") or (call.family == "sort" and nans):
        return ""  # equal elements may come in any order; torch sorts NaNs to the other end of descending results
    if not ours.is_floating_point() and not ours.is_complex():
        return "" if bool((ours == reference.to(ours.dtype)).all()) else "values"
    wide = torch.complex128 if ours.is_complex() else torch.float64
    one, two = ours.to(wide), reference.to(ours.dtype).to(wide)  # beyond the range of halves: infinite
    epsilon = torch.finfo(ours.dtype).eps
    finite = two.isfinite() & one.isfinite()
    same = (one == two) | (one.isnan() & two.isnan())
    if call.name == "sign":
        same |= one.isnan() & (two == 0)  # of NaN, as the standard says; torch has 0
    if call.name == "cumulative_prod":
        same |= _left_range(two, int(call.parameters["axis"]), torch.finfo(ours.dtype))
    limit = max(call.tolerance, 4 if call.family in ("binary", "unary", "cast") else 0) * epsilon
    largest = float(two[finite].abs().max()) if bool(finite.any()) else 0.0
    least = largest if call.family in ("reduction", "scan") else float(call.row is None or largest >= 1)
    near = finite & ((one - two).abs() <= limit * torch.clamp(two.abs(), min=least))
    return "" if bool((same | near).all()) else f"values, {int((~(same | near)).sum())} of them"


def _left_range(product: Any, axis: int, numbers: torch.finfo) -> Any:
    """Where a running product has left the dtype's normal numbers, or did so before: the order of products counts."""
    beyond = (product.abs() < numbers.tiny) | (product.abs() > numbers.max)
    return beyond.cumsum(axis) > 0
