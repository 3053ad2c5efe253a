"""Every functor: its header, its arity and its compute types, by the standard's dtype categories."""

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
BOOL = ("bool",)
REAL = INTEGERS + FLOATS
NUMERIC = REAL + COMPLEX
FLOATING = FLOATS + COMPLEX

# name: (header, arity, dtypes)
FUNCTORS = {
    **dict.fromkeys(("Add", "Subtract", "Multiply", "Pow"), ("arithmetic", 2, NUMERIC)),
    **dict.fromkeys(("FloorDivide", "Remainder", "Maximum", "Minimum"), ("arithmetic", 2, REAL)),
    **dict.fromkeys(("Negative", "Positive", "Identity", "Abs", "Sign", "Square"), ("arithmetic", 1, NUMERIC)),
    **dict.fromkeys(("Reciprocal", "Real", "Imag", "Conj"), ("arithmetic", 1, FLOATING)),
    **dict.fromkeys(("Hypot", "Copysign", "Nextafter"), ("arithmetic", 2, FLOATS)),
    "Divide": ("arithmetic", 2, FLOATING),
    "Clip": ("arithmetic", 3, REAL),
    **dict.fromkeys(("Equal", "NotEqual"), ("comparison", 2, BOOL + NUMERIC)),
    **dict.fromkeys(("Less", "LessEqual", "Greater", "GreaterEqual"), ("comparison", 2, REAL)),
    **dict.fromkeys(("Isfinite", "Isinf", "Isnan"), ("comparison", 1, NUMERIC)),
    "Signbit": ("comparison", 1, FLOATS),
    "Where": ("comparison", 3, BOOL + NUMERIC),
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), ("bitwise", 2, BOOL + INTEGERS)),
    **dict.fromkeys(("Gcd", "Lcm"), ("bitwise", 2, INTEGERS)),
    "BitwiseInvert": ("bitwise", 1, BOOL + INTEGERS),
    **dict.fromkeys(("BitwiseLeftShift", "BitwiseRightShift"), ("bitwise", 2, INTEGERS)),
    **dict.fromkeys(("LogicalAnd", "LogicalOr", "LogicalXor"), ("bitwise", 2, BOOL)),
    "LogicalNot": ("bitwise", 1, BOOL),
    **dict.fromkeys(("Exp", "Expm1", "Log", "Log1p", "Log2", "Log10", "Sqrt"), ("exponential", 1, FLOATING)),
    **dict.fromkeys(("Logaddexp", "Logaddexp2"), ("exponential", 2, FLOATS)),
    **dict.fromkeys(
        ["Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh"],
        ("trigonometric", 1, FLOATING),
    ),
    "Atan2": ("trigonometric", 2, FLOATS),
    **dict.fromkeys(("Ceil", "Floor", "Trunc"), ("rounding", 1, REAL)),
    "Round": ("rounding", 1, NUMERIC),
    **dict.fromkeys(("Fmax", "Fmin"), ("numpy/extremes", 2, REAL)),
    "Heaviside": ("numpy/extremes", 2, FLOATS),
    "Fmod": ("numpy/remainder", 2, REAL),
    "Ldexp": ("numpy/parts", 2, FLOATS),
    "Exponent": ("numpy/parts", 1, FLOATS),
}

PAIRED = {"Add": 2, "Subtract": 2, "Multiply": 2, "Maximum": 2, "Minimum": 2, "Abs": 1, "Negative": 1}

HEADERS = [
    "core/config",
    "core/bits",
    "core/types",
    "core/traits",
    "core/cast",
    "math/real",
    "math/pow",
    "math/packed",
    "math/arithmetic",
    "math/comparison",
    "math/bitwise",
    "math/exponential",
    "math/trigonometric",
    "math/rounding",
    "math/complex",
    "math/complex/exponential",
    "math/complex/hyperbolic",
    "math/complex/inverse",
    "math/order",
    "math/philox",
    "math/random",
    "math/random_functions",
    "math/reduction",
    "math/moments",
    "math/position",
    "math/scan",
    "math/fast",
    "math/numpy/extremes",
    "math/numpy/parts",
    "math/numpy/remainder",
    "math/narrow/divide",
    "math/narrow/pow",
    "math/narrow/remainder",
    "math/narrow/turns",
    "math/scaled_exp",
    "math/special/normal_tail",
    "math/rectifier",
    "math/activation",
    "math/gradients",
    "math/special/bessel",
    "math/special/bessel_polynomials",
    "math/special/beta_distributions",
    "math/special/degrees",
    "math/special/elementary",
    "math/special/error",
    "math/special/gamma",
    "math/special/gamma_polynomials",
    "math/special/hypergeometric",
    "math/special/incomplete_beta",
    "math/special/incomplete_gamma",
    "math/special/information",
    "math/special/integrals",
    "math/special/logarithm",
    "math/special/real",
    "math/special/zeta",
]


def cpp(dtype: str) -> str:
    """The C++ name of a dtype."""
    return {
        "float32": "float",
        "float64": "double",
        "complex64": "complex<float>",
        "complex128": "complex<double>",
    }.get(dtype, dtype)


def include(header: str, dtypes) -> str:
    lines = [f'#include "xpops/math/{header}.cuh"']
    if set(dtypes) & set(COMPLEX):
        lines.append('#include "xpops/math/complex.cuh"')
    return "\n".join(lines) + "\n"
