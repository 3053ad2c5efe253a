"""One process of the comparison: the samples of a part of torch's operators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

# These read a triangle of a Hermitian matrix.
HERMITIAN = ("linalg.cholesky", "linalg.eigvalsh")
# An operator, and what came of one of its samples.
Outcome = tuple[str, str]


def compare_part(device: str, parts: int, part: int) -> list[Outcome]:
    """The outcomes of all samples of a part of torch's operators."""
    from torch.testing._internal.common_methods_invocations import op_db

    return compare(op_db[part::parts], device)


def compare(operators: Iterable[Any], device: str) -> list[Outcome]:
    """The outcomes of all samples of some operators."""
    from conformance.opinfo.calls import CALLS
    from conformance.opinfo.samples import TOLERANCES, outcome

    found = []
    for operator in operators:
        name = ":".join(filter(None, (operator.name, operator.variant_test_name)))
        if name not in CALLS:
            continue
        for dtype in TOLERANCES.keys() & operator.supported_dtypes(device):
            for sample in operator.sample_inputs(device, dtype, requires_grad=True):
                found.append((name, outcome(operator, CALLS[name], sample, name in HERMITIAN)))
    return found
