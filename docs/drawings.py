"""Draws the pictures of the architecture: ``python docs/drawings.py``. Each is a few boxes and arrows."""

from __future__ import annotations

from html import escape
from pathlib import Path

PICTURES = Path(__file__).parent / "pictures"
GREEN, GREY, PAPER = "#0b6e4f", "#5a6472", "#ffffff"
# Package -> what it is, from the top layer down. The second ones stand beside the first.
LAYERS: tuple[tuple[tuple[str, str], ...], ...] = (
    (("dask", "Dask arrays of blocks"), ("zarr", "blocks in files")),
    (("cli", "python -m xpops"), ("testing", "what tests need")),
    (("numpy", "NumPy's names"),),
    (("api", "the public functions"),),
    (("arrays", "the Array object"),),
    (("dlpack", "arrays out to others, and in"),),
    (("dispatch", "operands, plans and engines meet"),),
    (("frameworks", "torch, cupy, jax, numpy, DLPack"),),
    (("engine/cpu", "NumPy"), ("engine/cuda", "native/, compiled by NVRTC")),
    (("plan", "all that needs no data"),),
    (("ops", "the rows of operators"),),
    (("core", "layouts, dtypes, errors"),),
)
FIRST = ("examine the operands", "plan", "compile, or take from the disk", "launch", "remember the launch")
LATER = ("read layouts and data", "look up the launch", "allocate", "write addresses", "launch")


def main() -> None:
    """Write all pictures."""
    for name, text in pictures().items():
        (PICTURES / name).write_text(text)


def pictures() -> dict[str, str]:
    """The pictures by their file names."""
    return {"call.svg": call(), "layers.svg": layers()}


def layers() -> str:
    """The packages in layers: each imports only from its own layer and those below."""
    width, height, gap = 560, 46, 10
    parts = []
    for row, boxes in enumerate(LAYERS):
        each = (width - gap * (len(boxes) - 1)) // len(boxes)
        for column, (name, words) in enumerate(boxes):
            parts.append(box(30 + column * (each + gap), 10 + row * (height + gap), each, height, name, words))
    total = len(LAYERS) * (height + gap)
    parts.append(arrow(14, 20, 14, total - 8))
    return picture(width + 50, total + 12, "The layers of xpops: imports point down", parts)


def call() -> str:
    """The steps of a first call, and of each later one like it."""
    width, height, gap, left = 150, 52, 28, 96
    parts = []
    for row, (title, steps) in enumerate({"first call": FIRST, "later calls": LATER}.items()):
        top = 14 + row * (height + 34)
        parts.append(label(8, top + height / 2 + 4, title, GREY, "start"))
        for column, words in enumerate(steps):
            x = left + column * (width + gap)
            parts.append(box(x, top, width, height, "", words))
            if column:
                parts.append(arrow(x - gap + 4, top + height / 2, x - 6, top + height / 2))
    x = left + 4 * (width + gap) + width / 2
    parts.append(arrow(x, 14 + height + 4, x - 3 * (width + gap), 14 + height + 28))
    return picture(left + 5 * (width + gap), 2 * (height + 34), "A first call, and later ones like it", parts)


def box(x: float, y: float, width: float, height: float, name: str, words: str) -> str:
    """A rectangle with a name and a few words, which are broken into two lines if they are alone and long."""
    lines = [(name, GREEN, True)] if name else []
    lines += [(each, GREY, False) for each in (broken(words) if not name else (words,))]
    step = 17
    start = y + height / 2 - step * (len(lines) - 1) / 2 + 4.5
    texts = "".join(
        label(x + width / 2, start + step * number, text, colour, "middle", bold)
        for number, (text, colour, bold) in enumerate(lines)
    )
    shape = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{PAPER}" stroke="{GREEN}"/>'
    return shape + texts


def broken(words: str) -> tuple[str, ...]:
    """Words in one line, or in two of nearly the same length if they are longer than a box.

    Examples
    --------
    >>> broken("compile, or take from the disk")
    ('compile, or', 'take from the disk')
    """
    if len(words) <= 17:
        return (words,)
    each = words.split()
    place = min(range(1, len(each)), key=lambda i: max(len(" ".join(each[:i])), len(" ".join(each[i:]))))
    return " ".join(each[:place]), " ".join(each[place:])


def label(x: float, y: float, text: str, colour: str, anchor: str, bold: bool = False) -> str:
    """A line of text."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'


def arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    """A line with a head."""
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{GREY}" marker-end="url(#head)"/>'


def picture(width: float, height: float, title: str, parts: list[str]) -> str:
    """An SVG file on white paper, so that it can be read in a dark theme as well."""
    head = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{GREY}"/></marker></defs>'
    )
    space, font = 'xmlns="http://www.w3.org/2000/svg"', 'font-family="sans-serif" font-size="13"'
    opening = f'<svg {space} viewBox="0 0 {width:g} {height:g}" {font}>'
    paper = f'<rect width="{width:g}" height="{height:g}" fill="{PAPER}"/>'
    return "\n".join([opening, f"<title>{escape(title)}</title>", head, paper, *parts, "</svg>", ""])


if __name__ == "__main__":
    main()
