"""Linear algebra, for arrays of any framework."""

from xpops.api import linalg as _linalg
from xpops.api.linalg import *  # noqa: F403

__all__ = _linalg.__all__
