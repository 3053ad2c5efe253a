"""Linear algebra, for arrays of any framework."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import NoReturn as _NoReturn

from xpops.api import linalg as _linalg
from xpops.api.linalg import *  # noqa: F403
from xpops.core import elsewhere as _elsewhere

__all__ = _linalg.__all__

if not _TYPE_CHECKING:  # a type checker would take any name for an attribute

    def __getattr__(name: str) -> _NoReturn:
        _elsewhere.refuse(__name__, name, _elsewhere.LINALG)
