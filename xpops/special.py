"""Special functions, as in ``scipy.special``, for arrays of any framework."""

from xpops.api import special as _special
from xpops.api.special import *  # noqa: F403

__all__ = _special.__all__
