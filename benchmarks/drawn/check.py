"""Our results compared with torch's."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.drawn.call import Call

# The elements of a result that are compared at a time.
PART = 2**26


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
    # Results may be large, and float64 numbers are larger: they are compared part by part. What is beyond the range of
    # halves becomes infinite.
    parts = [x.reshape(-1).split(PART) for x in (ours, reference.to(ours.dtype))]
    is_product = call.name == "cumulative_prod"
    ignored = _left_range(call, reference, ours.dtype).reshape(-1).split(PART) if is_product else None
    largest = max((_largest(*pair) for pair in zip(*parts, strict=True)), default=0.0)
    wrong = 0
    for number, (one, two) in enumerate(zip(*parts, strict=True)):
        right = _agree(call, *_wide(one, two), largest, torch.finfo(ours.dtype).eps)
        wrong += int((~(right | ignored[number]) if ignored else ~right).sum())
    return f"values, {wrong} of them" if wrong else ""


def _wide(*tensors: Any) -> tuple[Any, ...]:
    return tuple(x.to(torch.complex128 if x.is_complex() else torch.float64) for x in tensors)


def _largest(ours: Any, theirs: Any) -> float:
    """The largest of their numbers, where both are finite."""
    found = theirs[theirs.isfinite() & ours.isfinite()]
    return float(_wide(found)[0].abs().max()) if found.numel() else 0.0


def _agree(call: Call, one: Any, two: Any, largest: float, epsilon: float) -> Any:
    """Where our numbers are near theirs."""
    same = (one == two) | (one.isnan() & two.isnan())
    if call.name == "sign":
        same |= one.isnan() & (two == 0)  # of NaN, as the standard says; torch has 0
    limit = max(call.tolerance, 4 if call.family in ("binary", "unary", "cast") else 0) * epsilon
    least = largest if call.family in ("reduction", "scan") else float(call.row is None or largest >= 1)
    near = (one - two).abs() <= limit * torch.clamp(two.abs(), min=least)
    return same | (near & two.isfinite() & one.isfinite())


def _left_range(call: Call, product: Any, dtype: torch.dtype) -> Any:
    """Where a running product has left the dtype's normal numbers, or did so before: the order of products counts."""
    numbers, size = torch.finfo(dtype), product.to(dtype).to(torch.float64).abs()
    return ((size < numbers.tiny) | (size > numbers.max)).cumsum(int(call.parameters["axis"])) > 0
