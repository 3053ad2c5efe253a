"""Types of the arguments of functions: scalars, arrays of any framework, axes and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias

import numpy as np

Scalar: TypeAlias = "complex | np.number[Any] | np.bool[bool]"


class _DLPack(Protocol):
    def __dlpack__(self, *arguments: Any, **named: Any) -> Any: ...


class _CudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> Any: ...


# An array of any framework.
Producer: TypeAlias = "_DLPack | _CudaArray"

Axes: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
Bound: TypeAlias = "_DLPack | _CudaArray | complex | np.number[Any] | np.bool[bool] | None"
