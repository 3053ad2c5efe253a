"""Gradients of torch's tensors: every function against finite differences, and against torch's own gradients."""

from __future__ import annotations

import pytest

from tests.helpers.gradient_cases import CASES
from tests.helpers.gradients import NONDETERMINISM, Case, operands

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning:torch"), pytest.mark.usefixtures("fused_backward")]
DTYPES = [
    pytest.param(case, dtype, id=f"{number}-{case.name}-{dtype}".replace("torch.", ""))
    for number, case in enumerate(CASES)
    for dtype in (torch.float64, torch.complex128)[: 1 + case.complex]
]
# These have no bfloat16, here or in torch.
WIDE = {"det", "fft", "inv", "matrix_norm", "pinv", "quantile", "rfft", "slogdet", "solve", "svdvals"}
COMPARED = [
    pytest.param(case, dtype, id=f"{number}-{case.name}-{dtype}".replace("torch.", ""))
    for number, case in enumerate(CASES)
    for dtype in (torch.float32, torch.bfloat16, torch.complex64)
    if case.theirs is not None
    and (case.complex or not dtype.is_complex)
    and (dtype is not torch.bfloat16 or case.name not in WIDE)
]


@pytest.mark.parametrize(("case", "dtype"), DTYPES)
def test_first_and_second_derivatives(case: Case, dtype: torch.dtype, torch_device: str) -> None:
    given = operands(case, dtype, torch_device)
    for _ in range(2):
        assert torch.autograd.gradcheck(case.call, given, fast_mode=True, nondet_tol=NONDETERMINISM)
        assert torch.autograd.gradgradcheck(case.call, given, fast_mode=True, nondet_tol=NONDETERMINISM)


@pytest.mark.parametrize(("case", "dtype"), COMPARED)
def test_gradients_are_those_of_torch(case: Case, dtype: torch.dtype, torch_device: str) -> None:
    given = operands(case, dtype, torch_device)
    wide = [x.detach().to(torch.complex128 if dtype.is_complex else torch.float64).requires_grad_() for x in given]
    expected = case.theirs(*wide)
    seed = operands(case._replace(shapes=(tuple(_first(expected).shape),), domain=""), dtype, torch_device)[0].detach()
    if not _first(expected).dtype.is_complex:
        seed = seed.real if seed.dtype.is_complex else seed
    elif not seed.dtype.is_complex:
        seed = seed.to(torch.complex64)
    theirs = torch.autograd.grad(_first(expected), wide, seed.to(_first(expected).dtype), allow_unused=True)
    error = {torch.bfloat16: 2.0**-6}.get(dtype, 2e-5)
    for _ in range(2):
        made = _first(case.call(*given))
        ours = torch.autograd.grad(made, given, seed.to(made.dtype))
        for x, mine, other in zip(given, ours, theirs, strict=True):
            assert mine.shape == x.shape
            assert mine.dtype == x.dtype
            scale = max(1.0, float(other.abs().max()))
            assert float((mine.to(other.dtype) - other).abs().max()) <= error * scale, (mine, other)


def _first(results: object) -> torch.Tensor:
    """The last result, which is the logarithm of a determinant if there are several."""
    return results[-1] if isinstance(results, tuple) else results
