"""A row: one call of ours as Python source, and the same work as each library's users write it."""

from __future__ import annotations

import ast
from typing import NamedTuple

# Operands of the dtype that is measured. The other operands have the same dtype in every measurement.
FLOATING = (
    "x",
    "y",
    "p",
    "u",
    "o",
    "row",
    "line",
    "ordered",
    "vector",
    "single",
    "scalar",
    "image",
    "chosen",
    "triples",
)
OPERANDS = frozenset((*FLOATING, "b", "ob", "i", "j", "ints", "index", "places", "a", "h", "c", "signal"))


class Row(NamedTuple):
    """One call. All sources use the names that `benchmarks.host.libraries` defines: operands, `n`, `device`, `dtype`.

    Attributes
    ----------
    ours : str
        An expression or a statement. Functions of xpops begin with ``xp.``; other rows use operators and methods.
    torch, numpy, cupy, jax : str
        The same work in that library; empty if the library has no call for it. ``np`` is the library's NumPy namespace.
    """

    ours: str
    torch: str
    numpy: str
    cupy: str
    jax: str

    @property
    def names(self) -> set[str]:
        """The variables that our call uses."""
        return {node.id for node in ast.walk(ast.parse(self.ours)) if isinstance(node, ast.Name)}

    @property
    def is_for_every_framework(self) -> bool:
        """Whether it is a function of arrays. Creation, operators and methods are measured on our own arrays only."""
        return self.ours.startswith(("xp.", "fused(", "recorded(")) and bool(self.names & OPERANDS)

    @property
    def has_dtype(self) -> bool:
        """Whether it depends on the dtype that is measured."""
        return bool(self.names & {*FLOATING, "dtype"})

    def peer(self, library: str) -> str:
        """The source of a library's own call. Arrays of xpops are compared with torch's tensors."""
        source: str = getattr(self, "torch" if library == "xpops" else library)
        return source


def row(
    ours: str, torch: str | None = None, numpy: str | None = None, cupy: str | None = None, jax: str | None = None
) -> Row:
    """A row. By default torch and NumPy have the function of the same name, and cupy and JAX do as NumPy does."""
    numpy = ours.replace("xp.", "np.") if numpy is None else numpy
    return Row(
        ours,
        ours.replace("xp.", "torch.") if torch is None else torch,
        numpy,
        numpy if cupy is None else cupy,
        numpy if jax is None else jax,
    )
