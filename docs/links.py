"""A Sphinx extension: links from a page to files outside the site lead to the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
REPOSITORY = "https://github.com/xpops/xpops/blob/main/"
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)((?:#[^)\s]*)?)\)")
_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", lambda _, page, source: source.__setitem__(0, rewritten(source[0], page)))
    return {"parallel_read_safe": True}


def rewritten(text: str, page: str) -> str:
    """The text of a page with such links rewritten.

    Raises
    ------
    FileNotFoundError
        If a link leads to a file that does not exist.
    """

    def link(found: re.Match[str]) -> str:
        path = (DOCS / page).parent.joinpath(found[1]).resolve()
        if not path.exists():
            raise FileNotFoundError(f"{page}: there is no {found[1]}")
        if path.suffix == ".md" and path.is_relative_to(DOCS):
            return found[0]
        return f"]({REPOSITORY}{path.relative_to(DOCS.parent).as_posix()}{found[2]})"

    parts = _CODE.split(text)
    parts[::2] = [_LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts)
