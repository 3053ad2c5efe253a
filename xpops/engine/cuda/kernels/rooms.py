"""Guesses of the sizes of results that depend on data: room for them, before the host knows the sizes."""

from __future__ import annotations

from xpops.engine.cuda.runtime.memory import block_size

# A guess is the last count and 1 / SLACK of it, in whole blocks, so that counts which differ by chance have room.
SLACK = 16


class Rooms:
    """The numbers of elements for which the calls of one plan allocate memory before they know the counts.

    A wrong guess costs a kernel that writes in vain. So there is no guess until two calls in a row had similar counts.
    Threads share the guesses. One may see those of another, which costs time only: each call checks its own guess.

    Parameters
    ----------
    width : int
        The bytes of an element of the result; not 0.
    """

    def __init__(self, width: int) -> None:
        self._width, self._room, self._is_likely = width, 0, False

    def next(self) -> int:
        """The number of elements to allocate for the next call; 0 if it must wait for its count."""
        return self._room if self._is_likely else 0

    def learn(self, count: int) -> None:
        """Note the number of elements that a call found."""
        self._is_likely = self.fits(self._room, count)
        self._room = block_size((count + count // SLACK) * self._width) // self._width

    def fits(self, room: int, count: int) -> bool:
        """Whether `count` elements have room, and no more memory than the block of an array that is a quarter larger.

        So an array never keeps more memory than that.
        """
        return count <= room and room * self._width <= block_size(count * self._width * 5 // 4)
