"""Functions for neural networks, beyond the standard, for arrays of any framework."""

from xpops.api import nn as _nn
from xpops.api.nn import *  # noqa: F403

__all__ = _nn.__all__
