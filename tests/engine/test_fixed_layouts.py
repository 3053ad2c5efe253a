"""Fixed views, in addition to random ones, against plain NumPy on every device: cropped, mirrored, interleaved axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from tests.helpers.layouts import CUTS, base_of, cut_of
from tests.helpers.rows import COMPUTED, function_of, ordinary_values
from xpops.core import dtypes as dt
from xpops.ops.operator import Operator

# Calls of a view and a dense array of the same shape. Elements are small integers, so that every result is exact.
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda ns, x, y: ns.add(x, y),
    "negative": lambda ns, x, y: ns.negative(x),
    "cast": lambda ns, x, y: ns.astype(x, ns.float64),
    "flat": lambda ns, x, y: ns.reshape(x, (-1,)),
    "halves": lambda ns, x, y: ns.reshape(x, (2, -1)) if x.size % 2 == 0 else x,
    "sum of rows": lambda ns, x, y: ns.sum(x, axis=-1),
    "sum of columns": lambda ns, x, y: ns.sum(x, axis=0),
    "scan of rows": lambda ns, x, y: ns.cumulative_sum(x, axis=x.ndim - 1),
    "scan of columns": lambda ns, x, y: ns.cumulative_sum(x, axis=0),
    "sort": lambda ns, x, y: ns.sort(x, axis=-1),
    "take": lambda ns, x, y: x[..., :: max(x.shape[-1] - 1, 1)],
    "concat": lambda ns, x, y: ns.concat([x, y], axis=0),
    "copy": lambda ns, x, y: x.copy(),
}


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("dtype", [dt.int8, dt.float32, dt.float64], ids=str)
def test_every_call(dtype: Any, name: str, device: Any) -> None:
    host, base = cut_of(name, dtype), xp.asarray(base_of(name, dtype), device=device)
    x = CUTS[name].of(xp, base)
    np.testing.assert_array_equal(x.to_numpy(), host)
    y = np.ascontiguousarray(host)
    for call, function in CALLS.items():
        got, wanted = function(xp, x, xp.asarray(y, device=device)), function(np, host, y)
        np.testing.assert_array_equal(got.to_numpy(), wanted, err_msg=call)


@pytest.mark.parametrize("name", CUTS)
def test_written_in_place(name: str, device: Any) -> None:
    """Only the view's elements change."""
    cut = CUTS[name]
    base = np.arange(int(np.prod(cut.base)), dtype=np.float32).reshape(cut.base)
    x = xp.asarray(base, device=device, copy=True)
    view, wanted = cut.of(xp, x), base.copy()
    xp.multiply(view, -2.0, out=view)
    part = cut.of(np, wanted)
    part *= -2.0
    np.testing.assert_array_equal(x.to_numpy(), wanted)


# Views of an operand, by its place.
VIEWS: dict[str, Callable[[Any, int], Any]] = {
    "cropped": lambda x, place: x[:, 3:],
    "mirrored": lambda x, place: x[:, ::-1],
    "steps": lambda x, place: x[::3, ::-2],
    "transposed": lambda x, place: x.T,
    "transposed and not": lambda x, place: x[:, :40] if place else x[:, :40].T,
    "broadcast": lambda x, place: x[:1] if place else x,
    "0-d": lambda x, place: x[3, 5],
    "empty": lambda x, place: x[:0],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("op", COMPUTED, ids=str)
def test_every_operator(op: Operator, view: str, device: Any) -> None:
    dtype = next(each for each in (dt.float32, dt.int32, dt.bool) if each in dt.CATEGORIES[op.accepts])
    hosts, call = ordinary_values(op, dtype, (40, 64)), function_of(op)
    views = [VIEWS[view](xp.asarray(host, device=device), place) for place, host in enumerate(hosts)]
    copies = [np.array(VIEWS[view](host, place), order="C") for place, host in enumerate(hosts)]
    wanted = call(*(xp.asarray(host, device=device) for host in copies)).to_numpy()
    np.testing.assert_allclose(call(*views).to_numpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(xp.fuse(call)(*views).to_numpy(), wanted, rtol=1e-5)
    base = xp.ones((*wanted.shape, 3), dtype=wanted.dtype, device=device)
    call(*views, out=base[..., 1])
    kept = np.ones_like(wanted)
    np.testing.assert_allclose(base.to_numpy(), np.stack([kept, wanted, kept], -1), rtol=1e-5)
