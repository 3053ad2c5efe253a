"""What `import xpops` does last."""

from __future__ import annotations

from xpops.api.compilation import await_compiler
from xpops.api.methods import attach
from xpops.engine.cuda.preparation import at_import


def start() -> None:
    """Complete the array class, prepare kernels for GPUs, and tell torch's compiler of the functions."""
    attach()
    at_import()
    await_compiler()
