"""What an operator is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """One elementwise operator, as data. Rows hash by identity: they are keys of the plan cache.

    Attributes
    ----------
    name : str
        The public name; the functor in ``native/`` bears it in CamelCase.
    arity : int
        The number of operands.
    accepts : str
        The category of dtypes it takes (`xpops.core.dtypes.CATEGORIES`). Floating-point operators take integers and
        booleans too, as the default floating-point dtype.
    result : {"promoted", "bool", "real", "given"}
        The result's dtype: what the operands promote to, bool, its real counterpart, or the caller's choice (casts).
    header : str
        The header in ``native/xpops/math/`` that holds the functor.
    numpy : str
        The function that computes it on the CPU: one of `xpops.engine.cpu.functions`, else NumPy's.
    condition : bool
        Whether the first operand is a boolean condition, outside promotion.
    logical : bool
        Whether operands are read as truth values.
    own_halves : bool
        Whether float16, bfloat16 and float8 are taken as they are, where every other operator computes them in float32.
    parameters : int
        How many of the last operands are numbers: outside promotion, in the dtype that elements are computed in.
    integers : bool
        Whether a floating-point operator takes integers and booleans, as the default floating-point dtype.
    narrow : bool
        Whether results of 16 bits and less have a functor of their own, but for float64: ``NarrowGelu<float16>``.
    contracts : bool
        Whether the compiler could contract products and sums of the functor with those of other operators in a fused
        kernel, which then keeps the functor's operands and result apart. False only where a functor begins and ends
        with neither.
    rounded : str
        What a fused kernel computes of real numbers instead of the functor: the one product or sum that it is, rounded.
    squares : bool
        Whether the functor squares its first operand if the second is the constant 2; so does a fused kernel.
    arguments : tuple of str
        The public names of the arguments; by default x, or x1 and x2.
    public : str
        What errors call it; by default its name.
    cost : {"memory", "divisions", "transcendental"}
        What bounds its speed: memory, or one division or square root, or arithmetic.
    long : {"never", "complex", "always"}
        Whether the functor's code is so long that it is called instead of inlined: the first call of an operator waits
        for the compiler. Transcendental functors of complex numbers always are.
    """

    name: str
    arity: int
    accepts: str
    result: Literal["promoted", "bool", "real", "given"]
    header: str
    numpy: str
    condition: bool = False
    logical: bool = False
    own_halves: bool = False
    parameters: int = 0
    integers: bool = True
    narrow: bool = False
    contracts: bool = True
    rounded: str = ""
    squares: bool = False
    arguments: tuple[str, ...] = ()
    public: str = ""
    cost: Literal["memory", "divisions", "transcendental"] = "memory"
    long: Literal["never", "complex", "always"] = "never"

    def __post_init__(self) -> None:
        defaults = {"arguments": ("x",) if self.arity == 1 else ("x1", "x2"), "public": self.name}
        for name, value in defaults.items():
            if not getattr(self, name):
                object.__setattr__(self, name, value)

    @property
    def functor(self) -> str:
        """The functor's name in C++: ``floor_divide`` is ``FloorDivide``."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def floating(self) -> bool:
        """Whether it takes floating-point dtypes only, so that integers become the default one."""
        return self.integers and self.accepts in ("floating-point", "real floating-point")

    @property
    def transcendental(self) -> bool:
        """Whether it is bound by arithmetic rather than by memory."""
        return self.cost == "transcendental"

    def __repr__(self) -> str:
        return f"<operator {self.name}>"
