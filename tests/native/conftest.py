"""Puts the helpers on the path. These tests need neither the package nor a GPU."""

import sys
from pathlib import Path

for folder in ("native", "helpers"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))
