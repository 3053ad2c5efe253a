"""User-defined operations as data: their parameters, and the dtypes and the shape of a call."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from xpops.core import dtypes as dt
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.core.promotion import promote
from xpops.plan.signature import Operand
from xpops.plan.strides.broadcast import broadcast_shapes

RESERVED = ("i", "n", "_ind")
_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const
const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false
float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
protected public register reinterpret_cast return short signed sizeof static static_assert static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq
"""
# Not code: comments, string literals and character literals.
_SILENT = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\[^']+|[^'\\\n])'""", re.DOTALL)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([^)]*)\))?(.*)$", re.MULTILINE)


class Parameter(NamedTuple):
    """One parameter of an operation.

    Attributes
    ----------
    name : str
    dtype : numpy.dtype or str
        A letter means any dtype: the same one for all parameters with this letter.
    raw : bool
        Whether the operation indexes the array itself.
    """

    name: str
    dtype: DType | str
    raw: bool


class Operation(NamedTuple):
    """An operation on elements.

    Attributes
    ----------
    name : str
    ins, outs : tuple of Parameter
    body : str
        C++ statements that assign the parameters of `outs`, except raw ones.
    preamble : str
        C++ code before the operation.
    before, after : str
        Statements before and after the body. Names that `before` declares are visible in the body and in `after`; names
        that the body declares are not visible in `after`.
    definitions : tuple of str
        Lines that define macros, before the preamble.
    parts : tuple of (str, str, str, str)
        The body in pieces: a generated line, the name and the text of what a user wrote, and what ends it. Compiler
        errors call a user's text by its name. Without parts the whole body is the user's ``operation``.
    """

    name: str
    ins: tuple[Parameter, ...]
    outs: tuple[Parameter, ...]
    body: str
    preamble: str
    before: str = ""
    after: str = ""
    definitions: tuple[str, ...] = ()
    parts: tuple[tuple[str, str, str, str], ...] = ()

    def mentions(self, word: str) -> bool:
        """Whether a statement contains the word, directly or through a macro; a member's name does not count."""
        return re.search(rf"(?<![\w.])(?<!->)(?<!::){word}\b", self._expanded_text) is not None

    @property
    def _expanded_text(self) -> str:
        """The statements, followed by the replacement texts of all macros that they use."""
        macros = _macros("\n".join((*self.definitions, self.preamble)))
        found = _SILENT.sub(" ", "\n".join((self.before, self.body, self.after)))
        while used := [each for each in macros if re.search(rf"\b{each[0]}\b", found)]:
            macros = [each for each in macros if each not in used]
            found = "\n".join((found, *(text for _, text in used)))
        return found

    @property
    def needs_coordinates(self) -> bool:
        """Whether a statement asks for the coordinates of the element."""
        return self.mentions("_ind") and re.search(r"\bget\b", self._expanded_text) is not None

    @property
    def needs_index(self) -> bool:
        """Whether a statement needs the number of the element in C order."""
        return self.needs_coordinates or self.mentions("i")


def _macros(text: str) -> list[tuple[str, str]]:
    """The macros that a text defines: their names, and their replacement texts without their own parameters."""
    found = []
    for name, parameters, body in _MACRO.findall(_SILENT.sub(" ", text.replace("\\\n", " "))):
        own = "|".join(re.findall(r"\w+", parameters))
        found.append((name, re.sub(rf"\b(?:{own})\b", " ", body) if own else body))
    return found


class UserReduction(NamedTuple):
    """A reduction of elements.

    Attributes
    ----------
    map : Operation
        The parameters, the preamble, and the expression that maps elements before they are reduced.
    combine : str
        The expression that combines the states ``a`` and ``b``.
    finish : str
        Statements that compute the result from the state ``a``.
    identity : str
        The state of no elements; empty if there is none.
    state : str or None
        The C++ type of the states ``a`` and ``b``; None: the result's type.
    """

    map: Operation
    combine: str
    finish: str
    identity: str
    state: str | None


class Types(NamedTuple):
    """The dtypes of one call: one for each parameter and each letter."""

    ins: tuple[DType, ...]
    outs: tuple[DType, ...]
    letters: tuple[tuple[str, DType], ...]


def parse_parameters(
    text: str, argument: str, function: str, reserved: tuple[str, ...] = RESERVED
) -> tuple[Parameter, ...]:
    """The parameters that a text lists. None may have one of the `reserved` names.

    Raises
    ------
    ValueError
        If a parameter is not an optional ``raw``, then a dtype's name or a letter, then a name; if a letter or a name
        is reserved, or a name is a keyword of C++ or occurs twice.

    Examples
    --------
    >>> for each in parse_parameters("float32 x, raw T y", "in_params", "add"):
    ...     print(*each)
    x float32 False
    y T True
    """
    found: list[Parameter] = []
    for part in (each.split() for each in text.split(",") if text.strip()):
        raw = part[:1] == ["raw"]
        kind, name = part[raw:] if len(part) == 2 + raw else ("", "")
        known = kind in _NAMES or (re.fullmatch("[A-Za-z]", kind) and kind not in RESERVED)
        if not (name.isidentifier() and known):
            raise ValueError(
                f"{function}: {argument} has {' '.join(part)!r}; accepted: 'T x', 'raw T x', 'float32 x', with a "
                f"letter other than i and n for any dtype, or one of {', '.join(_NAMES)}"
            )
        if name in _KEYWORDS.split():
            raise ValueError(f"{function}: {argument} has {name!r}, a keyword of C++; accepted: another name")
        if name in reserved or name in (each.name for each in found):
            raise ValueError(f"{function}: {argument} has {name!r} twice, or it is one of {', '.join(reserved)}")
        found.append(Parameter(name, _NAMES.get(kind, kind), raw))
    return tuple(found)


