"""User-defined elementwise operators, from C++ structures."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from xpops.api.kernel.elementwise import user_call
from xpops.api.kernel.gpu import require_cuda
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.errors import describe
from xpops.core.layouts import Layout
from xpops.core.promotion import promote
from xpops.dispatch.primitives import call
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.plan.signature import Operand
from xpops.plan.user import Operation, Parameter

if TYPE_CHECKING:
    from xpops.core.devices import Device
    from xpops.engine.cuda.user.operands import UserCall

_STRUCT = re.compile(r"\b(?:struct|class)\s+([A-Za-z_]\w*)\s*(?:final\s*)?[:{]")


def functor(source: str, name: str | None = None) -> Functor:
    """An elementwise operator from a C++ structure with ``operator()``.

    Parameters
    ----------
    source : str
        C++ with a structure whose ``operator()`` takes one value for each operand. The values have the dtype to which
        all operands promote; float for float16, bfloat16 and float8. The structure may also have ``apply2``, which
        takes and returns two numbers in one register: ``xpops::packed2<xpops::float16>``, or the same of bfloat16. It
        is used if all operands and the result have this dtype.
    name : str, optional
        The name of the structure; by default the last structure of the source.

    Returns
    -------
    Functor
        A function of arrays of any framework, and scalars.

    Raises
    ------
    TypeError
        If `source` is not a str.
    ValueError
        If `source` has no such structure.

    Examples
    --------
    >>> swish = xp.kernel.functor('''
    ... struct Swish {
    ...   template <class T> XPOPS_DEVICE T operator()(T x, T beta) const { return x / (1 + exp(-beta * x)); }
    ... };
    ... ''')
    >>> swish(xp.ones(3, device="cpu"), 2.0)
    Traceback (most recent call last):
    xpops.core.errors.DeviceError: Swish: the arrays are on cpu; kernels of one's own need a GPU
    """
    if not isinstance(source, str):
        raise TypeError(f"functor: source is {describe(source)}; accepted: text")
    found = _STRUCT.findall(source)
    if not found or name not in (None, *found):
        raise ValueError(
            f"functor: name is {name!r}; accepted: a structure of the source: {', '.join(found) or 'none'}"
        )
    return Functor(source, name or found[-1])


class Functor:
    """A user-defined operator, as `functor` returns it."""

    def __init__(self, source: str, name: str) -> None:
        self._name = name
        # A key of plans: equal only to itself.
        self._plan = functools.partial(_plan, source, name)

    def __call__(self, *args: Any, result: Any = None) -> Any:
        """Compute the result.

        Parameters
        ----------
        *args : array or scalar
            At least one array.
        result : dtype, optional
            The dtype of the result; by default that to which the operands promote.

        Raises
        ------
        TypeError
            If the operands have no common dtype.
        ValueError
            If the operands do not broadcast.
        DeviceError
            If the operands are on the CPU.
        CompileError
            If the structure does not compile, or takes other operands.
        """
        wanted = None if result is None else dt.as_dtype(result, self._name)
        names = tuple(f"args[{number}]" for number in range(len(args)))
        return call(self._plan, self._name, names, args, wanted)

    def __repr__(self) -> str:
        return f"<functor {self._name}>"


def _plan(source: str, name: str, engine: Engine, specs: tuple[Operand, ...], result: DType | None) -> Program:
    from xpops.engine.cuda.user.elementwise import elementwise

    (device, *_) = (spec.device for spec in specs if isinstance(spec, Layout))
    gpu = require_cuda(engine, device, name)
    call = _call(source, name, specs, result, device)
    return Program(call.outs, elementwise(gpu, call))


def _call(source: str, name: str, specs: tuple[Operand, ...], result: DType | None, device: Device) -> UserCall:
    """The description of a call. With ``apply2`` and one 16-bit dtype, it computes two numbers at a time."""
    call = user_call(_operation(source, name, specs, result), specs, None, False, device)
    paired = {*call.types.ins, *call.types.outs} in ({dt.float16}, {dt.bfloat16}) and "apply2" in source
    return call._replace(pairs=name) if paired else call


def _operation(source: str, name: str, specs: tuple[Operand, ...], result: DType | None) -> Operation:
    """The functor as an operation on operands of these dtypes."""
    from xpops.engine.cuda.user.operands import computed

    common = promote((each.dtype if isinstance(each, Layout) else each for each in specs), name)
    ins = tuple(
        Parameter(f"x{number}", each.dtype if isinstance(each, Layout) else common, False)
        for number, each in enumerate(specs)
    )
    made = common if result is None else result
    values = ", ".join(f"xpops::cast<{computed(common)}>({each.name})" for each in ins)
    body = f"y = xpops::cast<{computed(made)}>(::{name}()({values}));"
    return Operation(name, ins, (Parameter("y", made, False),), body, source)
