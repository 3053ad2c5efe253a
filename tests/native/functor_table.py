"""Every functor: its header, its arity and the compute types it takes, by the standard's category words."""

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
BOOL = ("bool",)
REAL = INTEGERS + FLOATS
NUMERIC = REAL + COMPLEX
FLOATING = FLOATS + COMPLEX

# name: (header, arity, dtypes)
FUNCTORS = {
    **{n: ("arithmetic", 2, NUMERIC) for n in ("Add", "Subtract", "Multiply", "Pow")},
    **{n: ("arithmetic", 2, REAL) for n in ("FloorDivide", "Remainder", "Maximum", "Minimum")},
    **{n: ("arithmetic", 1, NUMERIC) for n in ("Negative", "Positive", "Identity", "Abs", "Sign", "Square")},
    **{n: ("arithmetic", 1, FLOATING) for n in ("Reciprocal", "Real", "Imag", "Conj")},
    **{n: ("arithmetic", 2, FLOATS) for n in ("Hypot", "Copysign", "Nextafter")},
    "Divide": ("arithmetic", 2, FLOATING),
    "Clip": ("arithmetic", 3, REAL),
    **{n: ("comparison", 2, BOOL + NUMERIC) for n in ("Equal", "NotEqual")},
    **{n: ("comparison", 2, REAL) for n in ("Less", "LessEqual", "Greater", "GreaterEqual")},
    **{n: ("comparison", 1, NUMERIC) for n in ("Isfinite", "Isinf", "Isnan")},
    "Signbit": ("comparison", 1, FLOATS),
    "Where": ("comparison", 3, BOOL + NUMERIC),
    **{n: ("bitwise", 2, BOOL + INTEGERS) for n in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")},
    "BitwiseInvert": ("bitwise", 1, BOOL + INTEGERS),
    **{n: ("bitwise", 2, INTEGERS) for n in ("BitwiseLeftShift", "BitwiseRightShift")},
    **{n: ("bitwise", 2, BOOL) for n in ("LogicalAnd", "LogicalOr", "LogicalXor")},
    "LogicalNot": ("bitwise", 1, BOOL),
    **{n: ("exponential", 1, FLOATING) for n in ("Exp", "Expm1", "Log", "Log1p", "Log2", "Log10", "Sqrt")},
    "Logaddexp": ("exponential", 2, FLOATS),
    **{
        n: ("trigonometric", 1, FLOATING)
        for n in "Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh".split()
    },
    "Atan2": ("trigonometric", 2, FLOATS),
    **{n: ("rounding", 1, REAL) for n in ("Ceil", "Floor", "Trunc")},
    "Round": ("rounding", 1, NUMERIC),
}

PAIRED = {"Add": 2, "Subtract": 2, "Multiply": 2, "Maximum": 2, "Minimum": 2, "Abs": 1, "Negative": 1}

HEADERS = (
    "core/config core/types core/traits core/cast math/real math/pow math/packed math/arithmetic math/comparison "
    "math/bitwise math/exponential math/trigonometric math/rounding math/complex math/complex_exponential "
    "math/complex_hyperbolic math/complex_inverse"
).split()


def cpp(dtype: str) -> str:
    """The C++ name of a dtype."""
    return {"float32": "float", "float64": "double", "complex64": "complex<float>", "complex128": "complex<double>"}.get(
        dtype, dtype
    )


def include(header: str, dtypes) -> str:
    lines = [f'#include "xpops/math/{header}.cuh"']
    if set(dtypes) & set(COMPLEX):
        lines.append('#include "xpops/math/complex.cuh"')
    return "\n".join(lines) + "\n"
