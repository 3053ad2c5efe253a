"""The rows of activations: elementwise operators beyond the standard, in ``xpops.nn``."""

from __future__ import annotations

from xpops.ops.operator import Operator

_REAL = "real floating-point"

_ROWS = (
    Operator("relu", 1, "real-valued", "given", "rectifier", "relu", contracts=False),
    Operator("leaky_relu", 2, _REAL, "given", "rectifier", "leaky_relu", parameters=1, integers=False),
    Operator("gelu", 1, _REAL, "given", "activation", "gelu", narrow=True, integers=False),
    Operator("gelu_tanh", 1, _REAL, "given", "activation", "gelu_tanh", narrow=True, integers=False),
    Operator("silu", 1, _REAL, "given", "activation", "silu", narrow=True, integers=False),
    Operator("sigmoid", 1, _REAL, "given", "activation", "sigmoid", narrow=True),
    Operator("softplus", 3, _REAL, "given", "activation", "softplus", parameters=2, narrow=True, integers=False),
)

ACTIVATIONS: dict[str, Operator] = {row.name: row for row in _ROWS}
