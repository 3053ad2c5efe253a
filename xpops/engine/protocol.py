"""The primitives that the engine of a device must have. Every public function is written once, on top of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from xpops.core.dtypes import DType
from xpops.core.layouts import Layout
from xpops.engine.memory import Memory
from xpops.engine.program import Data, Guessing, Kernel, Measure, Program
from xpops.engine.signals import Signals
from xpops.ops.operator import Operator
from xpops.ops.random import Law
from xpops.ops.reduction import Reduction
from xpops.ops.scan import Scan
from xpops.plan.histogram import EqualBins
from xpops.plan.signature import Operand, Signature
from xpops.plan.strides.coalesce import Strides


class Engine(Memory, Signals, Protocol):
    """The primitives of one kind of device.

    Attributes
    ----------
    is_host : bool
        Whether data are ndarrays in the host's memory. Then there are no streams: work is done when a call returns.
    dlpack_kind : int
        The kind of the device in DLPack.
    fft_strided : int or None
        The longest axis, before others, that `fft` transforms faster where it is than after a copy that makes it the
        last one; of powers of two, four times as long. None: any.
    """

    is_host: bool
    dlpack_kind: int

    @property
    def fft_strided(self) -> int | None: ...

    def elementwise(self, op: Operator, signature: Signature, operands: tuple[Operand, ...], out: Layout) -> Kernel:
        """The kernel that computes `op`; `out` may be exactly an operand's memory, but must not partly overlap it."""

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

        The kernel converts elements to `loop` first. `strides` are the strides of the result along every axis of `x`:
        0 along `axes`. A reduction that returns a position (argmax, argmin) has one axis.
        """

    def bincount(self, x: Layout, minlength: int) -> Measure:
        """Count the integers of a 1-d C-contiguous `x`: int64 counts of 0 up to the largest value.

        Raises ValueError if a value is negative.
        """

    def compress(self, x: Layout, mask: Layout) -> Guessing:
        """Copy the elements of `x` where a dense `mask` of its leading axes is not 0; `x` is dense if it is larger."""

    def distinct(self, x: Layout, parts: tuple[str, ...]) -> Measure | None:
        """Find the distinct elements of a 1-d C-contiguous `x` without a sort; None if a sort is as fast.

        `parts` are those of `xpops.dispatch.sets.plan_unique`, and so are the results, except that "inverse_indices"
        are 1-d.
        """

    def histogram(self, x: Layout, bins: EqualBins) -> Kernel:
        """The kernel ``(stream, counts, edges, x)`` that counts the numbers of a 1-d C-contiguous `x` in equal bins.

        It writes int64 counts and the edges of the bins. NaN is in no bin.
        """

    def join(self, parts: tuple[Layout, ...], axis: int, out: Layout) -> Kernel | None:
        """The kernel ``(stream, out, *parts)`` that joins arrays along an axis of a C-contiguous `out`.

        None if copying part by part is as fast. No part is empty, and none overlaps `out`.
        """

    def window(
        self,
        x: Layout,
        starts: tuple[int, ...],
        out: Layout,
        fill: bytes | str | None,
        band: tuple[int, int] | None = None,
    ) -> Kernel:
        """The kernel ``(stream, out, x)`` that writes a window onto `x`: ``out[c] = x[c - start]`` along each axis.

        Beyond `x` elements are `fill`, the bytes of one; if it is None, `x` begins anew, and `out` is as long as `x`. A
        start is then at least 0 and less than the length, or 0. `out` is C-contiguous, not empty, and does not overlap.
        If `fill` is "edge", "reflect", "symmetric" or "wrap", elements beyond `x` are its own, as in `numpy.pad`.
        Of matrices, only the diagonals of `band`, from the first to the last, are copied: ``column - row``, which fits
        32 bits with the index. The others are `fill`.
        """

    def nonzero(self, x: Layout) -> Guessing:
        """The int64 coordinates of the nonzero elements of a C-contiguous `x`: one array for each axis."""

    def assign(self, signature: Signature, mask: Layout, value: Operand, out: Layout) -> Kernel:
        """The kernel ``(stream, out, mask, value)`` that writes `value` to `out` where `mask` is True.

        `signature` is that of ``where(mask, value, out)``. An operand may overlap `out` as in `elementwise`.
        """

    def masked_scatter(self, x: Layout, mask: Layout, value: Layout) -> Measure:
        """Write the rows of `value` to the elements of `x` where `mask` is not 0. There are no results.

        `mask` has the leading axes of `x`; `mask` and `value` are C-contiguous. Raises ValueError, before anything is
        written, if there are more or fewer rows than such elements.
        """

    def runs(self, x: Layout, wanted: tuple[str, ...]) -> Measure:
        """Find the runs of equal neighbours in a 1-d C-contiguous `x`. `wanted` names the results, in order.

        "values": the first element of each run. "starts": the index of that element. "groups": the number of the run of
        every element i, written to place ``order[i]``; the permutation `order` is then the second operand.
        """

    def scan(self, op: Scan, x: Layout, axis: int, out: Layout, initial: bool) -> Kernel:
        """The kernel ``(stream, out, x[, gamma])`` that converts `x` to the dtype of `out` and scans it along `axis`.

        `out` is dense and not empty, and does not overlap `x`. With `initial`, `out` has one more element along `axis`:
        it begins with the scan's initial value. Only a recurrence has a `gamma`.
        """

    def matmul(self, x1: Layout, x2: Layout, out: Layout, tf32: bool) -> Kernel:
        """The kernel ``(stream, out, x1, x2)`` that multiplies stacks of matrices; all stacks have the same shape.

        All arrays have the same dtype, none is empty, and `out` is C-contiguous. Operands may be broadcast, with
        strides of 0.
        """

    def gather(
        self, x: Layout, axes: tuple[int, ...], indices: tuple[Layout, ...], position: int, names: tuple[str, ...]
    ) -> Program:
        """Copy the elements of `x` that integer indices select along `axes`: ``(stream, out, x, *indices)``.

        All index arrays have the same shape. In the result, the axes of that shape replace `axes`, at `position` among
        the other axes. A negative index counts from the end. If the indices are not empty, no indexed axis is.

        An index out of range raises IndexError with the name of its array in `names`. The CPU raises it at once. CUDA
        clamps the index to the nearest valid one, and raises when the host next reads from the device.
        """

    def take_along(self, x: Layout, indices: Layout, axis: int) -> Program:
        """As `gather`, with one index for each element: `indices` has the shape of `x`, except along `axis`."""

    def scatter(
        self,
        x: Layout,
        axes: tuple[int, ...],
        indices: tuple[Layout, ...],
        position: int,
        value: Layout,
        names: tuple[str, ...],
    ) -> Kernel:
        """The kernel ``(stream, x, value, *indices)`` that writes `value` to the elements that `gather` would read.

        `value` has the dtype of `x` and the shape of the result of `gather`, and does not overlap `x`. If several
        values go to one place, on the CPU the last value wins; on CUDA an unspecified one does. If an index is out of
        range, CUDA skips its elements, and the CPU writes nothing at all.
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

        `index` has the shape of `source`. An element goes to its own coordinates in `out`, except that `index` gives
        the coordinate along `axis`. Along every other axis `out` is at least as long as `index`. `out` and `source` are
        C-contiguous, have the same dtype, and do not overlap.

        `reduction` is "sum", "prod", "min", "max" or "mean". Without `include_self`, the old value of a place does not
        count. The kernel ignores elements whose index is `skipped`. An index out of range is an IndexError as for
        `gather`; CUDA ignores its element. Only sums that are not `deterministic` may depend on the order of threads.
        """

    def sort(self, x: Layout, values: Layout | None, indices: Layout | None, descending: bool) -> Kernel:
        """The kernel ``(stream, [values], [indices], x)`` that sorts along the last axis; it has at least one result.

        All arrays are C-contiguous and have the same shape, with at least one axis. Or the last axis of all results is
        shorter: then they hold the first elements of each sorted row. `x` does not overlap the results.
        The order is total: -0.0 before +0.0, or after it if `descending`; every NaN is last in both directions. NaNs
        are equal, and a result may hold any NaN for them. Indices are those of a stable sort. Their dtype is int64, or
        a 32-bit integer that can hold the row's length.
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
        """The kernel ``(stream, out, x1, x2, [sorter])`` that finds the insertion points of `x2` in a 1-d sorted `x1`.

        It compares elements as `loop`, by default the dtype of `x1`; NaN is larger than all numbers. `out` is int64 and
        has the shape of `x2`; all arrays are C-contiguous. `sorter` holds the indices that sort `x1`. If an index is
        out of range, the CPU raises IndexError, and CUDA clamps it to the nearest valid index.
        """

    # Linear algebra. Layouts are C-contiguous stacks of matrices of shape (count, rows, columns), and not empty. Dtypes
    # are float32, float64, complex64 and complex128. Kernels destroy their operands. A failure raises LinAlgError.
    # On CUDA kernels wait for the device to learn of it, except `eigh` and `svd`: the host's next wait reports theirs.

    def cholesky(self, x: Layout) -> Kernel:
        """The kernel ``(stream, x)`` that overwrites the upper triangle of Hermitian matrices with the upper factor."""

    def eig(self, x: Layout, vectors: bool) -> Kernel:
        """The kernel ``(stream, values, [vectors], x)`` that computes eigenvalues and eigenvectors of `x.mT`.

        Both are complex. `values` is 1-d; `vectors` has one eigenvector per row.
        """

    def eigh(self, x: Layout, vectors: bool) -> Kernel:
        """The kernel ``(stream, values, x)`` that computes the eigenvalues of Hermitian matrices: real, 1-d, ascending.

        The kernel reads the lower triangle only. If `vectors`, it overwrites `x` with the conjugated eigenvectors, one
        per row.
        """

    def inv(self, x: Layout, identity: Callable[[int, Data], None]) -> Kernel:
        """The kernel ``(stream, out, x)`` that computes inverse matrices.

        ``identity(stream, out)`` writes identity matrices, for engines that invert by solving equations.
        """

    def qr(self, x: Layout, q: Layout) -> Kernel:
        """The kernel ``(stream, q, x)`` that computes the QR decomposition of `x.mT`.

        It writes the orthonormal columns to the rows of `q`; the layout of `q` decides how many. It overwrites the
        upper triangle of `x.mT` with the triangular factor.
        """

    def slogdet(self, x: Layout) -> Kernel:
        """The kernel ``(stream, sign, logabsdet, x)`` that computes determinants: 0 and -inf for a singular matrix."""

    def solve(self, a: Layout, b: Layout) -> Kernel:
        """The kernel ``(stream, a, b)`` that solves ``a.mT @ s == r`` for every row r of `b`, and writes s over r."""

    def svd(self, x: Layout, vectors: bool, full: bool) -> Kernel:
        """The kernel ``(stream, [u], s, [vh], x)`` that computes the singular values of `x`, in descending order.

        `x` has at least as many columns as rows. `u` and `vh` are results if `vectors`. With `full`, `vh` is square.
        """

    def triangle(self, x: Layout) -> Kernel:
        """The kernel ``(stream, x)`` that writes zeros below the diagonal."""

    def fft(self, x: Layout, out: Layout, axes: tuple[int, ...], kind: str) -> Kernel:
        """The kernel ``(stream, out, x)`` that computes an unscaled Fourier transform along up to three adjacent axes.

        Both arrays are C-contiguous and not empty. For "fft" and "ifft" they have the same layout, and may be the same
        memory. The last axis holds half of a Hermitian spectrum in the result of "rfft" and in the operand of "irfft".
        "irfft" destroys its operand.
        """

    def softmax(self, x: Layout, axis: int, out: Layout, log: bool) -> Kernel:
        """The kernel ``(stream, out, x)`` that computes softmax along an axis, or its logarithm.

        Both arrays are dense, have the same order of axes in memory, and are not empty.
        """

    def arange(self, out: Layout) -> Kernel:
        """The kernel ``(stream, out, start, step)`` that writes ``start + i * step`` into a C-contiguous `out`."""

    def random(self, law: Law, out: Layout) -> Kernel:
        """The kernel ``(stream, out, key, branch, position, *parameters)`` that writes random numbers.

        `out` is C-contiguous. Philox4x32-10 computes the words of element ``i`` from the 64-bit `key` and a counter.
        The counter holds `branch` and ``position + i // law.count(out.dtype)``, both modulo ``2**64``. Parameters are
        floats, or integers from 0 to ``2**64 - 1``. All engines give the same bits.
        """
