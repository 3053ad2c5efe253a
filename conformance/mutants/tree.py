"""Copies of the repository in which mutants are tried; the repository itself is only read."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import NamedTuple

from conformance.mutants import compiler
from xpops.core.config import cache_directory

# The memory limit of a test process on the CPU in bytes, because a mutant may allocate without end.
MEMORY = 12 << 30


class Ended(NamedTuple):
    """How pytest ended: its exit status, or None after a timeout; and its output."""

    status: int | None
    output: str


class Workshop:
    """A folder with a copy of the repository as it was at the start. Every mutant gets a copy of this copy.

    Parameters
    ----------
    root : Path
        The repository.
    folder : Path
        Where copies are made.
    objects : Path
        The folder of compiled C++, which later runs use again.
    limited : bool
        Whether processes are limited to `MEMORY`. Not on CUDA, which maps far more memory than it uses.
    """

    def __init__(self, root: Path, folder: Path, objects: Path, limited: bool) -> None:
        self.template, self._folder, self._objects, self._limited = folder / "tree", folder, objects, limited
        objects.mkdir(parents=True, exist_ok=True)
        (folder / "kernels").mkdir()
        kernels = shutil.ignore_patterns("mutants", "array-api-tests-*")
        if cache_directory().exists():
            shutil.copytree(cache_directory(), folder / "kernels", ignore=kernels, dirs_exist_ok=True)
        shutil.copytree(root, self.template, ignore=_left_out)

    @contextmanager
    def copy(self) -> Iterator[Path]:
        """A context manager: a copy of the repository, removed at its end."""
        with TemporaryDirectory(dir=self._folder) as folder:
            tree = Path(folder) / "tree"
            shutil.copytree(self.template, tree)
            shutil.copytree(self._folder / "kernels", Path(folder) / "kernels")
            yield tree

    def scratch(self) -> Path:
        """A new empty folder."""
        return Path(mkdtemp(dir=self._folder))

    def pytest(
        self, tree: Path, arguments: Sequence[str], environment: Mapping[str, str], limit: float | None
    ) -> Ended:
        """Run pytest in a copy. After `limit` seconds, end it and its children."""
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--hypothesis-seed=0", *arguments]
        output = subprocess.PIPE if limit is not None else None  # without a limit, show the output at once
        with TemporaryDirectory(dir=self._folder) as temporary:
            process = subprocess.Popen(
                command,
                cwd=tree,
                env={**self._environment(tree, temporary), **environment},
                stdout=output,
                stderr=subprocess.STDOUT if output else None,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            if self._limited:  # not between fork and exec, because this process may have threads
                resource.prlimit(process.pid, resource.RLIMIT_DATA, (MEMORY, MEMORY))
            try:
                shown, _ = process.communicate(timeout=limit)
                return Ended(process.returncode, shown or "")
            except subprocess.TimeoutExpired:
                return Ended(None, "")
            finally:
                _end(process)

    def _environment(self, tree: Path, temporary: str) -> dict[str, str]:
        """The environment of pytest. Every copy has its own kernel cache, because a mutant may write wrong entries.

        Variables that a surrounding pytest sets for its children are removed.
        """
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
            "PYTHONPATH": os.pathsep.join([str(tree), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "XPOPS_CACHE_DIR": str(tree.parent / "kernels"),
            "TMPDIR": temporary,
            "OPENBLAS_NUM_THREADS": "1",
            "CXX": str(Path(compiler.__file__)),
            compiler.COMPILER: host_compiler(),
            compiler.OBJECTS: str(self._objects),
        }


def host_compiler() -> str:
    """The C++ compiler of this machine."""
    named = os.environ.get(compiler.COMPILER) or os.environ.get("CXX", "g++")
    return shutil.which(named) or "clang++"


def _left_out(folder: str, names: list[str]) -> list[str]:
    """The names not to copy: hidden folders, caches and built packages."""
    return [name for name in names if name.startswith(".") or name in ("__pycache__", "dist")]


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and its children, if they still run."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
