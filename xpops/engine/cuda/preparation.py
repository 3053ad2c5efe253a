"""What `import xpops` does for the GPUs of this machine."""

from __future__ import annotations

from xpops.core import config
from xpops.engine.cuda.runtime.driver import visible_gpus


def at_import() -> None:
    """Prepare the core kernels. Without a GPU this imports nothing more: planning takes long to import."""
    if config.prepare and visible_gpus():
        from xpops.engine.cuda.warmup import prepare_once

        prepare_once()
