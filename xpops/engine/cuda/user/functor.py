"""User-defined functors as operations of the elementwise family: the C++ that makes a functor and calls it."""

from __future__ import annotations

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.engine.cuda.user.operands import c_type, computed
from xpops.plan.functor import OPERANDS, RESULT, UserFunctor
from xpops.plan.user import Parameter

# CUDA's types, and the macros that say whether the source includes their headers.
_CUDA_TYPES = {
    dt.float16: ("__CUDA_FP16_TYPES_EXIST__", "::__half"),
    dt.bfloat16: ("__CUDA_BF16_TYPES_EXIST__", "::__nv_bfloat16"),
}


def calling(functor: UserFunctor, operands: tuple[Parameter, ...], common: DType, made: DType) -> str:
    """Statements that assign ``y``, the functor of the operands.

    Parameters
    ----------
    operands : tuple of Parameter
    common, made : numpy.dtype
        The dtype to which the operands promote, and that of the result.
    """
    wide = computed(common)
    kind = wide if functor.arguments is None else OPERANDS
    values = "".join(f", xpops::cast<{kind}>(xpops::cast<{wide}>({each.name}))" for each in operands)
    lines = _definitions(functor, common, made, [each.name for each in functor.parameters])
    return "\n".join([*lines, f"y = xpops::cast<{computed(made)}>(xpops::call(xpops_functor{values}));"])


def calling_on_pairs(
    functor: UserFunctor, operands: tuple[Parameter, ...], common: DType, made: DType
) -> tuple[str, ...]:
    """The lines of a structure that calls the functor's ``Apply2`` or ``apply2`` on two elements of each operand."""
    names = [each.name for each in (*operands, *functor.parameters)]
    types = ", ".join(f"class Two{number}" for number in range(len(names)))
    formal = ", ".join(f"const Two{number}& {name}" for number, name in enumerate(names))
    given = "".join(f", reinterpret_cast<const {OPERANDS}*>({each.name}.elem)" for each in operands)
    return (
        "struct XpopsPairs : XpopsOperation {",
        f"  template <class To, {types}>",
        f"  static XPOPS_DEVICE bool apply_pair(To* to, {formal}) {{",
        *_definitions(functor, common, made, [f"{each.name}.elem[0]" for each in functor.parameters]),
        f"    return xpops::call_on_pairs(xpops_functor, reinterpret_cast<{RESULT}*>(to){given});",
        "  }",
        "};",
    )


def _definitions(functor: UserFunctor, common: DType, made: DType, values: list[str]) -> list[str]:
    """Lines that define the types of dtypes, and the functor, from the values of its parameters."""
    named = f"::{functor.name}" + ("" if functor.arguments is None else f"<{functor.arguments}>")
    state = ", ".join(
        f"xpops::cast<{_type_of(each, functor, common, made)}>({value})"
        for each, value in zip(functor.parameters, values, strict=True)
    )
    return [*_alias(OPERANDS, common), *_alias(RESULT, made), f"{named} xpops_functor{{{state}}};"]


def _type_of(parameter: Parameter, functor: UserFunctor, common: DType, made: DType) -> str:
    """The C++ type of a functor's parameter."""
    letters = {OPERANDS: common, RESULT: made}
    if not isinstance(parameter.dtype, str):
        return c_type(parameter.dtype)
    return computed(letters[parameter.dtype]) if functor.arguments is None else parameter.dtype


def _alias(name: str, dtype: DType) -> list[str]:
    """Lines that name the C++ type of a dtype.

    CUDA's type, if the source includes its header: then a specialisation for ``half`` is one for float16.
    """
    ours = f"using {name} = {c_type(dtype)};"
    if dtype not in _CUDA_TYPES:
        return [ours]
    macro, theirs = _CUDA_TYPES[dtype]
    return [f"#ifdef {macro}", f"using {name} = {theirs};", "#else", ours, "#endif"]
