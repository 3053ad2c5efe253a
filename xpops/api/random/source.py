"""The counters from which random bits are computed."""

from __future__ import annotations

import operator
import threading
from collections.abc import Iterable
from typing import Any, Self

import numpy as np


class Source:
    """A stream of random bits: a Philox4x32-10 key, and counters of 128 bits that are used one after the other.

    Attributes
    ----------
    state : dict
        The complete state.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._lock = threading.Lock()
        self._set_state(_integer(seed, "seed") if seed is not None else int(np.random.SeedSequence().entropy), (), 0, 0)  # type: ignore[arg-type]

    @property
    def state(self) -> dict[str, Any]:
        """The state, as a new dict of plain values. It can be saved as JSON, and assigned to any generator.

        ``seed``; ``path``, the number of this stream and those of the streams that spawned it; ``children``, the number
        of streams it has spawned; ``position``, the number of counters it has used.

        Raises
        ------
        TypeError, ValueError
            On assignment, if the value is not such a dict.

        Examples
        --------
        >>> generator = xp.random.Generator(7)
        >>> _, saved = generator.uniform(size=10), generator.state
        >>> saved
        {'seed': 7, 'path': (), 'children': 0, 'position': 5}
        >>> first = generator.integers(100, size=3)
        >>> generator.state = saved
        >>> xp.all(generator.integers(100, size=3) == first)
        Array(True, dtype=bool, device='cpu')
        """
        with self._lock:
            return {
                "seed": self._seed,
                "path": self._path,
                "children": self._children,
                "position": self._position,
            }

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        names = {"seed", "path", "children", "position"}
        if not isinstance(state, dict) or set(state) != names:
            raise TypeError(f"Generator: state is {state!r}; accepted: a dict of {', '.join(sorted(names))}")
        if not isinstance(state["path"], Iterable):
            raise TypeError(f"Generator: path of state is {state['path']!r}; accepted: a sequence of integers")
        path = tuple(_integer(each, "path of state") for each in state["path"])
        seed, children, position = (
            _integer(state[name], f"{name} of state") for name in ("seed", "children", "position")
        )
        with self._lock:
            self._set_state(seed, path, children, position)

    def spawn(self, n: int) -> list[Self]:
        """New generators with independent streams, which do not depend on the numbers drawn from this generator.

        Parameters
        ----------
        n : int
            The number of generators. Each call returns new streams.

        Returns
        -------
        list of Generator

        Raises
        ------
        TypeError, ValueError
            If `n` is not an integer, or negative.

        Examples
        --------
        >>> first, second = xp.random.Generator(7).spawn(2)
        >>> first.state["path"], second.state["path"]
        ((0,), (1,))
        """
        count = _integer(n, "n", "spawn")
        with self._lock:
            born = range(self._children, self._children + count)
            self._children += count
        children = [type(self)(self._seed) for _ in born]
        for number, child in zip(born, children, strict=True):
            child._set_state(self._seed, (*self._path, number), 0, 0)
        return children

    def __getstate__(self) -> dict[str, Any]:
        return self.state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._lock = threading.Lock()
        self.state = state

    def __repr__(self) -> str:
        state = self.state
        return f"{type(self).__name__}({state['seed']}, path={state['path']}, position={state['position']})"

    def _set_state(self, seed: int, path: tuple[int, ...], children: int, position: int) -> None:
        self._seed, self._path, self._children, self._position = seed, path, children, position
        key, branch = np.random.SeedSequence(seed, spawn_key=path).generate_state(2, np.uint64)
        self._key, self._branch = int(key), int(branch)

    def _take(self, counters: int) -> tuple[int, int, int]:
        """Reserve some counters. Returns the key, the branch, and the position of the first counter."""
        with self._lock:
            taken = self._key, self._branch, self._position
            self._position = (self._position + counters) % 2**64
        return taken


def _integer(value: Any, argument: str, function: str = "Generator") -> int:
    try:
        found = operator.index(value)
    except TypeError:
        raise TypeError(f"{function}: {argument} is {value!r}; accepted: integers from 0 on") from None
    if found < 0:
        raise ValueError(f"{function}: {argument} is {found}; accepted: integers from 0 on")
    return found
