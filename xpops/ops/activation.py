"""The rows of activations: elementwise operators that are not in the standard, in ``xpops.nn``."""

from __future__ import annotations

from functools import partial

from xpops.ops.operator import Operator

_REAL = "real floating-point"

# Functors that compute an exponential; results of 16 bits and less have a shorter functor.
_smooth = partial(Operator, header="activation", cost="transcendental", narrow=True)

_ROWS = (
    Operator("relu", 1, "real-valued", "given", "rectifier", "relu", contracts=False),
    Operator(
        "leaky_relu",
        2,
        _REAL,
        "given",
        "rectifier",
        "leaky_relu",
        parameters=1,
        integers=False,
        arguments=("x", "negative_slope"),
    ),
    _smooth("gelu", 1, _REAL, "given", numpy="gelu", integers=False),
    _smooth("gelu_tanh", 1, _REAL, "given", numpy="gelu_tanh", integers=False, public="gelu"),
    _smooth("silu", 1, _REAL, "given", numpy="silu", integers=False),
    _smooth("sigmoid", 1, _REAL, "given", numpy="sigmoid"),
    _smooth(
        "softplus",
        3,
        _REAL,
        "given",
        numpy="softplus",
        parameters=2,
        integers=False,
        arguments=("x", "beta", "threshold"),
    ),
)

ACTIVATIONS: dict[str, Operator] = {row.name: row for row in _ROWS}
