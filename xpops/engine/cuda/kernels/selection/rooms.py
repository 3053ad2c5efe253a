"""Guesses of the sizes of results that depend on data: room for them, before the host knows the sizes."""

from __future__ import annotations

from xpops.engine.cuda.runtime.memory import block_size

# A guess is the last count and 1 / SLACK of it, in whole blocks, so that counts which differ by chance have room.
SLACK = 16


class Rooms:
    """The numbers of elements for which the calls of one plan allocate memory before they know the counts.

    If a guess is wrong, its kernel runs for nothing. So there is no guess until two calls in a row had similar counts.
    Threads share the guesses. One may see those of another, which costs time only: each call checks its own guess.

    Parameters
    ----------
    width : int
        The bytes of an element of the result; not 0.
    """

    def __init__(self, width: int) -> None:
        self._width, self._room, self._is_likely = width, 0, False

    def next(self) -> tuple[int, bool]:
        """The number of elements for which the next call may have to allocate, and whether it is likely to suffice."""
        return self._room, self._is_likely

    def check(self, room: int, count: int) -> bool:
        """Whether `count` elements have room, in a block of at most the size for a quarter more elements.

        So an array never keeps more memory than that. The next guess depends on the answer.
        """
        width = self._width
        fits = count <= room and room * width <= block_size(count * width * 5 // 4)
        if not fits:
            self._room = block_size((count + count // SLACK) * width) // width
        self._is_likely = fits
        return fits
