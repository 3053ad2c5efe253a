"""Mutations of a line of a CUDA header: functions that yield the possible changes at a token."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.mutants.header_source import HeaderSource
from conformance.mutants.mutant import Change

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
OPERATORS = {
    "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", "^": "&", "&&": "||", "||": "&&",
    "<<": ">>", ">>": "<<",
}  # fmt: skip
ASSIGNMENTS = {"+=": "-=", "-=": "+=", "*=": "+=", "&=": "|=", "|=": "&=", "<<=": ">>=", ">>=": "<<="}
STEPS = {"++": "--", "--": "++"}
WIDTHS = {"int64": "int32", "uint64": "uint32", "int32": "int16", "uint32": "uint16", "double": "float"}
ROUNDINGS = {"floor": "ceil", "ceil": "floor", "rint": "trunc", "trunc": "floor", "round": "rint"}
FUNCTIONS = {"min": "max", "max": "min", "fmin": "fmax", "fmax": "fmin", "any": "all", "all": "any"}
_NOT_COMMUTATIVE = frozenset(("-", "/", "%", "<<", ">>", "<", ">", "<=", ">="))
_COMMUTATIVE = frozenset(("min", "max", "fma", "add_rn", "mul_rn"))
_TERMS = frozenset(("+", "-", "*", "|", "&", "&&", "||"))
_CONDITIONS = frozenset(("if", "while", "constexpr"))
_NO_CALLS = frozenset(("if", "while", "for", "switch", "constexpr", "sizeof", "decltype", "alignof", "asm", "return"))
_FENCES = re.compile(r"__sync|__threadfence|fence|__nanosleep|wait|sync")

Made = Iterator[Change]


def changes(source: HeaderSource) -> Made:
    """Every change of a header."""
    for place in range(len(source.tokens)):
        for make in (_word, _number, _sign, _operands, _ternary, _condition, _call, _statement):
            yield from make(source, place)


def _replace(source: HeaderSource, operator: str, first: int, last: int, text: str) -> Made:
    """A change of tokens, if they are on one line."""
    start, stop = source.tokens[first], source.tokens[last]
    if start.line == stop.line:
        yield Change(operator, start.line, start.start, stop.stop, text)


def _word(source: HeaderSource, place: int) -> Made:
    text = source.tokens[place].text
    called = {"wrong rounding": ROUNDINGS, "wrong function": FUNCTIONS} if _is_called(source, place) else {}
    for operator, table in {"wrong width": WIDTHS, **called}.items():
        if text in table:
            yield from _replace(source, operator, place, place, table[text])
    if text in ("true", "false"):
        yield from _replace(source, "wrong truth value", place, place, "false" if text == "true" else "true")
    if text.startswith("__") and text.endswith(("_rn", "_rz")):
        yield from _replace(source, "wrong rounding", place, place, text[:-1] + ("z" if text[-1] == "n" else "n"))


def _is_called(source: HeaderSource, place: int) -> bool:
    return place + 1 < len(source.tokens) and source.tokens[place + 1].text == "("


def _number(source: HeaderSource, place: int) -> Made:
    found = re.fullmatch(r"(0[xX][\da-fA-F]+|\d+)([uUlL]*)", source.tokens[place].text)
    if found is None or source.tokens[place].kind != "number":
        return
    value = int(found[1], 0)
    show = hex if found[1][:2] in ("0x", "0X") else str
    for other in (value + 1, value - 1):
        if other >= 0 or not found[2]:
            yield from _replace(source, "off by one", place, place, show(other) + found[2])


def _sign(source: HeaderSource, place: int) -> Made:
    text = source.tokens[place].text
    if source.is_binary(place):
        for operator, table in ("wrong comparison", COMPARISONS), ("wrong operator", OPERATORS):
            if text in table:
                yield from _replace(source, operator, place, place, table[text])
    elif text in ASSIGNMENTS or text in STEPS:
        yield from _replace(source, "wrong operator", place, place, {**ASSIGNMENTS, **STEPS}[text])
    elif text in ("!", "~") or (text == "-" and not source.tokens[place].spaced):
        yield from _replace(source, "dropped negation", place, place, "")


def _operands(source: HeaderSource, place: int) -> Made:
    if not source.is_binary(place):
        return
    sign, first, last = source.tokens[place].text, source.left(place), source.right(place)
    if first == place or last == place:
        return
    left, right = source.text(first, place - 1), source.text(place + 1, last)
    if left is None or right is None or source.text(first, last) is None or _is_declaration(left):
        return
    if sign in _TERMS:
        yield from _replace(source, "dropped term", first, last, left)
        yield from _replace(source, "dropped term", first, last, right)
    if sign in _NOT_COMMUTATIVE:
        yield from _replace(source, "swapped operands", first, last, f"{_operand(right)} {sign} {_operand(left)}")


def _operand(text: str) -> str:
    return f"({text})" if " " in _without_brackets(text) else text


def _ternary(source: HeaderSource, place: int) -> Made:
    if source.tokens[place].text != "?":
        return
    middle = source.right(place) + 1
    if middle + 1 >= len(source.tokens) or source.tokens[middle].text != ":":
        return
    last = source.right(middle)
    if last + 1 < len(source.tokens) and source.tokens[last + 1].text == "?":  # a chain of conditions
        return
    yes, no = source.text(place + 1, middle - 1), source.text(middle + 1, last)
    if yes is not None and no is not None:
        yield from _replace(source, "swapped branches", place + 1, last, f"{no} : {yes}")


def _condition(source: HeaderSource, place: int) -> Made:
    opened = place + 1
    closed = source.partner(opened)
    if source.tokens[place].text not in _CONDITIONS or closed is None or source.tokens[opened].text != "(":
        return
    condition = source.text(opened + 1, closed - 1)
    if condition is None or ";" in condition:
        return
    yield from _replace(source, "negated condition", opened + 1, closed - 1, f"!({condition})")
    if source.tokens[place].text != "while":
        yield from _replace(source, "dropped guard", opened + 1, closed - 1, "false")
        yield from _replace(source, "dropped condition", opened + 1, closed - 1, "true")


def _call(source: HeaderSource, place: int) -> Made:
    """Change a call: replace it by its only argument, or swap its first two."""
    closed = source.partner(place + 1)
    token = source.tokens[place]
    if closed is None or source.tokens[place + 1].text != "(" or token.text in _NO_CALLS or closed == place + 2:
        return
    name = _name_start(source, place)
    if name is None:
        return
    starts = [place + 2, *(i + 1 for i in _commas(source, place + 1, closed))]
    ends = [*(start - 2 for start in starts[1:]), closed - 1]
    texts = [source.text(start, end) for start, end in zip(starts, ends, strict=True)]
    if any(text is None or _is_declaration(text) for text in texts):
        return
    # Removing a cast mostly changes nothing. "wrong width" changes the casts that matter.
    if len(texts) == 1 and source.tokens[name - 1].text not in (".", "->") and "_cast" not in source.tokens[name].text:
        yield from _replace(source, "dropped call", name, closed, f"({texts[0]})")
    if len(texts) > 1 and token.text not in _COMMUTATIVE:
        yield from _replace(source, "swapped arguments", starts[0], ends[1], f"{texts[1]}, {texts[0]}")


def _name_start(source: HeaderSource, place: int) -> int | None:
    """The first token of the name of a call, which may have template arguments; None if this is a declaration."""
    tokens = source.tokens
    if tokens[place].text == ">":
        while place > 0 and tokens[place].text != "<":
            place -= 1
        place -= 1
    if place < 1 or tokens[place].kind != "word":
        return None
    while tokens[place - 1].text == "::":
        place -= 2
    before = tokens[place - 1]
    declares = (before.kind == "word" and before.text not in ("return", "else")) or before.text in (">", "*", "&")
    return None if declares and not source.is_binary(place - 1) else place


def _commas(source: HeaderSource, opened: int, closed: int) -> Iterator[int]:
    place, angles = opened + 1, 0
    while place < closed:
        token = source.tokens[place]
        if token.text in ("(", "[", "{"):
            place = source.partner(place) or closed
        elif token.text in ("<", ">") and not source.is_binary(place):
            angles += 1 if token.text == "<" else -1
        elif token.text == "," and angles == 0:
            yield place
        place += 1


def _statement(source: HeaderSource, place: int) -> Made:
    """A statement of one line that is a call, an assignment or a jump."""
    if place == 0 or source.tokens[place - 1].text not in (";", "{", "}", ")", "else", ":"):
        return
    end = next((i for i in range(place, len(source.tokens)) if source.tokens[i].text in (";", "{", "}")), place)
    text = source.text(place, end)
    if text is None or source.tokens[end].text != ";" or end == place:
        return
    bare = _without_brackets(text[:-1].strip())
    target = re.split(r" (?:[-+*/%&|^]|<<|>>)?= ", bare)[0]
    is_call = target == bare and text[:-1].endswith(")") and re.fullmatch(r"[\w.:>-]+", bare)
    is_assignment = target != bare and re.fullmatch(r"\*?[\w.:>-]+", target)
    is_step = re.fullmatch(r"(\+\+|--)[\w.>-]+|[\w.>-]+(\+\+|--)", bare)
    if is_call or is_assignment or is_step or bare in ("return", "break", "continue"):
        is_fence = is_call and _FENCES.search(bare)
        yield from _replace(source, "dropped synchronisation" if is_fence else "dropped statement", place, end, ";")


def _without_brackets(text: str) -> str:
    """The text with brackets and their contents removed, template arguments included."""
    previous = ""
    while previous != text:
        previous, text = text, re.sub(r"\([^()]*\)|\[[^\[\]]*\]|(?<=\w)<[^<> ][^<>]*>", "", text)
    return text


def _is_declaration(text: str) -> bool:
    """Whether text declares a name: ``T x``, ``const State& own``."""
    return re.search(
        r"[\w>&*] +[*&]?[A-Za-z_]\w*|\w[*&] \w|[*&]$", _without_brackets(text)
    ) is not None and not re.search(r" (?:[-+/%|^<>*&]|==|!=|&&|\|\||<<|>>|<=|>=|\?|:) ", _without_brackets(text))
