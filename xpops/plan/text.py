"""C++ as text: comments, and lists in brackets."""

from __future__ import annotations

import re

# A string may contain what looks like a comment.
_SILENT = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\[^']+|[^'\\\n])'""", re.DOTALL)


def without_comments(source: str) -> str:
    """The source with a space for each comment and for each string, and its lines joined where they are continued.

    Examples
    --------
    >>> without_comments('int a;/* one */ extern "C" int b; // two').split()
    ['int', 'a;', 'extern', 'int', 'b;']
    """
    return _SILENT.sub(" ", source.replace("\\\n", " "))


def split(text: str) -> list[str]:
    """The parts between commas that are in no brackets.

    Examples
    --------
    >>> split("A<B<int, int>, 2> a, int (&b)[2], int c = f(1, 2)")
    ['A<B<int, int>, 2> a', 'int (&b)[2]', 'int c = f(1, 2)']
    """
    parts, start = [], 0
    for place, character in enumerate(text):
        if character == "," and depth_of(text[start:place]) == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [each for each in (*parts, text[start:].strip()) if each]


def depth_of(text: str) -> int:
    """The number of brackets that are open at the end. Within round ones, ``<`` and ``>`` compare."""
    opened: list[str] = []
    for character in text:
        if character in "([{" or (character == "<" and "(" not in opened):
            opened.append(character)
        elif character in ")]}" or (character == ">" and opened[-1:] == ["<"]):
            del opened[-1:]
    return len(opened)
