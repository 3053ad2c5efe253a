"""Random numbers. The same seed gives the same numbers on every device."""

from xpops.api import random as _random
from xpops.api.random import *  # noqa: F403

__all__ = _random.__all__
