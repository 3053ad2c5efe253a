"""An engine without memory: a call on its arrays finds the shapes and dtypes of its results, and computes nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import NoReturn

from xpops.core.devices import NOWHERE
from xpops.core.layouts import Layout, layout_of
from xpops.engine.program import Data, Kernel, Measure, Owner, Program
from xpops.plan.gather import gathered_shape


def compute_nothing(*data: Data) -> None:
    """The kernel of arrays without memory."""


def _kernel(*settings: object, **named: object) -> Kernel:
    return compute_nothing


class ValueNeeded(TypeError):
    """The shapes of results depend on values."""


def _refuse(*data: object) -> NoReturn:
    raise ValueNeeded(
        "the values of a traced array are not known before the traced function runs; "
        "accepted: functions whose results have shapes that do not depend on values"
    )


def _measure(*settings: object) -> Measure:
    return _refuse


class ShapeEngine:
    """Its kernels compute nothing. Every address is 0, and no value can be read."""

    is_host, dlpack_kind, fft_strided = False, 0, None

    arange = assign = cholesky = correlate = eig = eigh = elementwise = fft = histogram = inv = staticmethod(_kernel)
    matmul = qr = random = reduce = scan = scatter = scatter_reduce = searchsorted = staticmethod(_kernel)
    slogdet = softmax = solve = sort = svd = triangle = upsample = window = staticmethod(_kernel)
    bincount = compress = masked_scatter = nonzero = runs = staticmethod(_measure)
    from_host = staticmethod(compute_nothing)
    to_host = staticmethod(_refuse)

    def allocate(self, layout: Layout, stream: int = 0) -> tuple[Data, Owner]:
        return 0, None

    def allocator(self, layout: Layout) -> Callable[[int], tuple[Data, Owner]]:
        return lambda stream: (0, None)

    def sequence(self, kernel: Kernel, specs: tuple[Layout | type, ...]) -> Kernel:
        return kernel

    def view(self, data: Data, offset: int, layout: Layout) -> Data:
        return 0

    def adopt(self, address: int, layout: Layout, owner: Owner, writable: bool) -> Data:
        return 0

    def address(self, data: Data) -> int:
        return 0

    def distinct(self, x: Layout, parts: tuple[str, ...]) -> None:
        """Return None: the sort says that nothing is known."""

    def join(self, parts: tuple[Layout, ...], axis: int, out: Layout) -> None:
        """Return None: copies of the parts compute as little."""

    def gather(
        self, x: Layout, axes: tuple[int, ...], indices: tuple[Layout, ...], position: int, names: tuple[str, ...]
    ) -> Program:
        shape = gathered_shape(x, axes, indices[0].shape, position)
        return Program((layout_of(x.dtype, shape, None, NOWHERE),), compute_nothing)

    def take_along(self, x: Layout, indices: Layout, axis: int) -> Program:
        return Program((layout_of(x.dtype, indices.shape, None, NOWHERE),), compute_nothing)

    def current_stream(self) -> int:
        return 0

    def current(self) -> AbstractContextManager[None]:
        return nullcontext()

    def order(self, first: int, then: int) -> None:
        pass

    def retain(self, owner: Owner, stream: int) -> None:
        pass
