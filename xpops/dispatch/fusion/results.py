"""What a fused function returned."""

from __future__ import annotations

from typing import Any

from xpops.core.errors import describe


def results_of(name: str, returned: Any, kind: type) -> tuple[Any, ...]:
    """The results of a fused function as a tuple."""
    results = returned if isinstance(returned, tuple) else (returned,)
    for each in results:
        if not isinstance(each, kind) or (returned is results and len(results) == 1):
            raise TypeError(
                f"{name}: the function returns {describe(each)}; accepted: "
                "an array that is computed of its arguments, or a tuple of two such arrays or more"
            )
    return results
