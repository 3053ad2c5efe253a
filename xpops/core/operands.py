"""Types of operands: scalars, and arrays of any framework."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np

Scalar: TypeAlias = "complex | np.number[Any] | np.bool[bool]"


class _DLPack(Protocol):
    def __dlpack__(self, *arguments: Any, **named: Any) -> Any: ...


class _CudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...


# An array of any framework.
Producer: TypeAlias = "_DLPack | _CudaArray"
