"""Blocks in which a copy, or a wait for the GPU, is an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from xpops.core import guards
from xpops.dispatch.steady import forget_views


@contextmanager
def assert_no_copies() -> Iterator[None]:
    """A block in which xpops must copy no array: it raises AssertionError at the call that would.

    Counted are

    - copies between the host and a GPU: ``to_numpy``, ``item``, ``to_device``, `asarray` of data on the host;
    - `asarray` and `from_dlpack` that return other memory than they got: another dtype or device, ``copy=True``, memory
      that no layout describes;
    - `reshape` of strides that cannot show the new shape, and every other function of views whose result is no view,
      such as `flip` of torch's tensors. JAX copies where other frameworks make views;
    - operands that are copied before use: torch's lazy conjugates and negatives;
    - results that JAX takes only as a copy, and copies for another library's `from_dlpack`.

    Results of operators do not count as copies. ``x.copy()`` and `astype` on the same device count as operators. The
    block holds for calls of this thread or task.

    Examples
    --------
    >>> from xpops.testing import assert_no_copies
    >>> x = xp.zeros((2, 3))
    >>> with assert_no_copies():
    ...     y = xp.reshape(x, (3, 2))
    >>> with assert_no_copies():
    ...     y = xp.reshape(x.T, (6,))
    Traceback (most recent call last):
    AssertionError: reshape: an array of shape (3, 2) and strides (1, 3) is copied
    """
    forget_views()  # remembered views of other frameworks are not looked at
    with guards.copies.forbid():
        yield


@contextmanager
def assert_no_sync() -> Iterator[None]:
    """A block in which xpops must not wait for the GPU: it raises AssertionError at the call that would.

    Counted are reads of elements on the host (``to_numpy``, ``item``, ``bool(x)``, ``tolist``, ``to_device``), copies
    from the host, results whose size depends on data (`nonzero`, ``x[mask]``, `unique_values`), verdicts of
    decompositions (such as whether a matrix is singular), and memory that is handed back because the GPU is full.

    On the CPU nothing waits, but reads of elements and results whose size depends on data raise as on a GPU. So a test
    finds these without a GPU. The block holds for calls of this thread or task. What other libraries wait for does not
    count.

    Examples
    --------
    >>> from xpops.testing import assert_no_sync
    >>> x = xp.asarray([3.0, 4.0])
    >>> with assert_no_sync():
    ...     y = xp.sum(x * x)
    >>> with assert_no_sync():
    ...     y = float(xp.sum(x * x))
    Traceback (most recent call last):
    AssertionError: an array of shape () is read on the host
    """
    with guards.waits.forbid():
        yield
