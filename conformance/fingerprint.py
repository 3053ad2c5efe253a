"""``python -m conformance.fingerprint``: prints the SHA-256 of ``native/`` and ``xpops/`` that reports contain."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent.parent


def fingerprint() -> str:
    """SHA-256 over paths and bytes of every file in ``native/`` and ``xpops/``, sorted by path, without built files."""
    digest = sha256()
    files = (path for folder in ("native", "xpops") for path in (ROOT / folder).rglob("*") if path.is_file())
    for path in sorted(files, key=lambda path: path.relative_to(ROOT).as_posix()):
        if "__pycache__" not in path.parts and path.suffix != ".so":
            digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


if __name__ == "__main__":
    print(fingerprint())
