"""The rows of functions of `xpops` that are not elementwise."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.host.row import Row, row

# Functions of `xpops` without a row, and why.
EXCLUDED = {
    "__array_namespace_info__": "no other library's call is like it",
    "allow_host_copies": "a context, not a call",
    "fuse": "makes functions: the row `fused(x, y)` calls one",
    "graph": "makes functions: the row `recorded(x, y)` calls one",
    "get_include": "a path of headers",
    "set_default_device": "a setting of the process",
    "stream": "a context, not a call",
}


def rows() -> Iterator[Row]:
    """Reductions, searches, manipulation, products, and creation."""
    yield from _reductions()
    yield from _without_nan()
    yield from _searches()
    yield from _sets()
    yield from _shapes()
    yield from _moves()
    yield from _products()
    yield from _creation()
    yield from _data_types()


def _reductions() -> Iterator[Row]:
    for name in ("all", "any"):
        yield row(f"xp.{name}(b)")
        yield row(f"xp.{name}(b, axis=1)", f"torch.{name}(b, dim=1)")
    for name in ("argmax", "argmin", "mean", "prod", "sum"):
        yield row(f"xp.{name}(x)")
        yield row(f"xp.{name}(x, axis=1)", f"torch.{name}(x, dim=1)")
    for name in ("max", "min"):
        yield row(f"xp.{name}(x)")
        yield row(f"xp.{name}(x, axis=0)", f"torch.a{name}(x, dim=0)")
    for name in ("std", "var"):
        yield row(f"xp.{name}(x)", f"torch.{name}(x, correction=0)")
        yield row(f"xp.{name}(x, axis=1)", f"torch.{name}(x, dim=1, correction=0)")
    yield row("xp.count_nonzero(b)")
    yield row("xp.median(x)")
    yield row("xp.median(x, axis=1)", "torch.median(x, dim=1).values")
    yield row("xp.quantile(x, 0.3, axis=1)", "torch.quantile(x, 0.3, dim=1)")
    yield row("xp.cumulative_sum(x, axis=1)", "torch.cumsum(x, 1)", "np.cumsum(x, axis=1)")
    yield row("xp.cumulative_sum(x, axis=0)", "torch.cumsum(x, 0)", "np.cumsum(x, axis=0)")
    yield row("xp.cumulative_prod(x, axis=1)", "torch.cumprod(x, 1)", "np.cumprod(x, axis=1)")
    yield row("xp.diff(x)")


def _without_nan() -> Iterator[Row]:
    """Functions that leave out NaN. Torch has a few of them."""
    theirs = {"nanmean": "torch.nanmean(x)", "nanmedian": "torch.nanmedian(x)", "nansum": "torch.nansum(x)"}
    for name in ("nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin"):
        yield row(f"xp.{name}(x)", theirs.get(name, ""))
    for name in ("nanprod", "nanstd", "nansum", "nanvar"):
        yield row(f"xp.{name}(x)", theirs.get(name, ""))


def _searches() -> Iterator[Row]:
    yield row("xp.sort(x)")
    yield row("xp.argsort(x)", "torch.argsort(x, stable=True)", "np.argsort(x, stable=True)", "np.argsort(x)")
    yield row("xp.nonzero(b)", "torch.nonzero(b, as_tuple=True)")
    yield row("xp.searchsorted(ordered, line)")
    yield row("xp.take(x, index, axis=0)", "torch.index_select(x, 0, index)")
    yield row("xp.take_along_axis(x, places, axis=1)", "torch.take_along_dim(x, places, 1)")


def _sets() -> Iterator[Row]:
    yield row("xp.isin(i, index)")
    yield row("xp.unique_all(ints)", "", "np.unique(ints, True, True, True)")
    yield row("xp.unique_counts(ints)", "torch.unique(ints, return_counts=True)", "np.unique(ints, return_counts=True)")
    yield row(
        "xp.unique_inverse(ints)", "torch.unique(ints, return_inverse=True)", "np.unique(ints, return_inverse=True)"
    )
    yield row("xp.unique_values(ints)", "torch.unique(ints)", "np.unique(ints)")
    yield row("xp.unique_values(line)", "torch.unique(line)", "np.unique(line)")


def _shapes() -> Iterator[Row]:
    """Functions whose results are views, in most libraries."""
    yield row("xp.broadcast_arrays(x, row)", "torch.broadcast_tensors(x, row)")
    yield row("xp.broadcast_shapes((n, 1), (n,))")
    yield row("xp.broadcast_to(row, (n, n))")
    yield row("xp.expand_dims(x, axis=0)", "torch.unsqueeze(x, 0)")
    yield row("xp.matrix_transpose(x)", "x.mT", "np.swapaxes(x, -1, -2)")
    yield row('xp.meshgrid(vector, vector, indexing="ij")')
    yield row("xp.moveaxis(x, 0, 1)")
    yield row("xp.permute_dims(x, (1, 0))", "torch.permute(x, (1, 0))", "np.transpose(x, (1, 0))")
    yield row("xp.reshape(x, (-1,))")
    yield row("xp.squeeze(single, axis=0)", "torch.squeeze(single, 0)")
    yield row("xp.unstack(x)", "torch.unbind(x)", "np.unstack(x)", "")


def _moves() -> Iterator[Row]:
    yield row("xp.concat([x, y], axis=0)", "torch.cat([x, y], 0)", "np.concatenate([x, y], axis=0)")
    yield row("xp.concat([x, y], axis=1)", "torch.cat([x, y], 1)", "np.concatenate([x, y], axis=1)")
    yield row("xp.stack([x, y], axis=0)", "torch.stack([x, y], 0)")
    yield row("xp.flip(x, axis=0)", "torch.flip(x, (0,))")
    yield row("xp.pad(x, 1)", "torch.nn.functional.pad(x, (1, 1, 1, 1))")
    yield row("xp.repeat(x, 2, axis=0)", "torch.repeat_interleave(x, 2, dim=0)")
    yield row("xp.roll(x, 3, axis=0)", "torch.roll(x, 3, 0)")
    yield row("xp.tile(x, (2, 1))")
    yield row("xp.tril(x)")
    yield row("xp.triu(x)")


def _products() -> Iterator[Row]:
    yield row("xp.matmul(x, y)")
    yield row("xp.matmul(x, vector)")
    yield row("xp.vecdot(x, y)", "torch.linalg.vecdot(x, y)")
    yield row("xp.tensordot(x, y, axes=1)", "torch.tensordot(x, y, dims=1)")
    yield row('xp.einsum("ij,kj->ik", x, y)')
    yield row("fused(x, y)", "x * y + x")
    yield row("recorded(x, y)", "x * y + x")


def _creation() -> Iterator[Row]:
    options = "dtype=dtype, device=device"
    yield row(f"xp.arange(n * n, {options})")
    yield row(f"xp.empty((n, n), {options})")
    yield row(f"xp.eye(n, {options})")
    yield row(f"xp.full((n, n), 2.5, {options})")
    yield row(f"xp.linspace(0.0, 1.0, n * n, {options})")
    yield row(f"xp.ones((n, n), {options})")
    yield row(f"xp.zeros((n, n), {options})")
    for name in ("empty_like", "ones_like", "zeros_like"):
        yield row(f"xp.{name}(x)")
    yield row("xp.full_like(x, 2.5)")
    yield row("xp.asarray([1.0, 2.0, 3.0], device=device)")
    yield row("xp.asarray(x)")
    yield row("xp.from_dlpack(x)", jax="jax.dlpack.from_dlpack(x)")


def _data_types() -> Iterator[Row]:
    yield row("xp.astype(x, xp.int32)", "x.to(torch.int32)", "x.astype(np.int32)")
    yield row("xp.can_cast(xp.int32, xp.float32)")
    yield row("xp.default_device()", "torch.get_default_device()")
    yield row("xp.finfo(xp.float32)")
    yield row("xp.iinfo(xp.int32)")
    yield row('xp.isdtype(xp.float32, "real floating")', "torch.float32.is_floating_point")
    yield row("xp.result_type(x, y)")
