"""The kernels that the benchmarks call: CUDA C++ through `xpops.kernel`."""

from __future__ import annotations

from pathlib import Path

import xpops as xp


def module(name: str) -> xp.kernel.RawModule:
    """The kernels of one file of this folder."""
    return xp.kernel.RawModule((Path(__file__).parent / f"{name}.cu").read_text(), name=name)
