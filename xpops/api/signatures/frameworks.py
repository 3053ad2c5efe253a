"""Arrays of frameworks. Torch's and JAX's are protocols, so that neither needs to be installed."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, TypeVar

from numpy.typing import NDArray

R = TypeVar("R", covariant=True)

NumPy: TypeAlias = NDArray[Any]


class Named(Protocol):
    """A function has a name."""

    __name__: str


class Torch(Protocol[R]):
    """torch.Tensor, or a subclass such as Parameter: `R` is torch.Tensor for either."""

    def detach(self) -> R:
        """A view without gradients."""


class Jax(Protocol[R]):
    """jax.Array, which is `R`."""

    def block_until_ready(self) -> R:
        """The array, once it is computed."""
