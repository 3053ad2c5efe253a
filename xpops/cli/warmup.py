"""``python -m xpops warmup``: compile every operator for every dtype into the disk cache."""

from __future__ import annotations

import sys

from xpops.core import config
from xpops.engine.cuda.runtime import cache
from xpops.engine.cuda.runtime.driver import visible_gpus
from xpops.engine.cuda.warmup import all_sources, compile_all, core_sources


def warm_up() -> int:
    """Compile the missing kernels, with a progress bar; returns the exit code."""
    capabilities = {gpu.capability for gpu in visible_gpus() if gpu.usable}
    if not capabilities:
        print("No GPU here: there is nothing to compile.")
        return 0
    for capability in sorted(capabilities):
        sources = list(dict.fromkeys([*core_sources(capability), *all_sources(capability)]))
        compile_all(sources, capability, _progress)
        print(
            f"\nsm_{capability}: {len(sources)} kernels in {config.cache_directory()}, "
            f"{cache.compilations} compiled now"
        )
    return 0


def _progress(done: int, total: int) -> None:
    filled = 40 * done // total
    sys.stdout.write(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total}")
    sys.stdout.flush()
