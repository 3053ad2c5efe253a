"""The exceptions of xpops. Other errors are built-in exceptions, as the standard and DLPack require."""

from __future__ import annotations

import re

import numpy as np


class CompileError(RuntimeError):
    """NVRTC could not compile a kernel.

    Attributes
    ----------
    key : str
        The kernel's name.
    options : tuple of str
        The options of the compilation.
    source : str
        The glue that was compiled.
    log : str
        NVRTC's messages.
    """

    def __init__(self, key: str, options: tuple[str, ...], source: str, log: str) -> None:
        self.key, self.options, self.source, self.log = key, options, source, log
        super().__init__(f"NVRTC failed on {key}\n{log.strip()}\noptions: {' '.join(options)}\n{_number_lines(source)}")


def _number_lines(source: str) -> str:
    """The lines with the numbers that NVRTC gives them; a ``#line`` directive sets the next number."""
    lines, number = [], 1
    for line in source.splitlines():
        lines.append(f"{number:4} | {line}")
        directive = re.match(r"\s*#line (\d+)", line)
        number = int(directive[1]) if directive else number + 1
    return "\n".join(lines)


def describe(x: object) -> str:
    """The name of an object in errors: its type, with the library that defines the type.

    Examples
    --------
    >>> describe([]), describe(2), describe(np.zeros(1))
    ('a list', 'an int', 'a numpy.ndarray')
    """
    kind = type(x)
    library = kind.__module__.partition(".")[0]
    name = kind.__qualname__ if library == "builtins" else f"{library}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiox' else 'a'} {name}"


class OutOfMemoryError(MemoryError):
    """A device has no room for a result. Every array that existed is still valid."""


class DeviceError(RuntimeError):
    """A device is not there, or its driver refused a call."""


class HostCopyError(TypeError):
    """NumPy asked for an array that is not on the host. xpops copies to the host only on an explicit request."""


class LinAlgError(np.linalg.LinAlgError):
    """A matrix is singular or not positive definite, or its decomposition did not converge. It is a ValueError, too."""
