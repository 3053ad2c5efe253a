"""User-defined functors as data: C++ structures, their template arguments, and the parameters of their constructors."""

from __future__ import annotations

import re
from typing import NamedTuple

from xpops.plan.text import split, without_comments
from xpops.plan.user import Parameter, parse_parameters

# What template arguments and dtypes of parameters mean, beside dtypes' own names.
OPERANDS, RESULT = "T", "R"
# A definition, behind attributes like `alignas(8)`; or a brace.
_STRUCT = re.compile(
    r"(?P<enum>\benum\s+)?\b(?:struct|class)\s+(?:\[\[.*?\]\]\s*|\w+\s*\((?:[^()]|\([^()]*\))*\)\s*)*"
    r"(?P<name>[A-Za-z_]\w*)\s*(?:final\s*)?(?=\{|:(?!:))|(?P<brace>[{}])"
)
# Namespaces whose names are visible outside of them.
_OPEN_NAMESPACE = re.compile(r"\bnamespace\s*\{|\binline\s+namespace\s+\w+\s*\{")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*(?:<(.*)>)?", re.DOTALL)
_OPERAND = re.compile(r"x\d+")


class UserFunctor(NamedTuple):
    """A functor.

    Attributes
    ----------
    name : str
    source : str
        C++ with the structure `name`.
    arguments : str or None
        The arguments of a class template, in terms of `OPERANDS` and `RESULT`. None if the structure is not a template.
    parameters : tuple of Parameter
        What the structure is made of, in the order of its members or of its constructor's parameters.
    """

    name: str
    source: str
    arguments: str | None
    parameters: tuple[Parameter, ...]


def parse_functor(source: str, name: str | None, parameters: str) -> UserFunctor:
    """Find the structure `name` in a source; by default the last one. Structures within others do not count.

    Raises
    ------
    ValueError
        If the source has no such structure, if it is a class template whose arguments must be written, or if a
        parameter cannot be one.

    Examples
    --------
    >>> scale = parse_functor("template <class T> struct Scale { T by; };", None, "T by")
    >>> scale.name, scale.arguments, [each.name for each in scale.parameters]
    ('Scale', 'T', ['by'])
    """
    found = _structures(source)
    form = _NAME.fullmatch((name or next(reversed(found), "")).strip())
    if form is None or form[1] not in found:
        raise ValueError(
            f"functor: name is {name!r}; accepted: a structure of the source: {', '.join(found) or 'none'}"
        )
    wanted, arguments = found[form[1]], form[2]
    if arguments is not None and wanted is None:
        raise ValueError(f"functor: name is {name!r}, which is no class template; accepted: {form[1]!r}")
    if arguments is None and wanted is not None:
        required = [each for each in wanted if "=" not in each]
        if len(required) > 1 or not all(re.match(r"(?:class|typename)\b", each) for each in required):
            raise ValueError(
                f"functor: {form[1]} is a template of {', '.join(wanted)}; accepted: a name with its arguments, like "
                f"'{form[1]}<{RESULT}, {OPERANDS}>', where {OPERANDS} is the dtype of the operands and {RESULT} that "
                "of the result"
            )
        arguments = OPERANDS if required else ""
    return UserFunctor(form[1], source, arguments, _parse_state(parameters, form[1]))


def _parse_state(text: str, function: str) -> tuple[Parameter, ...]:
    """The parameters of a functor: scalars, of a dtype or of the dtype of operands or result."""
    found = parse_parameters(text, "parameters", function, (OPERANDS, RESULT, "y", "result"))
    for each in found:
        if each.raw or (isinstance(each.dtype, str) and each.dtype not in (OPERANDS, RESULT)):
            raise ValueError(
                f"{function}: parameters has {'raw ' * each.raw}{each.dtype} {each.name}; accepted: a dtype, or "
                f"{OPERANDS} for that of the operands, or {RESULT} for that of the result"
            )
        if _OPERAND.fullmatch(each.name):
            raise ValueError(
                f"{function}: parameters has {each.name!r}, the name of an operand; accepted: another name"
            )
    return found


def _structures(source: str) -> dict[str, tuple[str, ...] | None]:
    """The structures that are in no other braces, with the parameters of their templates, in order."""
    code = _OPEN_NAMESPACE.sub(" ", without_comments(source))
    found: dict[str, tuple[str, ...] | None] = {}
    depth = 0
    for each in _STRUCT.finditer(code):
        if each["brace"]:
            depth = max(depth + (1 if each["brace"] == "{" else -1), 0)
        elif depth == 0 and not each["enum"]:
            found.pop(each["name"], None)
            found[each["name"]] = _template_parameters(code[: each.start()])
    return found


def _template_parameters(before: str) -> tuple[str, ...] | None:
    """The parameters of the ``template <...>`` that a text ends with; None if it ends with none."""
    text, depth, end = before.rstrip(), 0, 0
    if not text.endswith(">"):
        return None
    for place in range(len(text) - 1, -1, -1):
        depth += (text[place] == ">") - (text[place] == "<")
        if depth == 0:
            end = place
            break
    if not re.search(r"\btemplate\s*$", text[:end]):
        return None
    return tuple(split(text[end + 1 : -1]))
