"""The stacks that kernels may have: every other kernel keeps all its values in registers."""

from __future__ import annotations

import re

# The most bytes of a stack by the kernel's template or name, on any architecture, by NVRTC 13.0 and 13.5. They are
# spilled registers, unless said.
ALLOWED = {
    # A bound of two blocks of 512 threads. With more registers for fewer threads, columns take longer.
    "scan_columns": 208,
    # The next run of a row is loaded while this one is written.
    "scan_rows": 120,
    # Keys of a pass stay in registers between counting and writing; measured with more blocks and fewer keys.
    "radix_pass": 204,
    # A bound that lets two blocks of a multiprocessor hold their lines.
    "Softmax": 112,
    # As for softmax: rows of 64 elements a thread take longer without the bound.
    "fused_rows": 172,
    # The same beside sums for 16 columns a thread: still faster than kernels of their own for the sums.
    "fused_rows_and_columns": 40,
    # Several states a thread.
    "segment_reduce": 48,
    "reduce_columns": 40,
    "gather": 8,
    "upsample_backward": 8,
    "value_histogram": 16,
    "unique": 8,
    # Narrow keys are widened before they are compared.
    "topk": 40,
    # Functors of much arithmetic that are called, not inlined: what their caller keeps.
    "elementwise": 48,
    # The same, by the name of the row: the inverse calls functions of its own.
    "fdtri": 64,
    # Kernels of a test, with arrays in local memory.
    "kps": 72,
}
_CALL = re.compile(r"\b([A-Za-z_]\w*)<[^;{}]*>(?:::\w+)?\(params")


def allowed_stack(name: str, source: str) -> int:
    """The bytes of a stack that a kernel may have. Its template is the last that the source calls with `params`."""
    calls = _CALL.findall(source)
    return max([ALLOWED.get(name, 0), *(ALLOWED.get(each, 0) for each in calls[-1:])])
