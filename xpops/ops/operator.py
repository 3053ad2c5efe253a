"""The description of an elementwise operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.ops.derivatives.elementwise import DERIVATIVES, Derivative
from xpops.ops.torch import TorchFunction


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """One elementwise operator, as data. Rows hash by identity: they are keys of the plan cache.

    Attributes
    ----------
    name : str
        The public name; the functor in ``native/`` has this name in CamelCase.
    arity : int
        The number of operands.
    accepts : str
        The category of dtypes it takes (`xpops.core.dtypes.CATEGORIES`). Floating-point operators convert integers and
        booleans to the default floating-point dtype; see `integers`.
    result : {"promoted", "bool", "real", "given"}
        The result's dtype. "promoted": the dtype to which the operands promote. "bool": bool. "real": the real
        counterpart of the promoted dtype. "given": the caller's choice (casts), by default the promoted dtype.
    header : str
        The header in ``native/xpops/math/`` that holds the functor.
    cpu : callable
        The function of ndarrays that computes it on the CPU: a NumPy ufunc, or a function that returns a new array or
        writes `out`, of the dtype of the operands, if it has such an argument. It also takes long doubles, for which
        tests call it, unless `conformance/references.py` has another reference.
    condition : bool
        Whether the first operand is a boolean condition, outside promotion.
    logical : bool
        Whether operands are converted to bool first.
    own_halves : bool
        Whether the functor takes float16, bfloat16 and float8 numbers unconverted. Otherwise they are computed in
        float32, except in `narrow` functors.
    cpu_halves : bool
        Whether `cpu` takes float16 and bfloat16 numbers unconverted, because it does not round.
    defaults : tuple of float
        The default values of the last operands, if these are parameters: numbers that do not take part in promotion, in
        float64 or float32 as the elements are computed.
    integers : bool
        Whether a floating-point operator converts integers and booleans to the default floating-point dtype; else it
        refuses them.
    wide_integers : bool
        Whether that conversion comes before promotion, as in SciPy: arrays of int64 and float32 give float64. Else it
        comes after promotion, and they give float32. Python's integers never decide.
    of_integers : bool or None
        The result for all integers, if it does not depend on them.
    narrow : bool
        Whether results of 16 bits and less have a functor of their own, such as ``NarrowGelu<float16>``. Loops in
        float64 do not use it; nor do those in float32, unless the result's dtype is given.
    contracts : bool
        Whether the compiler could contract the functor's products and sums with those of other operators in a fused
        kernel. The kernel then isolates the functor's operands and result. False only if the functor neither begins nor
        ends with a product or sum.
    rounded : str
        For functors that are one product or sum: the intrinsic that rounds it. A fused kernel uses it instead of the
        functor for real floating-point numbers.
    paired : str
        The function that computes it for two float16 or bfloat16 numbers in one register, with the same bits; empty if
        there is none.
    squares : bool
        Whether the functor squares its first operand if the second is the constant 2; so does a fused kernel.
    arguments : tuple of str
        The public names of the arguments; by default x, or x1 and x2.
    public : str
        The operator's name in errors; by default `name`.
    options : dict
        Keyword arguments with which the public function is this operator.
    ulps : tuple of float
        The accuracy promised on CUDA: the largest errors of float32, float64, complex64 and complex128 results (of
        those that it accepts), in units in the last place. 0: no result needs rounding. 0.5: the nearest number.
    domain : str
        A word for each operand, the values for which results are ordinary numbers: "any", "finite", "positive", "unit"
        (between -1 and 1), "nonzero" or "shift" (not negative, less than the width). Tests draw operands from it.
    cost : {"memory", "divisions", "transcendental"}
        The limit of its speed: memory, one division or square root, or arithmetic.
    long : {"never", "complex", "always"}
        Whether the functor's code is so long that kernels call it instead of inlining it, because the first call of an
        operator waits for the compiler. Kernels always call transcendental functors of complex numbers and of float64.
    torch : TorchFunction or None
        What computes it on torch's tensors in the host's memory, for the dtypes where torch has such a function.
    prepared : str
        The C++ functor for many first operands with the same second operand, which its constructor takes. Results of
        real numbers are within 2 units in the last place. Empty if there is none.
    near : str
        The C++ functor of float32 numbers with one approximate instruction, within 2 units in the last place; for
        expressions of halves that need not be exact. Empty if there is none.
    root : bool
        Whether results are square roots. The inverse of one is neither subnormal nor, unless it is 0, infinite.
    core : bool
        Whether the compiled core (``native/cpu/elementwise.c``) computes it for float32 and narrower dtypes.
    derivatives : tuple
        The derivatives by each operand (`xpops.ops.derivatives`); empty if there is none. By default those of `name`.
    """

    name: str
    arity: int
    accepts: str
    result: Literal["promoted", "bool", "real", "given"]
    header: str
    cpu: Callable[..., Any]
    condition: bool = False
    logical: bool = False
    own_halves: bool = False
    cpu_halves: bool = False
    defaults: tuple[float, ...] = ()
    integers: bool = True
    wide_integers: bool = False
    of_integers: bool | None = None
    narrow: bool = False
    contracts: bool = True
    rounded: str = ""
    paired: str = ""
    squares: bool = False
    arguments: tuple[str, ...] = ()
    public: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    ulps: tuple[float, ...] = (0, 0, 0, 0)
    domain: str = ""
    cost: Literal["memory", "divisions", "transcendental"] = "memory"
    long: Literal["never", "complex", "always"] = "never"
    torch: TorchFunction | None = None
    prepared: str = ""
    near: str = ""
    root: bool = False
    core: bool = False
    derivatives: tuple[Derivative | None, ...] = ()

    def __post_init__(self) -> None:
        count = self.arity - len(self.defaults)
        usual = {
            "arguments": ("x1", "x2") if count == 2 else ("x",),
            "public": self.name,
            "domain": " ".join(["any"] * count),
            "derivatives": DERIVATIVES.get(self.name, ()),
        }
        for name, value in usual.items():
            if not getattr(self, name):
                object.__setattr__(self, name, value)

    @property
    def functor(self) -> str:
        """The functor's name in C++: ``floor_divide`` is ``FloorDivide``."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def parameters(self) -> int:
        """How many of the last operands are parameters."""
        return len(self.defaults)

    def error(self, dtype: DType) -> float:
        """The largest error of a result of a dtype that is promised on CUDA. Halves are rounded from float32."""
        if dtype in dt.HALVES:
            return 0.51 if self.ulps[0] > 0.5 or (self.ulps[0] and self.defaults) else self.ulps[0]
        columns = (dt.float32, dt.float64, *dt.COMPLEX_FLOATS)
        return dict(zip(columns, self.ulps, strict=False)).get(dtype, 0)

    @property
    def floating(self) -> bool:
        """Whether it computes in floating-point dtypes only, and converts integers to the default one."""
        return self.integers and self.accepts in ("floating-point", "real floating-point")

    @property
    def is_constant(self) -> bool:
        """Whether results are booleans or integers, which have no derivatives."""
        return self.result == "bool" or self.accepts in ("integer", "integer or boolean")

    @property
    def transcendental(self) -> bool:
        """Whether arithmetic, not memory, limits its speed."""
        return self.cost == "transcendental"

    def __repr__(self) -> str:
        return f"<operator {self.name}>"
