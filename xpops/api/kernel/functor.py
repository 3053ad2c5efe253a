"""User-defined elementwise operators, from C++ structures."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from xpops.api.compilation import offer
from xpops.api.kernel.backward import set_backward
from xpops.api.kernel.compiled import CompiledKernel, compile_call, specs_on_gpu
from xpops.api.kernel.elementwise import user_call
from xpops.api.kernel.gpu import gpu_unless_traced
from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.errors import describe
from xpops.core.layouts import Layout
from xpops.core.promotion import promote
from xpops.core.symbols import scalar_type
from xpops.dispatch.primitives import call
from xpops.engine.program import Program
from xpops.engine.protocol import Engine
from xpops.engine.shapes import compute_nothing
from xpops.plan.functor import OPERANDS, RESULT, UserFunctor, parse_functor
from xpops.plan.signature import Operand
from xpops.plan.user import Operation, Parameter

if TYPE_CHECKING:
    from xpops.core.devices import Device
    from xpops.engine.cuda.user.operands import UserCall


def functor(
    source: str, name: str | None = None, parameters: str = "", *, backward: Callable[..., Any] | None = None
) -> Functor:
    """An elementwise operator from a C++ structure with ``operator()``.

    Parameters
    ----------
    source : str
        C++ with a structure whose ``operator()`` takes one value for each operand. The values have the dtype to which
        all operands promote; float for float16, bfloat16 and float8. A class template gets float16 and bfloat16 as they
        are. Instead of the functor, the structure may be a factory: called without arguments, it returns the functor.
    name : str, optional
        The name of the structure; by default the last one of the source that is not within another. The arguments of a
        class template are those in the name, like ``"Cast<R, T>"``: T is the dtype of the operands, and R that of the
        result. Without them, a template of one type has the argument T.
    parameters : str
        Numbers that the structure is made of, like ``"float32 slope, T bias"``: its members, or the arguments of its
        constructor. Calls get them by name. T and R are dtypes as in `name`.
    backward : callable, optional
        The gradient, for torch: ``backward(g, *operands, **parameters)`` takes the cotangent of the result, and returns
        that of each operand (None if it has none; a tuple if there are several operands). It may use any functions of
        arrays. If these have gradients, there are second derivatives.

    Notes
    -----
    The functor may also compute two elements at once, if operands have no other dtype than T: by
    ``void Apply2(R* to, const T* x, const T* y) const``, or, if T and R are the same 16-bit dtype, by ``apply2``, which
    takes and returns ``xpops::packed2<xpops::float16>``, or the same of bfloat16.

    Returns
    -------
    Functor
        A function of arrays of any framework, and scalars.

    Raises
    ------
    TypeError
        If `source` is not a str.
    ValueError
        If `source` has no such structure, or a parameter cannot be one.

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

    Parameters are not compiled into the kernel: calls with other values use the same one.

    >>> leaky = xp.kernel.functor('''
    ... template <class T> struct Leaky {
    ...   float slope;
    ...   XPOPS_DEVICE T operator()(T x) const { return x > T(0) ? x : T(slope * x); }
    ... };
    ... ''', parameters="float32 slope")
    >>> leaky(xp.ones(3, device="cpu"), slope=0.01)
    Traceback (most recent call last):
    xpops.core.errors.DeviceError: Leaky: the arrays are on cpu; kernels of one's own need a GPU
    """
    if not isinstance(source, str):
        raise TypeError(f"functor: source is {describe(source)}; accepted: text")
    return Functor(parse_functor(source, name, parameters), backward)


class Functor:
    """A user-defined operator, as `functor` returns it."""

    def __init__(self, functor: UserFunctor, backward: Callable[..., Any] | None = None) -> None:
        self.__name__ = functor.name
        self._parameters = tuple(each.name for each in functor.parameters)
        # A key of plans: equal only to itself.
        self._plan = functools.partial(_plan, functor)
        set_backward(self._plan, self.__name__, backward, self._parameters)
        offer(self)

    def __call__(self, *args: Any, result: Any = None, **parameters: Any) -> Any:
        """Compute the result.

        Parameters
        ----------
        *args : array or scalar
            At least one array.
        result : dtype, optional
            The dtype of the result; by default that to which the operands promote.
        **parameters : scalar
            One for each of the functor's `parameters`, by name.

        Raises
        ------
        TypeError
            If the operands have no common dtype, or the names of parameters are others.
        ValueError
            If the operands do not broadcast.
        DeviceError
            If the operands are on the CPU.
        CompileError
            If the structure does not compile, or takes other operands.
        """
        wanted = None if result is None else dt.as_dtype(result, self.__name__)
        return call(self._plan, self.__name__, *self._operands(args, parameters), wanted)

    def compile(self, capability: int, /, *args: Any, result: Any = None, **parameters: Any) -> CompiledKernel:
        """The kernel of a call with such arguments, compiled for GPUs of a compute capability. Needs no GPU.

        Parameters
        ----------
        capability : int
            90 means sm_90.
        *args, result, **parameters
            As for a call. Arrays may be on the CPU: only their dtypes, shapes, strides and alignment count.

        Examples
        --------
        >>> double = xp.kernel.functor("struct Double { float operator()(float x) const { return x + x; } };")
        >>> made = double.compile(90, xp.ones(1000, dtype=xp.float32))
        >>> made.capability, made.resources.local_bytes
        (90, 0)
        """
        wanted = None if result is None else dt.as_dtype(result, self.__name__)
        specs = specs_on_gpu(self.__name__, *self._operands(args, parameters))
        (made,) = compile_call(capability, self.__name__, self._plan, specs, wanted)
        return made

    def _operands(self, args: tuple[Any, ...], parameters: dict[str, Any]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        """The names and the values of the operands and the parameters."""
        names = tuple(f"args[{number}]" for number in range(len(args)))
        if self._parameters or parameters:
            return (*names, *self._parameters), (*args, *self._state(parameters))
        return names, args

    def _state(self, given: dict[str, Any]) -> tuple[Any, ...]:
        """The values of the parameters, in their order."""
        if given.keys() != set(self._parameters):
            raise TypeError(
                f"{self.__name__}: parameters are {', '.join(given) or 'missing'}; accepted: "
                f"{', '.join(self._parameters) or 'none'}, by name"
            )
        values = []
        for name in self._parameters:
            value = given[name]
            if scalar_type(value) is None and not isinstance(value, np.generic):
                raise TypeError(f"{self.__name__}: {name} is {describe(value)}; accepted: a number")
            values.append(value.item() if isinstance(value, np.generic) else value)
        return tuple(values)

    def __repr__(self) -> str:
        return f"<functor {self.__name__}>"


def _plan(functor: UserFunctor, engine: Engine, specs: tuple[Operand, ...], result: DType | None) -> Program:
    from xpops.engine.cuda.user.elementwise import elementwise

    (device, *_) = (spec.device for spec in specs if isinstance(spec, Layout))
    gpu = gpu_unless_traced(engine, device, functor.name)
    call = functor_call(functor, specs, result, device)
    return Program(call.outs, elementwise(gpu, call) if gpu else compute_nothing)


def functor_call(functor: UserFunctor, specs: tuple[Operand, ...], result: DType | None, device: Device) -> UserCall:
    """The description of a call: an operation on the operands, followed by the functor's parameters."""
    from xpops.engine.cuda.user.functor import calling, calling_on_pairs

    given = specs[: len(specs) - len(functor.parameters)]
    dtypes = [each.dtype if isinstance(each, Layout) else each for each in given]
    common = promote(dtypes, functor.name)
    made = common if result is None else result
    operands = tuple(
        Parameter(f"x{number}", common if isinstance(each, type) else each, False) for number, each in enumerate(dtypes)
    )
    letters: dict[DType | str, DType] = {OPERANDS: common, RESULT: made}
    state = tuple(each._replace(dtype=letters.get(each.dtype, each.dtype)) for each in functor.parameters)
    parts = ((calling(functor, operands, common, made), "", "", ""),)
    out = Parameter("y", made, False)
    operation = Operation(functor.name, (*operands, *state), (out,), "", functor.source, parts=parts)
    call = user_call(operation, specs, None, False, device)._replace(headers=("kernels/user/functor",))
    if any(each.dtype != common for each in operands):
        return call
    paired = "Apply2" in functor.source or ("apply2" in functor.source and common == made in dt.HALVES)
    return call._replace(pairs=calling_on_pairs(functor, operands, common, made)) if paired else call
