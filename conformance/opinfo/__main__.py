"""``python -m conformance.opinfo --device {cpu,cuda}``: torch's own samples of its operators, on ours, with gradients.

The samples are those of `torch.testing._internal.common_methods_invocations`, which needs the package expecttest. A
sample of float32, float64, complex64 or complex128 agrees if results and gradients do. Writes
``reports/opinfo-DEVICE.json``: for each operator how many samples agree, and why others are left out or differ.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from functools import partial
from multiprocessing import get_context

from conformance.fingerprint import fingerprint
from conformance.opinfo.comparing import Outcome, compare_part
from conformance.reporting import REPORTS, available, heading, write


def main(arguments: list[str]) -> int:
    """Compare all samples, write the report, and return 1 if some differ."""
    parser = argparse.ArgumentParser("python -m conformance.opinfo", description="Torch's samples on our functions.")
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("-n", type=int, default=1, help="the number of processes (default 1)")
    options = parser.parse_args(arguments)
    if not available(options.device):
        print(f"opinfo: this machine has no device {options.device!r}")
        return 2
    with get_context("spawn").Pool(options.n) as pool:
        parts = 8 * options.n  # they take different times
        operators = merged(pool.imap_unordered(partial(compare_part, options.device, parts), range(parts)))
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


def merged(parts: Iterable[list[Outcome]]) -> dict[str, dict[str, int]]:
    """How many samples of each operator have which outcome."""
    found: dict[str, Counter[str]] = {}
    for name, text in (each for part in parts for each in part):
        if text:
            found.setdefault(name, Counter())[text] += 1
    return {name: dict(sorted(each.items())) for name, each in sorted(found.items())}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
