"""``python -m conformance.opinfo --device {cpu,cuda}``: torch's own samples of its operators, on ours, with gradients.

The samples are those of `torch.testing._internal.common_methods_invocations`, which needs the package expecttest. A
sample of float32, float64, complex64 or complex128 agrees if results and gradients do. Writes
``reports/opinfo-DEVICE.json``: for each operator how many samples agree, and why others are left out or differ.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from typing import Any

from conformance.fingerprint import fingerprint
from conformance.reporting import REPORTS, available, heading, write

# These read a triangle of a Hermitian matrix.
HERMITIAN = ("linalg.cholesky", "linalg.eigvalsh")


def main(arguments: list[str]) -> int:
    """Compare all samples, write the report, and return 1 if some differ."""
    parser = argparse.ArgumentParser("python -m conformance.opinfo", description="Torch's samples on our functions.")
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    options = parser.parse_args(arguments)
    if not available(options.device):
        print(f"opinfo: this machine has no device {options.device!r}")
        return 2
    from torch.testing._internal.common_methods_invocations import op_db

    operators = compare(op_db, options.device)
    total = sum(map(Counter, operators.values()), Counter[str]())
    report = {
        **heading(options.device),
        "samples": {kind: sum(count for text, count in total.items() if text.startswith(kind)) for kind in KINDS},
        "operators": operators,
        "fingerprint": fingerprint(),
    }
    write(REPORTS / f"opinfo-{options.device}.json", report)
    return int(report["samples"]["differ"] > 0)


KINDS = ("agree", "left out", "differ")


def compare(operators: Any, device: str) -> dict[str, dict[str, int]]:
    """How many samples of each operator have which outcome."""
    from conformance.opinfo.calls import CALLS
    from conformance.opinfo.samples import TOLERANCES, outcome

    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for operator in operators:
        name = ":".join(filter(None, (operator.name, operator.variant_test_name)))
        if name not in CALLS:
            continue
        for dtype in TOLERANCES.keys() & operator.supported_dtypes(device):
            for sample in operator.sample_inputs(device, dtype, requires_grad=True):
                text = outcome(operator, CALLS[name], sample, name in HERMITIAN)
                if text:
                    found[name][text] += 1
    return {name: dict(sorted(each.items())) for name, each in sorted(found.items())}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
