"""User-defined scans, from expressions of C++."""

from __future__ import annotations

import functools
from typing import Any

from xpops.api.compilation import offer
from xpops.api.kernel.compiled import CompiledKernel, compile_call, specs_on_gpu
from xpops.api.kernel.gpu import gpu_unless_traced
from xpops.dispatch.dense import require_array
from xpops.dispatch.primitives import unary
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.plan.result import scan_result
from xpops.plan.signature import Operand
from xpops.plan.strides.views import axis_of
from xpops.plan.user import Operation, UserReduction, bind_dtypes, parse_parameters


class ScanKernel:
    """A user-defined scan along an axis: each result combines its element with all elements before it.

    The array is read once. The order of combinations depends only on the layout.

    Parameters
    ----------
    in_params, out_params : str
        One parameter each, as for `ElementwiseKernel`, but not raw.
    map_expr : str
        The expression that is scanned, of an element.
    scan_expr : str
        An expression of ``a`` and ``b`` that combines two values; ``a`` comes first. Associative except for rounding;
        it need not be commutative.
    post_map_expr : str
        Statements that assign the result, from ``a``.
    name : str
        The name in errors.
    scan_type : str, optional
        The type of ``a`` and ``b``: a dtype's name, a letter, or a type of C++, such as a structure of the
        preamble. It is trivial, with up to 32 bytes. By default that of the result, or float if this is narrower.
    preamble : str
        C++ before the expressions: functions, structures, includes.

    Raises
    ------
    ValueError
        If a text does not have the form described above.

    Examples
    --------
    >>> highest = xp.kernel.ScanKernel("T x", "T y", "x", "a > b ? a : b", "y = a", "highest")
    >>> highest(xp.ones(3, device="cpu"))
    Traceback (most recent call last):
    xpops.core.errors.DeviceError: highest: the arrays are on cpu; kernels of one's own need a GPU
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        scan_expr: str,
        post_map_expr: str,
        name: str = "kernel",
        *,
        scan_type: str | None = None,
        preamble: str = "",
    ) -> None:
        if not name.isidentifier():
            raise ValueError(f"ScanKernel: name is {name!r}; accepted: a name as C++ has them")
        ins, outs = parse_parameters(in_params, "in_params", name), parse_parameters(out_params, "out_params", name)
        names = [each.name for each in (*ins, *outs)]
        if len(ins) != 1 or len(outs) != 1 or ins[0].raw or outs[0].raw or len({*names, "a", "b"}) != 4:
            raise ValueError(
                f"{name}: the parameters are {in_params!r} and {out_params!r}; accepted: one each that is not raw, and "
                "none called a or b"
            )
        operation = Operation(name, ins, outs, map_expr, preamble)
        self.__name__ = name
        # A key of plans: equal only to itself.
        self._plan = functools.partial(_plan, UserReduction(operation, scan_expr, post_map_expr, "", scan_type))
        offer(self)

    def __call__(self, x: Any, *, axis: int | None = None) -> Any:
        """Compute the result, which has the shape of `x`.

        Parameters
        ----------
        x : array
        axis : int, optional
            May be omitted if `x` has one axis.

        Raises
        ------
        TypeError
            If the dtype does not fit.
        ValueError, IndexError
            If the array has no such axis.
        DeviceError
            If the array is on the CPU.
        CompileError
            If an expression does not compile.
        """
        return unary(self._plan, self.__name__, x, axis)

    def compile(self, capability: int, x: Any, *, axis: int | None = None) -> CompiledKernel:
        """The kernel of a call with such an array, compiled for GPUs of a compute capability. Needs no GPU.

        Parameters
        ----------
        capability : int
            90 means sm_90.
        x, axis
            As for a call. The array may be on the CPU: only its dtype, shape, strides and alignment count.

        Examples
        --------
        >>> highest = xp.kernel.ScanKernel("T x", "T y", "x", "a > b ? a : b", "y = a", "highest")
        >>> highest.compile(90, xp.ones(1000)).resources.local_bytes
        0
        """
        specs = specs_on_gpu(self.__name__, ("x",), (x,))
        (made,) = compile_call(capability, self.__name__, self._plan, specs, axis)
        return made

    def __repr__(self) -> str:
        return f"<scan kernel {self.__name__}>"


def _plan(scan: UserReduction, engine: Engine, specs: tuple[Operand, ...], axis: int | None) -> Program:
    from xpops.engine.cuda.user.scan import scanned

    name = scan.map.name
    x = require_array(specs[0], name, "x")
    gpu = gpu_unless_traced(engine, x.device, name)
    types = bind_dtypes(scan.map, (x,), ())
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: axis is None for an array of {x.ndim} axes; accepted: None for 1 axis only")
    found = axis_of(0 if axis is None else axis, x.ndim, name)
    out = scan_result(x, found, types.outs[0], False)
    if gpu is None or out.size == 0:
        return Program((out,), lambda stream, out, x: None)
    return Program((out,), scanned(gpu, scan, types, x, found, out))
