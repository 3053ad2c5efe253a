"""Arrays of frameworks. Torch's and JAX's are protocols, so that neither needs to be installed."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias, TypeVar

from numpy.typing import NDArray

R = TypeVar("R", covariant=True)

NumPy: TypeAlias = NDArray[Any]


class Named(Protocol):
    """An object with a name, as functions have."""

    __name__: str


class Torch(Protocol[R]):
    """A torch.Tensor, or a subclass such as Parameter. `R` is torch.Tensor for both."""

    def detach(self) -> R:
        """A view without gradients."""


class Jax(Protocol[R]):
    """A jax.Array. `R` is jax.Array."""

    def block_until_ready(self) -> R:
        """The array, once it is computed."""
