#!/usr/bin/env python3
"""A C++ compiler with a cache: ``CXX`` names this script when mutants run.

Most mutants change few kernels or none, so most results are in the cache. The key is the preprocessed source, which
contains the headers. ``XPOPS_MUTANTS_CXX`` is the real compiler, and ``XPOPS_MUTANTS_OBJECTS`` the folder of the cache.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

COMPILER, OBJECTS = "XPOPS_MUTANTS_CXX", "XPOPS_MUTANTS_OBJECTS"


def main(arguments: list[str]) -> int:
    """Copy the shared object for these arguments from the cache to its path. Compile it first if it is not there."""
    compiler, folder = os.environ[COMPILER], Path(os.environ[OBJECTS])
    place = arguments.index("-o")
    target = Path(arguments[place + 1])
    options = arguments[:place] + arguments[place + 2 :]
    # -P omits line markers, whose paths differ from process to process.
    preprocessed = subprocess.run([compiler, *options, "-E", "-P"], capture_output=True, check=False).stdout
    flags = [each for each in options if each.startswith("-") and not each.startswith("-I")]
    key = folder / hashlib.sha256(preprocessed + "\0".join(flags).encode()).hexdigest()
    if not key.exists():
        done = subprocess.run([compiler, *options, "-o", str(target)], check=False)
        if done.returncode:
            return done.returncode
        aside = key.with_suffix(f".{os.getpid()}")
        shutil.copyfile(target, aside)
        aside.rename(key)
    shutil.copyfile(key, target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
