"""Builds the compiled core (``xpops.core._compiled``) while xpops is installed. Without a C compiler it is left out."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a program, outside of an installation
    BuildHookInterface = object

SOURCES = Path(__file__).parent
# The loops over arrays of the CPU engine, and the structures of DLPack.
FOLDERS = SOURCES, SOURCES.parent / "cpu", SOURCES.parent / "dlpack"
NAME = "_compiled.abi3.so"
# Nobody reads the processor's floating-point exceptions, or errno after a function; if they counted, comparisons and
# square roots would not be vectorised.
_NUMBERS = ("-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno")
FLAGS = ("-std=gnu11", "-O3", *_NUMBERS, "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra")


class CompiledCore(BuildHookInterface):  # type: ignore[misc]  # hatchling has no types here
    """A wheel gets the module as one of its files, an editable install in the source tree."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds a wheel, or an editable one."""
        if self.target_name != "wheel" or os.environ.get("XPOPS_PURE", "0") not in ("", "0"):
            return
        editable = version == "editable"
        folder = Path(self.root, "xpops", "core") if editable else Path(tempfile.mkdtemp())
        reason = build(folder / NAME)
        if reason:
            self.app.display_warning(f"xpops: no compiled core, so calls take some microseconds longer: {reason}")
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        if not editable:
            build_data["force_include"][str(folder / NAME)] = f"xpops/core/{NAME}"


def build(target: Path) -> str:
    """Compile the module. Returns the reason why it was not compiled; an empty text if it was."""
    if sys.platform == "win32" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "it needs POSIX, and a Python with a global lock"
    include = sysconfig.get_path("include")
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    link = ("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()
    fresh = target.with_suffix(f".{os.getpid()}")  # another process may be using the old file
    define = f'-DXPOPS_SOURCES="{digest()}"'
    command = [
        *compiler,
        *FLAGS,
        *link,
        define,
        f"-I{include}",
        *map(str, _sources("*.c")),
        "-o",
        str(fresh),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    if done.returncode:
        fresh.unlink(missing_ok=True)
        return (done.stderr.strip().splitlines() or ["the compiler failed"])[0]
    fresh.replace(target)
    return ""


def digest() -> str:
    """A hash of the sources, which the module has as its attribute ``sources``."""
    return sha256(b"".join(path.read_bytes() for path in _sources("*.[ch]"))).hexdigest()


def _sources(pattern: str) -> list[Path]:
    return [path for folder in FOLDERS for path in sorted(folder.glob(pattern))]


if __name__ == "__main__":  # python native/dispatch/build.py: build in the source tree
    sys.exit(build(SOURCES.parents[1] / "xpops" / "core" / NAME) or 0)
