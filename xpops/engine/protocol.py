"""What a device must offer. Every public function is written once, over these primitives."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.ops.operator import Operator
from xpops.ops.random import Law
from xpops.ops.reduction import Reduction
from xpops.ops.scan import Scan
from xpops.plan.coalesce import Strides
from xpops.plan.histogram import EqualBins
from xpops.plan.join import Piece
from xpops.plan.signature import Operand, Signature
from xpops.plan.upsample import Axis

# How an engine holds elements: an address (int) on CUDA, an ndarray of exactly the layout on the CPU.
Data = Any
# What keeps the memory alive; None where the data does so itself.
Owner = Any
# kernel(stream, out, *operands): writes `out`. Operands are Data, or Python scalars where the signature has a type.
Kernel = Callable[..., None]


class Program(NamedTuple):
    """A call that is ready to run.

    Attributes
    ----------
    layouts : tuple of Layout
        The results', dense.
    kernel : Kernel
        ``kernel(stream, *results, *operands)`` writes them.
    """

    layouts: tuple[Layout, ...]
    kernel: Kernel


# measure(stream, *operands): where the sizes of results depend on data. Waits for the device to know them.
Measure = Callable[..., Program]


class Engine(Protocol):
    """The primitives of one kind of device."""

    def allocate(self, layout: Layout, stream: int) -> tuple[Data, Owner]:
        """Uninitialised memory for a C-contiguous or densely permuted `layout`, ordered on `stream`."""

    def allocator(self, layout: Layout) -> Callable[[int], tuple[Data, Owner]]:
        """`allocate` for one layout: a function of the stream, with everything else decided."""

    def elementwise(self, op: Operator, signature: Signature, operands: tuple[Operand, ...], out: Layout) -> Kernel:
        """The kernel that computes `op`; `out` may be exactly an operand's memory, but must not partly overlap one."""

    def reduce(
        self,
        op: Reduction,
        x: Layout,
        axes: tuple[int, ...],
        loop: DType,
        out: Layout,
        strides: Strides,
        correction: float = 0.0,
    ) -> Kernel:
        """The kernel ``(stream, out, x)`` that reduces `axes` of `x`, which is not empty.

        Elements are converted to `loop` first; `strides` are the result's along every axis of `x`, 0 along `axes`. A
        reduction to a position has one axis.
        """

    def bincount(self, x: Layout, minlength: int) -> Measure:
        """How often each of the integers from 0 to the largest of a 1-d C-contiguous `x` occurs: int64 counts.

        ValueError where a value is negative.
        """

    def compress(self, x: Layout, mask: Layout) -> Measure:
        """The elements of `x` where `mask`, which has its leading axes, is not 0. Both are C-contiguous."""

    def histogram(self, x: Layout, bins: EqualBins) -> Kernel:
        """The kernel ``(stream, counts, edges, x)`` that counts numbers of a 1-d C-contiguous `x` in equal bins: int64
        counts, and the edges. NaN is in none.
        """

    def join(self, pieces: tuple[Piece, ...], out: Layout) -> Kernel | None:
        """The kernel ``(stream, out, *operands)`` that copies pieces of operands to their places in `out`, which lies
        apart; None where one launch for each is as good. No piece is empty.
        """

    def nonzero(self, x: Layout) -> Measure:
        """The int64 coordinates of what is not 0 in a C-contiguous `x`, an array for each of its axes."""

    def place(self, x: Layout, mask: Layout, value: Layout) -> Measure:
        """Writes the rows of `value` to `x` where `mask`, which has its leading axes, is not 0; has no results.

        `mask` and `value` are C-contiguous. ValueError, before anything is written, if there are not as many rows as
        places.
        """

    def runs(self, x: Layout, wanted: tuple[str, ...]) -> Measure:
        """The runs of equal neighbours in a 1-d C-contiguous `x`, by the parts that are `wanted`.

        "values": the first element of each; "starts": its index; "groups": for every element the number of its run, at
        the place that a permutation names, which then is the second operand.
        """

    def scan(self, op: Scan, x: Layout, axis: int, out: Layout, initial: bool) -> Kernel:
        """The kernel ``(stream, out, x[, gamma])`` that scans `x` along `axis`, converted to the dtype of `out` first.

        `out` is dense and not empty, and lies apart from `x`. With `initial` it is one longer along `axis`, and begins
        with the scan's initial value. Only a recurrence has a `gamma`.
        """

    def matmul(self, x1: Layout, x2: Layout, out: Layout, tf32: bool) -> Kernel:
        """The kernel ``(stream, out, x1, x2)`` of products of matrices in stacks of one shape.

        All are of one dtype, none is empty, and `out` is C-contiguous; operands may be repeated by strides of 0.
        """

    def gather(
        self, x: Layout, axes: tuple[int, ...], indices: tuple[Layout, ...], place: int, names: tuple[str, ...]
    ) -> Program:
        """The elements of `x` at the places that integers name along `axes`: ``(stream, out, x, *indices)``.

        The indices are of one shape, which the result has at `place` among the other axes. Negative ones count from the
        end. One that is out of range is an IndexError, which calls it by its name in `names`: at once on the CPU; on
        CUDA, where it is taken as the nearest there is, when the host next reads from the device. No indexed axis is
        empty where indices are not.
        """

    def take_along(self, x: Layout, indices: Layout, axis: int) -> Program:
        """As `gather`, with an index for each element: `indices` has the shape of `x` but along `axis`."""

    def scatter(
        self,
        x: Layout,
        axes: tuple[int, ...],
        indices: tuple[Layout, ...],
        place: int,
        value: Layout,
        names: tuple[str, ...],
    ) -> Kernel:
        """The kernel ``(stream, x, value, *indices)`` that writes what `gather` reads.

        `value` has the dtype of `x` and the shape of the result of `gather`, and lies apart from `x`. Of several values
        for one place, the last stays on the CPU and any of them on CUDA. Nothing is written where an index is out of
        range, on the CPU nothing at all.
        """

    def scatter_reduce(
        self,
        out: Layout,
        axis: int,
        index: Layout,
        source: Layout,
        reduction: str,
        include_self: bool,
        deterministic: bool,
        skipped: int,
        name: str,
    ) -> Kernel:
        """The kernel ``(stream, out, index, source)`` that reduces elements of `source` into places of `out`.

        The place is that of the element, but along `axis` it is what `index`, of the same shape, says; this goes
        nowhere beyond `out` along another axis. `out` and `source` are C-contiguous, of one dtype, and lie apart.
        `reduction` is "sum", "prod", "min", "max" or "mean"; without `include_self` what was at a place does not count.
        Elements whose index is `skipped` are left out, as are those with an index out of range, which is an IndexError
        as for `gather`. Only sums that are not `deterministic` may depend on the order in which threads arrive.
        """

    def sort(self, x: Layout, values: Layout | None, indices: Layout | None, descending: bool) -> Kernel:
        """The kernel ``(stream, [values], [indices], x)`` that sorts along the last axis; of the results at least one.

        All are C-contiguous and of one shape with at least one axis, and `x` lies apart from the results. The order is
        total: -0.0 before +0.0 (the other way round if `descending`), and in both directions every NaN last, as any
        NaN. Indices are those of a stable sort; they are int64, or a 32-bit integer that holds the row's length.
        """

    def searchsorted(
        self,
        x1: Layout,
        x2: Operand,
        right: bool,
        out: Layout,
        loop: DType | None = None,
        sorter: Layout | None = None,
    ) -> Kernel:
        """The kernel ``(stream, out, x1, x2, [sorter])`` that finds where elements of `x2` belong in a 1-d sorted `x1`.

        Both are compared as `loop`, by default the dtype of `x1`; NaN comes after all else. `out` is int64, of the
        shape of `x2`, and all are C-contiguous. Integers of `sorter` order `x1`: those out of range raise IndexError on
        the CPU, and on CUDA are the nearest there is.
        """

    # Of matrices. All layouts are C-contiguous stacks of shape (count, rows, columns), none of them empty, of float32,
    # float64, complex64 or complex128, and all operands are destroyed. What fails raises LinAlgError, for which CUDA
    # waits.

    def cholesky(self, x: Layout) -> Kernel:
        """The kernel ``(stream, x)`` that puts the upper factor in the place of that triangle of Hermitian matrices."""

    def eig(self, x: Layout, vectors: bool) -> Kernel:
        """The kernel ``(stream, values, [vectors], x)`` of eigenvalues, 1-d, and eigenvectors, as rows, of `x.mT`.

        Both are complex.
        """

    def eigh(self, x: Layout, vectors: bool) -> Kernel:
        """The kernel ``(stream, values, x)`` of real eigenvalues, 1-d and ascending, of Hermitian matrices.

        These are told by the lower triangle, and replaced by the conjugated eigenvectors, as rows, if `vectors`.
        """

    def inv(self, x: Layout, identity: Callable[[int, Data], None]) -> Kernel:
        """The kernel ``(stream, out, x)`` of inverse matrices.

        ``identity(stream, out)`` writes identity matrices, for who begins with them.
        """

    def qr(self, x: Layout, q: Layout) -> Kernel:
        """The kernel ``(stream, q, x)`` of orthonormal columns of `x.mT`, as the rows of `q`, which say how many.

        The upper triangle of `x.mT` is the triangular factor then.
        """

    def slogdet(self, x: Layout) -> Kernel:
        """The kernel ``(stream, sign, logabsdet, x)`` of determinants; a singular matrix has 0 and -inf."""

    def solve(self, a: Layout, b: Layout) -> Kernel:
        """The kernel ``(stream, a, b)`` of equations with `a.mT`: solutions take the place of right-hand sides.

        These are rows of `b`.
        """

    def svd(self, x: Layout, vectors: bool, full: bool) -> Kernel:
        """The kernel ``(stream, [u], s, [vh], x)`` of the singular values, descending, of `x`, which is not tall.

        With `full`, `vh` is square.
        """

    def triangle(self, x: Layout) -> Kernel:
        """The kernel ``(stream, x)`` that writes zeros to all but the upper triangle."""

    def fft(self, x: Layout, out: Layout, axes: tuple[int, ...], kind: str) -> Kernel:
        """The kernel ``(stream, out, x)`` of sums of a Fourier transform, not divided by anything.

        Both are C-contiguous, not empty, and one if "fft" or "ifft" is the `kind`. Of at most three adjacent axes the
        last one holds half of a Hermitian spectrum in the result of "rfft" and in the operand of "irfft", which is
        destroyed.
        """

    def upsample(self, x: Layout, out: Layout, axes: tuple[Axis, Axis], words: int, backward: bool) -> Kernel:
        """The kernel ``(stream, out, x)`` that enlarges images of `words` elements a column by the nearest element.

        Both are C-contiguous and not empty. `backward` adds up the gradient `x` by the larger images.
        """

    def softmax(self, x: Layout, axis: int, out: Layout, log: bool) -> Kernel:
        """The kernel ``(stream, out, x)`` of softmax along an axis, or of its logarithm.

        Both lie in memory without gaps, in the same order of axes, and are not empty.
        """

    def arange(self, out: Layout) -> Kernel:
        """The kernel ``(stream, out, start, step)`` that writes ``start + i * step`` into a C-contiguous `out`."""

    def random(self, law: Law, out: Layout) -> Kernel:
        """The kernel ``(stream, out, key, branch, position, *parameters)`` that writes random numbers.

        Element ``i`` of a C-contiguous `out` is made of the words of Philox4x32-10 for the 64-bit `key` and the counter
        of `branch` and ``position + i // law.count(out.dtype)``, all modulo ``2**64``. Parameters are floats, or
        integers from 0 to ``2**64 - 1``. Engines agree to the last bit.
        """

    def view(self, data: Data, offset: int, layout: Layout) -> Data:
        """The data of a view: `offset` in elements from the first element of `data`, whose dtype `layout` shares."""

    def address(self, data: Data) -> int:
        """The address of the first element."""

    def adopt(self, address: int, layout: Layout, owner: Owner, writable: bool) -> Data:
        """Data for memory that came from elsewhere and that `owner` keeps alive."""

    def to_host(self, data: Data, layout: Layout, stream: int) -> Any:
        """A C-contiguous ndarray with the elements of a C-contiguous `layout`. Waits for the stream."""

    def from_host(self, array: Any, data: Data, layout: Layout, stream: int) -> None:
        """Copy a C-contiguous ndarray into the memory of a C-contiguous `layout`. Waits until it has been read."""

    def current_stream(self) -> int:
        """The handle of the stream that calls go to; 0 is the legacy default stream."""

    def current(self) -> AbstractContextManager[object]:
        """Within it the device is this thread's current one."""

    def order(self, first: int, then: int) -> None:
        """Make later work on the stream `then` wait for the work that is on the stream `first` now."""

    def retain(self, owner: Owner, stream: int) -> None:
        """Keep `owner` alive until the work that is on `stream` now is done. Does not wait."""
