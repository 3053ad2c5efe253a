"""Random numbers. The same seed gives the same numbers on every device."""

from xpops.api.random.generator import Generator

__all__ = ["Generator"]