_NAMES = {dtype.name: dtype for dtype in dt.INFO}


def parse_definitions(options: Iterable[str], function: str) -> tuple[str, ...]:
    """The ``#define`` lines that options like ``-DN=4`` stand for.

    Raises
    ------
    ValueError
        If an option is not a definition. Options for C++11, 14 and 17 are accepted and ignored: kernels are C++17.

    Examples
    --------
    >>> parse_definitions(("-DN=4", "-DTWICE", "--std=c++14"), "norm")
    ('#define N 4', '#define TWICE 1')
    """
    found = []
    for option in options:
        made = re.fullmatch(r"(?:-D|--define-macro=)\s*(\w+)(?:=(.*))?", option)
        if made is None and not re.fullmatch(r"--?std=c\+\+1[147]", option):
            raise ValueError(
                f"{function}: options has {option!r}; accepted: definitions like '-DN=4'; a RawModule takes all"
            )
        if made is not None:
            found.append(f"#define {made[1]} {'1' if made[2] is None else made[2]}")
    return tuple(found)


def bind_dtypes(operation: Operation, ins: tuple[Operand, ...], outs: tuple[Operand, ...]) -> Types:
    """The dtypes of a call.

    A letter means the dtype of the arrays that are passed for it. If only scalars are passed, it means the dtype to
    which these promote.

    Parameters
    ----------
    ins, outs : tuple of Layout or type
        The arguments of the call; `outs` may be empty.

    Raises
    ------
    TypeError
        If an array does not have its parameter's dtype; if the arguments give a letter two dtypes or none; if a scalar
        is passed for a raw parameter or a result.
    """
    function, letters = operation.name, dict[str, DType]()
    for parameter, operand in [*zip(operation.outs, outs, strict=False), *zip(operation.ins, ins, strict=True)]:
        if not isinstance(operand, Layout):
            if parameter.raw or parameter in operation.outs[: len(outs)]:
                raise TypeError(f"{function}: {parameter.name} is a Python {operand.__name__}; accepted: an array")
            continue
        wanted = parameter.dtype
        if isinstance(wanted, str):
            wanted = letters.setdefault(wanted, operand.dtype)
        if operand.dtype != wanted:
            named = f", as {parameter.dtype} is" if isinstance(parameter.dtype, str) else ""
            raise TypeError(f"{function}: {parameter.name} has dtype {operand.dtype}; accepted: {wanted}{named}")
    scalars: dict[str, list[type]] = {}
    for parameter, operand in zip(operation.ins, ins, strict=True):
        if isinstance(operand, type) and isinstance(parameter.dtype, str) and parameter.dtype not in letters:
            scalars.setdefault(parameter.dtype, []).append(operand)
    letters |= {letter: promote(kinds) for letter, kinds in scalars.items()}
    given, made = (_dtypes(each, letters, function) for each in (operation.ins, operation.outs))
    return Types(given, made, tuple(letters.items()))


def _dtypes(parameters: Iterable[Parameter], letters: dict[str, DType], function: str) -> tuple[DType, ...]:
    found = []
    for parameter in parameters:
        if isinstance(parameter.dtype, str) and parameter.dtype not in letters:
            raise TypeError(
                f"{function}: no argument says what {parameter.dtype} is, the dtype of {parameter.name}; accepted: a "
                "letter that an argument has, or out="
            )
        found.append(letters[parameter.dtype] if isinstance(parameter.dtype, str) else parameter.dtype)
    return tuple(found)


def call_shape(
    operation: Operation,
    ins: tuple[Operand, ...],
    outs: tuple[Operand, ...],
    size: int | None,
    accepted: str = "size=",
) -> tuple[int, ...]:
    """The shape of a call: the arrays that are not raw broadcast to it. Without such arrays it is ``(size,)``.

    Parameters
    ----------
    operation : Operation
    ins, outs : tuple of Layout or type
    size : int or None
    accepted : str
        The argument that would give the number of elements, for errors.

    Raises
    ------
    ValueError
        If a call has neither such arrays nor `size`, or both; if the arrays do not broadcast, or `outs` have another
        shape.
    """
    function = operation.name

    def shapes(parameters: tuple[Parameter, ...], operands: tuple[Operand, ...]) -> list[tuple[int, ...]]:
        pairs = zip(parameters, operands, strict=False)
        return [each.shape for parameter, each in pairs if isinstance(each, Layout) and not parameter.raw]

    given, results = shapes(operation.ins, ins), shapes(operation.outs, outs)
    if size is not None and (given or results):
        raise ValueError(f"{function}: size is {size} beside arrays that are not raw; accepted: no size")
    if size is None and not (given or results):
        raise ValueError(f"{function}: no array says how many elements there are; accepted: {accepted}")
    if size is not None:
        return (size,)
    shape = broadcast_shapes(*given, function=function) if given else results[0]
    for each in results:
        if each != shape:
            raise ValueError(f"{function}: out has shape {each}; accepted: {shape}")
    return shape
