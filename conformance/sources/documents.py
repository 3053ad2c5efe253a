"""The code that documents print: blocks of text, and the definitions of C++ in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_FENCED = re.compile(r"^```(?:c\+\+|cpp)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Pages that were copied from a browser end each line of code with two spaces, and escape underscores.
_SPACED = re.compile(r"(?:^[^\n]*  \n)+", re.MULTILINE)
_SILENT = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\[^']+|[^'\\\n])'""", re.DOTALL)


class Definition(NamedTuple):
    """A definition at the top level, or in a namespace.

    Attributes
    ----------
    document : str
        The document's file name without its ending.
    name : str
        The name that it defines, with ``#2``, ``#3`` ... if the document has defined it before.
    text : str
        As printed, without the namespaces around it.
    """

    document: str
    name: str
    text: str


def definitions_of(folder: Path) -> list[Definition]:
    """The definitions in all documents of a folder."""
    found: list[Definition] = []
    for path in sorted(folder.glob("*.md")):
        counts: dict[str, int] = {}
        for text in (each for block in blocks_of(path.read_text()) for each in declarations_of(block)):
            name = name_of(text)
            counts[name] = counts.get(name, 0) + 1
            number = f"#{counts[name]}" if counts[name] > 1 else ""
            found.append(Definition(path.name.partition(".")[0], name + number, text))
    return found


def blocks_of(text: str) -> list[str]:
    """The blocks of code, without escapes.

    Examples
    --------
    >>> blocks_of("Text.\\n```cpp\\nint a;\\n```\\nMore.\\n")
    ['int a;\\n']
    >>> blocks_of("Text.\\n  \\nint the\\\\_a;  \\n")
    ['\\nint the_a;\\n']
    """
    fenced = _FENCED.findall(text)
    if fenced:
        return [str(each) for each in fenced]
    return [re.sub(r" +$", "", each, flags=re.MULTILINE).replace("\\_", "_") for each in _SPACED.findall(text)]


def declarations_of(code: str) -> Iterator[str]:
    """The declarations of a block of C++, and its macros.

    Examples
    --------
    >>> list(declarations_of("#define N 4\\nnamespace a { struct B { int c; }; }\\nvoid f() { g(); }  // and so on"))
    ['#define N 4', 'struct B { int c; };', 'void f() { g(); }']
    """
    plain = _SILENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), code)  # the same length
    start = place = 0
    while place < len(plain):
        if plain[start:place].strip() == "" and plain[place] == "#":
            place = _end_of_directive(plain, place)
            yield code[start:place].strip()
            start = place
        elif plain[place] == "{" and re.search(r"\bnamespace\b[\w\s]*$", plain[start:place]):
            start = place = place + 1
        elif plain[place] == "{":
            place = _end_of_braces(plain, place)
            if re.match(r"\s*;", plain[place:]):
                place = plain.index(";", place) + 1
            yield _trimmed(code[start:place], plain[start:place])
            start = place
        elif plain[place] == ";":
            place += 1
            yield _trimmed(code[start:place], plain[start:place])
            start = place
        elif plain[place] == "}":  # of a namespace
            start = place = place + 1
        else:
            place += 1


def _trimmed(text: str, plain: str) -> str:
    """The declaration without the comments before it."""
    return text[len(plain) - len(plain.lstrip()) :].strip()


def _end_of_directive(plain: str, place: int) -> int:
    while True:
        end = plain.find("\n", place)
        if end < 0:
            return len(plain)
        if not plain[place:end].rstrip().endswith("\\"):
            return end
        place = end + 1


def _end_of_braces(plain: str, place: int) -> int:
    depth = 0
    for at in range(place, len(plain)):
        depth += {"{": 1, "}": -1}.get(plain[at], 0)
        if depth == 0:
            return at + 1
    return len(plain)


def name_of(declaration: str) -> str:
    """What a declaration defines.

    Examples
    --------
    >>> for each in ("#define N(a) a", "template <class T> struct alignas(4) P<T*> { };", "using A = B<int>;",
    ...     "template <int N> __device__ void f(int (&x)[N]) { }", "constexpr int kN = f(3);"):
    ...     print(name_of(each))
    N
    P
    A
    f
    kN
    """
    text = re.sub(r"\s+", " ", _SILENT.sub(" ", declaration)).strip()
    macro = re.match(r"# ?define (\w+)", text)
    if macro:
        return macro[1]
    text = _without_template(text)
    for pattern in (
        r"(?:struct|class|union|enum)\b(?: alignas ?\([^()]*(?:\([^()]*\)[^()]*)*\))? (\w+)",
        r"using (\w+) =",
        r"[^({=]*?(\w+) ?\(",
        r"[^={]*?(\w+)(?:\[[^=]*\])? ?=",
    ):
        found = re.match(pattern, text)
        if found:
            return found[1]
    return text.partition(";")[0]


def _without_template(text: str) -> str:
    """The declaration without ``template <...>`` before it."""
    while text.startswith("template"):
        depth = nested = 0  # of angle brackets, and of round ones
        for at, character in enumerate(text):
            nested += {"(": 1, ")": -1}.get(character, 0)
            depth += {"<": 1, ">": -1}.get(character, 0) * (nested == 0)
            if character == ">" and depth == nested == 0:
                text = text[at + 1 :].lstrip()
                break
        else:
            return text
    return text


def by_name(definitions: Iterable[Definition]) -> dict[tuple[str, str], str]:
    """The texts of definitions, by document and name."""
    return {(each.document, each.name): each.text for each in definitions}
