"""The state of a program that runs: its variables, what they should hold, and checks that are put off to the end."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from conformance.fuzz.forms import Spec
from conformance.fuzz.values import DType, NDArray
from xpops.testing import LAYOUTS, Framework, draw_values, frameworks_on
from xpops.testing.frameworks import NumPy

MOST_VARIABLES = 20
_NUMPY = NumPy("cpu")


def homes_on(device: str) -> dict[str, Framework]:
    """The frameworks that are installed and have arrays on a device, by name. JAX gets 64-bit dtypes."""
    if find_spec("jax") is not None:
        import jax

        jax.config.update("jax_enable_x64", True)
    return frameworks_on(device)


class Mismatch(Exception):
    """A result is not the exact one, or an array has changed that nobody wrote to; `kind` says which in a few words."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind = kind


class Variable:
    """An array, and the values that it should hold.

    Views of one memory have values that are views of one memory. Those of a result are read when they are needed.

    Parameters
    ----------
    value : array
        Of `home`.
    home : Framework
        Its framework.
    values : numpy.ndarray or numpy.dtype
        What it should hold; of a result, the dtype that it should have.
    is_writable, is_mirrored : bool
        Whether it may be written to; whether it has negative strides.
    """

    def __init__(
        self, value: Any, home: Framework, values: NDArray | DType, is_writable: bool, is_mirrored: bool = False
    ) -> None:
        self.value, self.home, self.is_writable, self.is_mirrored = value, home, is_writable, is_mirrored
        self._values: NDArray | None = None if isinstance(values, np.dtype) else values
        self.dtype: DType = values if isinstance(values, np.dtype) else values.dtype

    @property
    def values(self) -> NDArray:
        """What it should hold."""
        if self._values is None:
            self._values = self.home.host(self.value)
        return self._values

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the array."""
        return tuple(self.value.shape)

    def settle(self, values: NDArray) -> None:
        """Note what was read and found right."""
        if self._values is None:
            self._values = values
        else:
            self._values[...] = values

    def fits(self, spec: Spec, home: Framework) -> bool:
        """Whether it can be such an operand. A domain other than any is left to fresh arrays."""
        plain = spec.layout == "contiguous" and spec.domain == "any"
        return plain and self.home is home and self.shape == spec.shape and self.dtype == spec.dtype

    def __getitem__(self, key: tuple[slice, ...]) -> Variable:
        """A view."""
        values = self.dtype if self._values is None else self._values[key]
        mirrored = self.is_mirrored or any(each.step < 0 for each in key)
        return Variable(self.value[key], self.home, values, self.is_writable, mirrored)

    def hop(self, home: Framework) -> Variable:
        """An array of another framework over the same memory; JAX gets a copy, since its arrays may not change."""
        value = self.value
        values = self.dtype if self._values is None else self._values
        if home.name == "jax":
            value = self.home.copy(value)
            values = values.copy() if isinstance(values, np.ndarray) else values
        is_writable = self.is_writable and home.is_mutable
        return Variable(home.adopt(value), home, values, is_writable, self.is_mirrored)


class Machine:
    """Variables and checks of one program.

    Parameters
    ----------
    homes : dict
        The frameworks, by name.
    is_deferred : bool
        Nothing is read, and nothing written in place, before the program ends. So no call waits for the one before.
    """

    def __init__(self, homes: dict[str, Framework], is_deferred: bool) -> None:
        self.homes, self.is_deferred = homes, is_deferred
        self.variables: list[Variable] = []
        self._checks: list[Callable[[], None]] = []

    def fresh(self, spec: Spec, home: Framework, rng: np.random.Generator, make: Callable[[NDArray], Any]) -> Variable:
        """A new array in the layout of `spec`, whose base `make` makes."""
        view = LAYOUTS[spec.layout](spec.shape)
        host = draw_values(rng, spec.dtype, view.base, spec.domain)
        values = _NUMPY.view(host, view)
        mirrored = spec.layout in ("mirrored", "upside_down")
        return Variable(home.view(make(host), view), home, values, home.is_mutable and values.flags.writeable, mirrored)

    def find(self, spec: Spec, home: Framework, pick: int) -> Variable | None:
        """A variable that can be such an operand."""
        fitting = [each for each in self.variables if each.fits(spec, home)]
        return fitting[pick % len(fitting)] if fitting else None

    def pick(self, pick: int, accepts: Callable[[Variable], bool]) -> Variable | None:
        """One of the variables that are accepted."""
        accepted = [each for each in self.variables if accepts(each)]
        return accepted[pick % len(accepted)] if accepted else None

    def keep(self, variable: Variable) -> None:
        """Add a variable; the oldest goes if there are many."""
        self.variables.append(variable)
        if len(self.variables) > MOST_VARIABLES:
            del self.variables[0]

    def check(self, check: Callable[[], None]) -> None:
        """Check now, or at the end."""
        if self.is_deferred:
            self._checks.append(check)
        else:
            check()

    def finish(self) -> None:
        """Make the checks that were put off; then every variable has to hold what it should."""
        for check in self._checks:
            check()
        for variable in self.variables:
            found, wanted = variable.home.host(variable.value), variable.values
            if found.dtype != wanted.dtype or not _same_values(found, wanted):
                raise Mismatch(
                    "an array has changed",
                    f"at the end an array of {variable.home.name} holds {found!r}, not {wanted!r}",
                )


def _same_values(found: NDArray, wanted: NDArray) -> bool:
    """Whether arrays are equal, NaNs with NaNs."""
    if found.shape != wanted.shape:
        return False
    return bool(np.all((found == wanted) | ((found != found) & (wanted != wanted))))
