"""Random numbers: one seed gives the same on every device."""

from xpops.api.random.generator import Generator

__all__ = ["Generator"]
