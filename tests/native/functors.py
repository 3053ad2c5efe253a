"""Calls functors, compiled for the host, on NumPy arrays: `run("Sin", x)`."""

import functools

import numpy as np
from functor_table import FUNCTORS, cpp, include
from host_compile import PRELUDE, build_all, call

BOOLEAN = ["Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "Isfinite", "Isinf", "Isnan", "Signbit"]
TO_REAL = ("Abs", "Real", "Imag")


def result_dtype(name: str, dtype: str) -> np.dtype:
    if name in BOOLEAN:
        return np.dtype(bool)
    if name in TO_REAL:
        return np.zeros(0, dtype).real.dtype
    return np.dtype(dtype)


@functools.cache
def _libraries():
    sources = {}
    for kind in ("real", "integer", "complex"):
        wanted = {"real": ("float32", "float64"), "complex": ("complex64", "complex128")}.get(kind)
        source, body = "", ""
        for name, (header, arity, dtypes) in FUNCTORS.items():
            for dtype in dtypes:
                if (dtype in wanted) if wanted else (dtype[:2] not in ("fl", "co")):
                    source += include(header, [dtype])
                    operands = [cpp(dtype)] * arity
                    if name == "Where":
                        operands[0] = "bool"
                    result = cpp(str(result_dtype(name, dtype)))
                    body += f"ELEMENTWISE{arity}({name}_{dtype}, {name}(), {', '.join(operands)}, {result})\n"
        sources[kind] = source + PRELUDE + body
    return build_all(sources)


def run(name: str, *arrays) -> np.ndarray:
    dtype = str(np.asarray(arrays[-1]).dtype)
    kind = {"f": "real", "c": "complex"}.get(np.dtype(dtype).kind, "integer")
    return call(_libraries()[kind], f"{name}_{dtype}", result_dtype(name, dtype), *arrays)


def special_values(dtype: str) -> np.ndarray:
    """Special values of both signs: 0, subnormals, 1, limits of exact integers, extremes, infinity, NaN, and others."""
    dtype = np.dtype(dtype)
    f = np.finfo(dtype)
    positive = [
        0,
        f.smallest_subnormal,
        f.smallest_subnormal * 5,
        f.smallest_normal,
        f.eps,
        1e-9,
        0.1,
        0.25,
        0.5,
        0.7,
        1,
    ]
    positive += [1 - f.epsneg, 1 + f.eps, 1.5, 2, 2.5, 3, np.pi / 2, np.pi, 7.5, 11, 30, 88, 100, 1000.25, 1 / f.eps]
    positive += [2 / f.eps - 1, 2 / f.eps, 1e30, f.max / 2, f.max, np.inf, np.nan]
    positive = np.array(positive, dtype)
    return np.concatenate([positive, -positive])


def complex_grid(dtype: str) -> np.ndarray:
    part = special_values("float32" if dtype == "complex64" else "float64")
    re, im = np.meshgrid(part, part)
    z = np.empty(re.size, dtype)
    z.real, z.imag = re.ravel(), im.ravel()
    return z


def bits(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def same_bits(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Equal bit for bit, except that any NaN equals any NaN."""
    return (bits(got) == bits(np.asarray(want, got.dtype))) | (np.isnan(got) & np.isnan(want))


def ulp_error(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """|got - want| in units of got's last place at want, which may be of a wider type. 0 where equal or both NaN."""
    dtype = got.dtype
    f = np.finfo(dtype)
    with np.errstate(all="ignore"):
        rounded = want.astype(dtype)
        magnitude = np.clip(np.abs(rounded), f.smallest_normal, np.nextafter(f.max, dtype.type(0)))
        scale = np.spacing(magnitude).astype(want.dtype)
        error = np.abs(got.astype(want.dtype) - want) / scale
        # If `want` rounds to infinity, both infinity and the largest number are correct.
        error = np.where((got == rounded) | (np.isnan(got) & np.isnan(want)), 0, error)
    return np.where(np.isnan(error), np.inf, error)
