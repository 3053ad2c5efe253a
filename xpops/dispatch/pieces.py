"""Results that consist of pieces of their operands, such as those of `concat` and `roll`."""

from __future__ import annotations

from xpops.core.layouts import Layout
from xpops.dispatch.primitives import copier
from xpops.engine.program import Data, Kernel
from xpops.engine.protocol import Engine
from xpops.plan.join import Piece


def assemble(engine: Engine, pieces: list[Piece], out: Layout) -> Kernel:
    """The kernel ``(stream, out, *operands)`` that copies and casts the pieces. Together they cover all of `out`."""
    full = tuple(piece for piece in pieces if piece.view.size)
    joined = engine.join(full, out)
    if joined is not None:
        return joined
    copies = [(piece, copier(piece.view, piece.region)) for piece in full]

    def kernel(stream: int, out: Data, *operands: Data) -> None:
        for (source, offset, view, place, region), copy in copies:
            copy(stream, engine.view(out, place, region), engine.view(operands[source], offset, view))

    return kernel
