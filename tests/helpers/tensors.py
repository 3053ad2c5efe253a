"""NumPy's arrays as tensors of torch on the host, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from xpops.core import dtypes as dt

NDArray = np.ndarray[Any, Any]

# torch.from_numpy does not know these dtypes.
_SAME_WIDTH = {dt.bfloat16: np.dtype(np.int16), **dict.fromkeys(dt.FLOAT8, np.dtype(np.uint8))}


def tensor_of(torch: Any, host: Any) -> Any:
    """A new tensor with the elements of an array."""
    copy = np.array(host)
    plain = _SAME_WIDTH.get(copy.dtype)
    if plain is None:
        return torch.from_numpy(copy)
    return torch.from_numpy(copy.view(plain)).view(getattr(torch, copy.dtype.name))


def host_of(torch: Any, tensor: Any) -> NDArray:
    """A C-contiguous copy of a tensor."""
    dtype = np.dtype(getattr(dt, str(tensor.dtype).removeprefix("torch.")))
    plain = _SAME_WIDTH.get(dtype)
    dense = tensor.detach().clone(memory_format=torch.contiguous_format)
    host: NDArray = dense.numpy() if plain is None else dense.view(getattr(torch, plain.name)).numpy().view(dtype)
    return host
