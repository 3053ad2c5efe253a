"""The rows of activations: elementwise operators that are not in the standard, in ``xpops.nn``.

Their NumPy functions take and return ndarrays of float32 or float64. float64 uses the methods of
``native/xpops/math/activation.cuh``. float32 needs fewer passes, because float64 holds its products exactly.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from xpops.core import dtypes as dt
from xpops.ops.functions import where
from xpops.ops.operator import Operator
from xpops.ops.torch import FLOATS, HALVES, NARROW, REAL
from xpops.ops.torch import TorchFunction as Torch

NDArray = np.ndarray[Any, Any]

_SCALE = 2.0**64
# For abs(x) beyond this, gelu is x or 0.
_FAR = 60.0
# erfc(a / sqrt(2)) / 2 * exp(a * a / 2) * (a + 4) as a polynomial in (a - 4) / (a + 4), to 2^-58.
_MIDDLE = 4.0
_TAIL = (
    0.7552851304157515, -0.6078966419718921, 0.38713740074221464, -0.18652185795965937, 0.06039657489093058,
    -0.007540188966660091, -0.003479692367260775, 0.001630818456623526, 0.00013334431084868897,
    -0.00023109492747724818, -1.9082474855551145e-06, 3.514464905808587e-05, 7.166169169527959e-07,
    -5.92006110070052e-06, -6.295508369870093e-07, 1.0213368989165999e-06, 2.715215951644754e-07,
    -1.5470265304991244e-07, -8.505485639816176e-08, 1.3096417708292619e-08, 1.9351635462719252e-08,
    1.9814551143240737e-09, -2.414262449389222e-09, -7.319628567633335e-10, -1.6142870476384166e-11,
)  # fmt: skip
# The same for a up to 15, to 2^-26.
_SINGLE_TAIL = (
    0.7552851352531066, -0.6078965798763342, 0.38713691651823146, -0.18652365630259662, 0.06040348948659986,
    -0.00752400438990217, -0.00351021102296497, 0.0015684083337842902, 0.00017465943960907416, -0.00013419624381299562,
)  # fmt: skip
# The slope of gelu at -a is exp(-a * a / 2) (root - a) times a polynomial in (a - 4) / (a + 4), to 2^-56. The root is
# the sum of two float64.
_ROOT, _ROOT_LOW = 0.7517915246935645, -1.4956759177009883e-17
_SLOPE = (
    0.4622112440495753, -0.10336589852195696, 0.0604629367678512, -0.028083359953044753, 0.009504950375090313,
    -0.0017882605413412557, -0.0001546133127127198, 0.00018577577611860355, -1.7477215166419433e-05,
    -1.803494982855679e-05, 3.5389020718984518e-06, 2.2167844572033954e-06, -4.921583930699669e-07,
    -3.4949020087338613e-07, 5.23325274721363e-08, 6.346174194089398e-08, -5.833748158482791e-10,
    -1.1548344919238864e-08, -1.984111544732581e-09, 1.7885725289902443e-09, 7.179152147750583e-10,
    -1.7200700073262475e-10, -1.3369340877950446e-10, 7.902108719118704e-13, 8.8110014960224e-12,
)  # fmt: skip
# Below these numbers exp is subnormal in the dtype of 4 and of 8 bytes.
_SUBNORMAL = {4: -87.0, 8: -708.0}
# The coefficients of 2 sqrt(2 / pi) (a + 0.044715 a^3), each as the sum of two float64.
_FIRST, _FIRST_LOW = 1.5957691216057128, 1.7885919910836427e-14
_THIRD, _THIRD_LOW = 0.07135481627260025, -6.175149918155315e-19


def _relu(x: NDArray, out: NDArray | None = None) -> Any:
    return np.add(np.maximum(x, 0, out=out), x.dtype.type(0), out)  # -0.0 becomes +0.0


def _leaky_relu(x: NDArray, slope: NDArray) -> Any:
    return where(x > 0, x, x * slope)


def _gelu(x: NDArray) -> Any:
    if x.dtype == np.float32:
        return _gelu_single(x)
    above = _scaled_tail(x)
    return where(x > 0, x * (1 - above / _SCALE), x * above / _SCALE)


def _scaled_tail(x: NDArray) -> NDArray:
    """2^64 times the probability that a standard normal number is above abs(x), in float64."""
    a = np.minimum(np.abs(x), _FAR)
    square, low = _product(a, a)
    inverse = 1 / (a + _MIDDLE)
    tail: NDArray = _scaled_exp(-square / 2, -low / 2) * inverse * _polynomial((a - _MIDDLE) * inverse, _TAIL)
    return tail


def normal_distribution(x: NDArray) -> Any:
    """The distribution function of the standard normal distribution."""
    above = _scaled_tail(_wide(x)) / _SCALE
    return where(x > 0, 1 - above, above).astype(x.dtype)


def _gelu_single(x: NDArray) -> Any:
    a = np.minimum(np.abs(x), _FAR)
    density = np.exp(a.astype(np.float64) ** 2 * -0.5)
    inverse = 1 / (a + _MIDDLE)
    ratio = _polynomial((a - _MIDDLE) * inverse, _SINGLE_TAIL) * inverse
    result = np.asarray(x * np.abs((x > 0) - density.astype(np.float32) * ratio))
    far = x < -12  # `density` is subnormal in float32
    if far.any():
        result[far] = x[far] * (density[far] * ratio[far])
    return result


def _gelu_backward(g: NDArray, x: NDArray) -> Any:
    a = np.minimum(np.abs(_wide(x)), _FAR)
    square, low = _product(a, a)
    power = _scaled_exp(-square / 2, -low / 2) * ((_ROOT - a) + _ROOT_LOW)
    slope = power * _polynomial((a - _MIDDLE) / (a + _MIDDLE), _SLOPE) / _SCALE
    return (g * where(x > 0, 1 - slope, slope)).astype(x.dtype)


def _gelu_tanh(x: NDArray) -> Any:
    wide = _wide(x)
    a = np.minimum(np.abs(wide), _FAR / 2)
    if x.dtype == np.float32:
        power = np.exp((a * a * _THIRD + _FIRST) * -a)
        return (wide * (np.maximum(power, x > 0) / (1 + power))).astype(np.float32)
    square, square_low = _product(a, a)
    third, third_low = _product(np.float64(_THIRD), square)
    slope = third + _FIRST
    slope_low = third_low + (third + (_FIRST - slope)) + (_THIRD * square_low + _THIRD_LOW * square + _FIRST_LOW)
    argument, low = _product(slope, a)
    power = _scaled_exp(-argument, -(low + slope_low * a))
    share = 1 / (1 + power / _SCALE)
    return where(x > 0, x * share, x * power * share / _SCALE)


def _sigmoid(x: NDArray) -> Any:
    power = np.exp(-np.abs(x))
    return np.maximum(power, x > 0) / (1 + power)


def _silu(x: NDArray) -> Any:
    result = np.asarray(x * _sigmoid(x))
    far = x < _SUBNORMAL[x.dtype.itemsize]  # the sigmoid is subnormal
    if far.any():
        root = np.exp(_wide(x[far]) / 2)
        result[far] = root * x[far] * root
    return result


def _softplus(x: NDArray, beta: NDArray, threshold: NDArray) -> Any:
    scaled = _wide(x) * _wide(beta)
    power = np.exp(-np.abs(scaled))
    if x.dtype == np.float64:  # the product is rounded
        low = _product(x, beta)[1]
        power -= power * where(power > 0, np.copysign(1.0, scaled) * low, np.zeros_like(power))
    y = (np.maximum(scaled, 0) + np.log1p(power)) / beta
    return where(scaled > threshold, x, y.astype(x.dtype))


def _wide(x: NDArray) -> NDArray:
    return x.astype(np.float64, copy=False)


def _polynomial(x: NDArray, coefficients: tuple[float, ...]) -> NDArray:
    """The polynomial whose first coefficient is the constant."""
    first, *others, last = coefficients
    result: NDArray = x * last
    for coefficient in reversed(others):
        result += coefficient
        result *= x
    result += first
    return result


def _product(x: Any, y: Any) -> tuple[Any, Any]:
    """The product and its rounding error (Dekker, 1971): each factor is split into two parts of 26 bits."""
    product = x * y
    x1, x2 = parts = _split(x)
    y1, y2 = parts if y is x else _split(y)
    return product, ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2


def _split(x: Any) -> tuple[Any, Any]:
    """The first 26 bits, and the rest."""
    leading = np.asarray((np.asarray(x).view(np.int64) + (1 << 26)) & -(1 << 27)).view(np.float64)
    return leading, x - leading


def _scaled_exp(x: NDArray, low: Any) -> Any:
    """``2**64 * exp(x + low)`` for ``x <= 0``."""
    root = np.exp(np.maximum(x, -1800) / 2) * 2.0**32
    power = root * root
    return power + power * low


_REAL = "real floating-point"

# Torch's results are 0 where the exponential of -x overflows, though numbers of these dtypes are that small.
_FLUSHED = frozenset((dt.bfloat16, dt.float32))

# Functors that compute an exponential; results of 16 bits and less have a shorter functor.
_smooth = partial(Operator, header="activation", cost="transcendental", narrow=True, core=True)

_ROWS = (
    Operator(
        "relu",
        1,
        "real-valued",
        "given",
        "rectifier",
        _relu,
        contracts=False,
        torch=Torch("threshold", REAL, arguments=(0, 0)),
        core=True,
    ),
    Operator(
        "leaky_relu",
        2,
        _REAL,
        "given",
        "rectifier",
        _leaky_relu,
        defaults=(0.01,),
        ulps=(0.5, 0.5),
        integers=False,
        arguments=("x", "negative_slope"),
        torch=Torch("_C._nn.leaky_relu", FLOATS),
        core=True,
    ),
    _smooth("gelu", 1, _REAL, "given", cpu=_gelu, integers=False, ulps=(8, 7), torch=Torch("gelu", wide=NARROW)),
    _smooth(
        "gelu_tanh",
        1,
        _REAL,
        "given",
        cpu=_gelu_tanh,
        integers=False,
        public="gelu",
        options={"approximate": "tanh"},
        ulps=(6, 6),
        torch=Torch("gelu_tanh", wide=NARROW),
    ),
    _smooth(
        "silu",
        1,
        _REAL,
        "given",
        cpu=_silu,
        integers=False,
        ulps=(6, 4),
        torch=Torch("_C._nn.silu", frozenset((dt.float16,)), wide=_FLUSHED),
    ),
    _smooth(
        "sigmoid",
        1,
        _REAL,
        "given",
        cpu=_sigmoid,
        ulps=(6, 4),
        torch=Torch("sigmoid", FLOATS - _FLUSHED, wide=_FLUSHED),
    ),
    _smooth(
        "softplus",
        3,
        _REAL,
        "given",
        cpu=_softplus,
        defaults=(1.0, 20.0),
        ulps=(6, 4),
        integers=False,
        arguments=("x", "beta", "threshold"),
        torch=Torch("_C._nn.softplus", HALVES, wide=frozenset((dt.float32,))),
    ),
)

ACTIVATIONS: dict[str, Operator] = {row.name: row for row in _ROWS}

# Operators of derivatives: products of a cotangent and a slope.
BACKWARD: dict[str, Operator] = {
    "gelu_backward": Operator(
        "gelu_backward",
        2,
        _REAL,
        "given",
        "gradients",
        _gelu_backward,
        cost="transcendental",
        narrow=True,
        integers=False,
        public="gelu",
        ulps=(6, 6),
        torch=Torch("gelu_backward", NARROW),
    )
}
