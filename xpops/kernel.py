"""User-defined operators and kernels, for arrays of any framework on a GPU."""

from xpops.api import kernel as _kernel
from xpops.api.kernel import *  # noqa: F403

__all__ = _kernel.__all__
