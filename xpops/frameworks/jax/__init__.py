"""JAX's arrays: eager calls, and calls in programs that XLA compiles."""

from xpops.frameworks.jax.adapter import ADAPTER

__all__ = ["ADAPTER"]
