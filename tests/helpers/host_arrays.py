"""What a GPU refuses, refused on the CPU, too: conversions to NumPy, and NumPy's arrays as operands."""

from __future__ import annotations

from typing import Any

import pytest

import xpops as xp
from xpops.frameworks.numpy import NumpyAdapter

# These functions take NumPy's arrays on a GPU, too.
_ACCEPTED = ("asarray", "from_dlpack", "index", "quantile")


def refuse_host_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let operands that are NumPy's arrays, and implicit conversions to NumPy, raise HostCopyError."""
    view = NumpyAdapter.view

    def refusing_view(self: Any, x: Any, function: str, *rest: Any) -> Any:
        if function not in _ACCEPTED:
            raise xp.HostCopyError(f"{function}: an operand is a NumPy array of shape {x.shape}")
        return view(self, x, function, *rest)

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise xp.HostCopyError("__array__")

    monkeypatch.setattr(NumpyAdapter, "view", refusing_view)
    monkeypatch.setattr(NumpyAdapter, "read", lambda self, x: (None, x))
    monkeypatch.setattr(xp.Array, "__array__", refuse)
