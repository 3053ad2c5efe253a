"""Find the official test suite: a given checkout, or a clone of the pinned commit."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from xpops.core.config import cache_directory

REPOSITORY = "https://github.com/data-apis/array-api-tests"
COMMIT = "55fcc60179efa2680ddd6cd926ddf17b83530e2b"


def suite() -> Path:
    """The checkout that ``ARRAY_API_TESTS`` names, else a cached clone of `COMMIT`.

    Raises
    ------
    FileNotFoundError
        If the given folder is not a checkout of the suite with its submodule.
    """
    given = os.environ.get("ARRAY_API_TESTS")
    folder = Path(given).resolve() if given else _clone(cache_directory() / f"array-api-tests-{COMMIT[:12]}")
    for needed in ("array_api_tests/stubs.py", "array-api/src/array_api_stubs"):
        if not (folder / needed).exists():
            raise FileNotFoundError(f"conformance: {folder} has no {needed}; ARRAY_API_TESTS takes a whole checkout")
    return folder


def _clone(folder: Path) -> Path:
    if not folder.exists():
        aside = folder.with_suffix(f".{os.getpid()}")
        for command in (
            ["git", "clone", "--quiet", REPOSITORY, str(aside)],
            ["git", "-C", str(aside), "checkout", "--quiet", COMMIT],
            ["git", "-C", str(aside), "submodule", "--quiet", "update", "--init"],
        ):
            subprocess.run(command, check=True)
        aside.rename(folder)
    return folder


def commit_of(folder: Path) -> str:
    """The commit of a checkout, or of an archive that ``git archive`` wrote; "unknown" for any other copy."""
    archived = re.search(r'git_full = "([0-9a-f]{40})"', (folder / "array_api_tests" / "_version.py").read_text())
    if archived:
        return archived[1]
    if not (folder / ".git").exists():  # else git would find a repository in the folders above
        return "unknown"
    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
