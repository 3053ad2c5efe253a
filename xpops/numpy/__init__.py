"""NumPy's names and signatures, for arrays of any framework: ``import xpops.numpy as np``.

>>> import xpops.numpy as np
>>> np.cumsum(np.array([[1, 2], [3, 4]]), 0)
Array([[1, 2],
       [4, 6]], dtype=int64, device='cpu')
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import NoReturn as _NoReturn

from numpy import (
    bool,
    bool_,
    complex64,
    complex128,
    complexfloating,
    double,
    dtype,
    euler_gamma,
    finfo,
    float16,
    float32,
    float64,
    floating,
    generic,
    iinfo,
    inexact,
    int8,
    int16,
    int32,
    int64,
    int_,
    integer,
    intp,
    isscalar,
    issubdtype,
    number,
    signedinteger,
    single,
    uint,
    uint8,
    uint16,
    uint32,
    uint64,
    unsignedinteger,
)

from xpops.api.compilation import offer_all as _offer_all
from xpops.api.constants import e, inf, nan, newaxis, pi
from xpops.api.data_types import can_cast, result_type
from xpops.api.devices import default_device, set_default_device
from xpops.api.manipulation.shapes import broadcast_shapes
from xpops.arrays import Array as ndarray
from xpops.core import elsewhere as _elsewhere
from xpops.numpy import (
    arithmetic,
    convolution,
    correlation,
    creation,
    fft,
    histograms,
    indexing,
    joining,
    linalg,
    logic,
    nan_reductions,
    polynomials,
    products,
    random,
    reductions,
    rounding,
    sets,
    shapes,
    sorting,
    statistics,
    trigonometric,
)
from xpops.numpy.arithmetic import *  # noqa: F403
from xpops.numpy.convolution import *  # noqa: F403
from xpops.numpy.correlation import *  # noqa: F403
from xpops.numpy.creation import *  # noqa: F403
from xpops.numpy.histograms import *  # noqa: F403
from xpops.numpy.indexing import *  # noqa: F403
from xpops.numpy.joining import *  # noqa: F403
from xpops.numpy.logic import *  # noqa: F403
from xpops.numpy.nan_reductions import *  # noqa: F403
from xpops.numpy.polynomials import *  # noqa: F403
from xpops.numpy.products import *  # noqa: F403
from xpops.numpy.reductions import *  # noqa: F403
from xpops.numpy.rounding import *  # noqa: F403
from xpops.numpy.sets import *  # noqa: F403
from xpops.numpy.shapes import *  # noqa: F403
from xpops.numpy.sorting import *  # noqa: F403
from xpops.numpy.statistics import *  # noqa: F403
from xpops.numpy.trigonometric import *  # noqa: F403

__all__ = [
    "bool",
    "bool_",
    "broadcast_shapes",
    "can_cast",
    "complex64",
    "complex128",
    "complexfloating",
    "default_device",
    "double",
    "dtype",
    "e",
    "euler_gamma",
    "fft",
    "finfo",
    "float16",
    "float32",
    "float64",
    "floating",
    "generic",
    "iinfo",
    "inexact",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "integer",
    "intp",
    "isscalar",
    "issubdtype",
    "linalg",
    "nan",
    "ndarray",
    "newaxis",
    "number",
    "pi",
    "random",
    "result_type",
    "set_default_device",
    "signedinteger",
    "single",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unsignedinteger",
]  # fmt: skip
__all__ += arithmetic.__all__
__all__ += convolution.__all__
__all__ += correlation.__all__
__all__ += creation.__all__
__all__ += histograms.__all__
__all__ += indexing.__all__
__all__ += joining.__all__
__all__ += logic.__all__
__all__ += nan_reductions.__all__
__all__ += polynomials.__all__
__all__ += products.__all__
__all__ += reductions.__all__
__all__ += rounding.__all__
__all__ += sets.__all__
__all__ += shapes.__all__
__all__ += sorting.__all__
__all__ += statistics.__all__
__all__ += trigonometric.__all__

_offer_all(__name__)
_offer_all(linalg.__name__)
_offer_all(fft.__name__)

if not _TYPE_CHECKING:  # a type checker would take any name for an attribute

    def __getattr__(name: str) -> _NoReturn:
        _elsewhere.refuse(__name__, name, _elsewhere.CUPY)
