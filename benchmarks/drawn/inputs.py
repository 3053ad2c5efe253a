"""The tensors of drawn operands."""

from __future__ import annotations

import torch

from benchmarks.drawn.operands import Operand


def make_tensor(operand: Operand, device: str) -> torch.Tensor:
    """New memory with values of the operand's kind, and the view of it. Reversed axes are not reversed yet."""
    dtype = getattr(torch, operand.dtype)
    memory = _restrict(_values(operand, dtype, device), operand).to(dtype)
    return memory.as_strided(operand.shape, operand.strides, operand.offset)


def copy_tensor(tensor: torch.Tensor, operand: Operand) -> torch.Tensor:
    """The same view of a copy of its memory."""
    memory = tensor.as_strided((operand.extent,), (1,), 0).clone()
    return memory.as_strided(operand.shape, operand.strides, operand.offset)


def _values(operand: Operand, dtype: torch.dtype, device: str) -> torch.Tensor:
    """Numbers for the whole memory, in the dtype or one that converts to it."""
    size, kind = (operand.extent,), operand.values
    if operand.domain.startswith("index"):
        numbers = torch.randint(0, max(1, int(operand.domain.split()[1])), size, device=device)
    elif dtype == torch.bool:
        share = float(operand.domain.split()[1]) if operand.domain.startswith("mask") else 0.5
        numbers = torch.rand(size, device=device) < share
    elif dtype.is_complex:
        numbers = torch.randn(size, device=device, dtype=dtype)
    elif dtype.is_floating_point:
        numbers = torch.randn(size, device=device, dtype=torch.float64 if dtype == torch.float64 else torch.float32)
    else:
        info = torch.iinfo(dtype)
        numbers = torch.randint(max(info.min, -(2**40)), min(info.max, 2**40), size, device=device, dtype=dtype)
    if kind == "constant":
        return numbers[:1].expand(size).clone()
    if kind == "few":
        return numbers[torch.randint(0, min(7, size[0]), size, device=device)]
    if kind == "sorted" and not dtype.is_complex:
        return numbers.sort().values
    if kind == "nans" and dtype.is_floating_point and operand.domain == "any":
        numbers[torch.rand(size, device=device) < 0.01] = torch.nan
    return numbers


def _restrict(numbers: torch.Tensor, operand: Operand) -> torch.Tensor:
    """The numbers moved into the operand's domain."""
    if operand.domain == "positive":
        return numbers.abs() + (0.01 if numbers.is_floating_point() else 0)
    if operand.domain == "unit" and numbers.is_floating_point():
        return numbers.sin()
    if operand.domain == "nonzero":
        return torch.where(numbers == 0, 1, numbers)
    if operand.domain == "shift":
        return numbers.abs() % (8 * operand.itemsize - 1)
    if operand.domain == "near one":
        return 1 + numbers.sin() / 1024 if numbers.is_floating_point() else numbers
    return numbers
