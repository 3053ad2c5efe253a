"""Facts about a torch tensor that are not in its dtype, shape and strides; and ways to make a call."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from conformance.fuzz.values import COMPLEX, FLOATS, DType, NDArray

Make = Callable[[NDArray], Any]
PARTS: dict[DType, type] = {np.dtype("float32"): np.complex64, np.dtype("float64"): np.complex128}


def _conjugate(make: Make, host: NDArray) -> Any:
    """The lazy conjugate of the conjugate."""
    return make(np.conj(host)).conj()


def _negative(make: Make, host: NDArray) -> Any:
    """The lazy negative of the negative."""
    import torch

    return torch._neg_view(make(-host))


def _imaginary(make: Make, host: NDArray) -> Any:
    """The imaginary part of a lazy conjugate, which has torch's bit for negatives."""
    return make((host * -1j).astype(PARTS[host.dtype])).conj().imag


def _parameter(make: Make, host: NDArray) -> Any:
    import torch

    return torch.nn.Parameter(make(host), requires_grad=False)


def _inference(make: Make, host: NDArray) -> Any:
    import torch

    with torch.inference_mode():
        return make(host).clone()


def _leaf(make: Make, host: NDArray) -> Any:
    return make(host).requires_grad_()


# Name -> the dtypes that have it, and what makes such a tensor.
FACTS: dict[str, tuple[tuple[DType, ...], Callable[[Make, NDArray], Any]]] = {
    "conjugate": (COMPLEX, _conjugate),
    "negative": ((*FLOATS, *COMPLEX), _negative),
    "imaginary": (tuple(PARTS), _imaginary),
    "parameter": (FLOATS, _parameter),
    "inference": ((*FLOATS, *COMPLEX), _inference),
    "leaf": (FLOATS, _leaf),
}


def context(name: str, device: str) -> AbstractContextManager[Any]:
    """no_grad, inference_mode or stream: in which a call is made."""
    if name not in ("no_grad", "inference_mode", "stream"):
        return nullcontext()
    import torch

    contexts: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        "no_grad": torch.no_grad,
        "inference_mode": torch.inference_mode,
        "stream": nullcontext if device == "cpu" else lambda: _SideStream(device),
    }
    return contexts[name]()


class _SideStream(AbstractContextManager[None]):
    """torch's current stream is another one, which waits for the one before, and that one waits for it at the end."""

    def __init__(self, device: str) -> None:
        import torch

        self._before = torch.cuda.current_stream(device)
        self._stream = torch.cuda.Stream(device)
        self._inner = torch.cuda.stream(self._stream)

    def __enter__(self) -> None:
        self._stream.wait_stream(self._before)
        self._inner.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._inner.__exit__(*error)
        self._before.wait_stream(self._stream)


def call_in_thread(call: Callable[[], Any]) -> Any:
    """What a call returns or raises, made in a thread of its own."""
    outcome: list[Any] = []

    def target() -> None:
        try:
            outcome.append((call(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
    ((result, error),) = outcome
    if error is not None:
        raise error
    return result
