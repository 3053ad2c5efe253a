"""Tokens of a CUDA header.

Comments, preprocessor lines, strings, ``static_assert`` and the parameters of templates are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<number>(?:0[xX][\da-fA-F]+|\d[\d.]*(?:[eE][+-]?\d+)?)\w*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|->|::|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_KEYWORDS = frozenset(("return", "else", "case", "throw", "new", "delete", "do", "goto"))
_OPENERS, _CLOSERS, _ENDS = frozenset("([{"), frozenset(")]}"), frozenset("([{)]},;?:")
PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip


class Token(NamedTuple):
    """A word, a number or a sign.

    Attributes
    ----------
    kind : {"word", "number", "sign"}
    text : str
    line : int
        From 1.
    start, stop : int
        Columns, from 0.
    spaced : bool
        Whether there is a space, or the end of the line, on either side.
    """

    kind: str
    text: str
    line: int
    start: int
    stop: int
    spaced: bool


class HeaderSource:
    """A header's text and its tokens.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.tokens = list(_without_declarations(list(_tokens(text))))
        self._partners = self._pairs()

    def code_lines(self) -> int:
        """The number of lines with code."""
        return len({token.line for token in self.tokens})

    def text(self, first: int, last: int) -> str | None:
        """The source from the first to the last token, inclusive; None if they are on several lines."""
        start, stop = self.tokens[first], self.tokens[last]
        return self.lines[start.line - 1][start.start : stop.stop] if start.line == stop.line else None

    def partner(self, place: int) -> int | None:
        """The bracket that matches the one at `place`."""
        return self._partners.get(place)

    def is_binary(self, place: int) -> bool:
        """Whether a token is a binary operator: unlike signs of templates and pointers, it has spaces around it."""
        token = self.tokens[place]
        if token.text not in PRECEDENCE or not token.spaced or place == 0:
            return False
        before = self.tokens[place - 1]
        return before.text in (")", "]") or (before.kind != "sign" and before.text not in _KEYWORDS)

    def left(self, place: int) -> int:
        """The first token of the left operand of a binary operator."""
        at = place
        while at > 0:
            before = self.tokens[at - 1].text
            partner = self.partner(at - 1)
            if before in _CLOSERS and before != "}" and partner is not None:
                at = partner
            elif self._ends(at - 1) or (self.is_binary(at - 1) and self._rank(at - 1) < self._rank(place)):
                break
            else:
                at -= 1
        return at

    def right(self, place: int) -> int:
        """The last token of the right operand of a binary operator."""
        at = place
        while at + 1 < len(self.tokens):
            after = self.tokens[at + 1].text
            partner = self.partner(at + 1)
            if after in ("(", "[") and partner is not None:
                at = partner
            elif self._ends(at + 1) or (self.is_binary(at + 1) and self._rank(at + 1) <= self._rank(place)):
                break
            else:
                at += 1
        return at

    def _rank(self, place: int) -> int:
        return PRECEDENCE.get(self.tokens[place].text, 0)

    def _ends(self, place: int) -> bool:
        """Whether an operand must end at a token."""
        text = self.tokens[place].text
        is_assignment = text == "=" or (len(text) > 1 and text[-1] == "=" and text not in PRECEDENCE)
        return is_assignment or text in _ENDS or text in _KEYWORDS

    def _pairs(self) -> dict[int, int]:
        found, opened = dict[int, int](), list[int]()
        for place, token in enumerate(self.tokens):
            if token.text in _OPENERS:
                opened.append(place)
            elif token.text in _CLOSERS and opened:
                start = opened.pop()
                found[start], found[place] = place, start
        return found

    def structs(self) -> dict[str, range]:
        """The lines of every struct and class."""
        found = {}
        for place, token in enumerate(self.tokens[:-1]):
            if token.text in ("struct", "class") and self.tokens[place + 1].kind == "word":
                opened = next((i for i in range(place, len(self.tokens)) if self.tokens[i].text in ("{", ";")), place)
                closed = self.partner(opened)
                if closed is not None:
                    found[self.tokens[place + 1].text] = range(token.line, self.tokens[closed].line + 1)
        return found


def _tokens(text: str) -> Iterator[Token]:
    line, begin = 1, 0  # the line of the last token, and its start
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup or ""
        line += text.count("\n", begin, found.start())
        begin = found.start()
        if kind not in ("comment", "directive"):
            column = found.start() - (text.rfind("\n", 0, found.start()) + 1)
            before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
            spaced = before in ("", " ", "\n") and after in ("", " ", "\n")
            yield Token(kind, found[0], line, column, column + len(found[0]), spaced)


def _without_declarations(tokens: list[Token]) -> Iterator[Token]:
    """Leave out ``template <...>``, ``static_assert(...);`` and ``__launch_bounds__(...)``."""
    place = 0
    while place < len(tokens):
        ends = {"template": "<>", "static_assert": "()", "__launch_bounds__": "()"}.get(tokens[place].text)
        if ends is None:
            yield tokens[place]
            place += 1
            continue
        place, depth = place + 1, 0
        while place < len(tokens):
            text = tokens[place].text
            depth += text.count(ends[0]) - text.count(ends[1])
            place += 1
            if depth <= 0:
                break
