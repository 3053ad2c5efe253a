"""apply2: two 16-bit floats at a time have the bits of float arithmetic rounded once."""

import functools

import ml_dtypes
import numpy as np
import pytest
from functor_table import PAIRED
from host_compile import COMPILER, PRELUDE, build, call

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the references meet NaN and overflow on purpose
]
RNG = np.random.default_rng(5)
DTYPES = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
NUMPY = {"Abs": np.abs, "Negative": np.negative, **{n: getattr(np, n.lower()) for n in list(PAIRED)[:5]}}


@functools.cache
def library():
    body = '#include "xpops/math/arithmetic.cuh"\n' + PRELUDE
    for name, arity in PAIRED.items():
        for dtype in DTYPES:
            pair = f"{dtype}x2"
            body += f"ELEMENTWISE{arity}({name}_{pair}, {name}().apply2, {', '.join([pair] * (arity + 1))})\n"
            operands = ", ".join(["float(x)", "float(y)"][:arity])
            body += f"static {dtype} {name}_f_{dtype}({dtype} x, [[maybe_unused]] {dtype} y) "
            body += f"{{ return {dtype}({name}()({operands})); }}\n"
            body += f"ELEMENTWISE2({name}_{dtype}, {name}_f_{dtype}, {dtype}, {dtype}, {dtype})\n"
    for dtype in DTYPES:
        body += f"ELEMENTWISE2(Nextafter_{dtype}, Nextafter(), {dtype}, {dtype}, {dtype})\n"
    return build(body)


def operands(dtype):
    special = np.array(
        [0, 1, 2, 0x3C00, 0x3F80, 0x7BFF, 0x7F7F, 0x7C00, 0x7F80, 0x7E00, 0x7FC0, 0x0400, 0x0080], np.uint16
    )
    special = np.concatenate([special, special | 0x8000])
    x, y = (a.ravel() for a in np.meshgrid(special, special))
    draw = [RNG.integers(0, 2**16, 200_000, np.uint16) for _ in range(2)]
    return [np.concatenate([a, b]).view(DTYPES[dtype]) for a, b in zip((x, y), draw, strict=True)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PAIRED)
def test_pairs_equal_float(name, dtype):
    x, y = operands(dtype)
    arity = PAIRED[name]
    packed = call(library(), f"{name}_{dtype}x2", np.dtype("u4"), *(a.view("u4") for a in (x, y)[:arity]))
    single = call(library(), f"{name}_{dtype}", DTYPES[dtype], x, y)
    packed = packed.view(DTYPES[dtype])
    nan = np.isnan(packed.astype(np.float32)) & np.isnan(single.astype(np.float32))
    assert ((packed.view("u2") == single.view("u2")) | nan).all()
    with np.errstate(all="ignore"):
        want = NUMPY[name](*(a.astype(np.float32) for a in (x, y)[:arity])).astype(DTYPES[dtype])
    np.testing.assert_array_equal(single.astype(np.float32), want.astype(np.float32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_nextafter_steps_in_the_narrow_type(dtype):
    x, y = operands(dtype)
    got = call(library(), f"Nextafter_{dtype}", DTYPES[dtype], x, y)
    with np.errstate(all="ignore"):
        want = np.nextafter(x, y)
    nan = np.isnan(got.astype(np.float32)) & np.isnan(want.astype(np.float32))
    equal = got.view("u2") == want.view("u2")
    # If x1 and x2 are zeros of different signs, NumPy's nextafter returns x1, the standard requires x2.
    equal |= (x.view("u2") & 0x7FFF == 0) & (y.view("u2") & 0x7FFF == 0) & (got.view("u2") == y.view("u2"))
    assert (equal | nan).all()
