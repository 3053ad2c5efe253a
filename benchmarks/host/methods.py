"""The rows of operators, indexing, methods and properties of our own arrays."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.host.row import Row, row

# Methods and properties of `xpops.Array` without a row, and why.
EXCLUDED = {
    **dict.fromkeys(
        ("device", "dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides"), "reads what the array knows"
    ),
    "cuda": "as `to`",
    "detach": "returns the array itself",
    "fill": "as an assignment to all elements",
    "flat": "makes an iterator; its elements are those of indexing",
    "put": "as `xpops.numpy.put`",
    "tobytes": "as `to_numpy`",
}


def rows() -> Iterator[Row]:
    """Operators, keys, views, and methods."""
    for source in ("x + y", "x + 2.0", "2.0 - x", "x * y", "x / y", "x ** 2", "x < y", "x == y", "-x", "abs(x)"):
        yield row(source, source)
    for source in ("i & j", "~b", "x.T + y", "x + row", "x @ y", "operator.iadd(o, y)"):
        yield row(source, source)
    for key in ("3", "3, 5", "1:", "::2", "..., None", ":, 3", "index", ":, index", "b", "index, index"):
        yield row(f"x[{key}]", f"x[{key}]")
    for target in ("o[3]", "o[1:]", "o[:, 3]", "o[index]", "o[b]"):
        yield row(f"{target} = 1.0", f"{target} = 1.0")
    yield row("o[:] = x", "o[:] = x")
    yield row("o[index] = x", "o[index] = x")
    yield row("o[b] = chosen", "o[b] = chosen")
    yield from _views()
    yield from _methods()


def _views() -> Iterator[Row]:
    yield row("x.T", "x.T")
    yield row("x.mT", "x.mT")
    yield row("x.reshape(-1)", "x.reshape(-1)")
    yield row("x.transpose(1, 0)", "x.permute(1, 0)")
    yield row("x.squeeze()", "x.squeeze()")
    yield row("x.ravel()", "x.ravel()")
    yield row("x.swapaxes(0, 1)", "x.swapaxes(0, 1)")
    yield row("x.diagonal()", "x.diagonal()")
    yield row("x.view(xp.int32)", "x.view(torch.int32)")
    yield row("c.real", "c.real")
    yield row("c.imag", "c.imag")


def _methods() -> Iterator[Row]:
    for name in ("argmax", "argmin", "max", "mean", "min", "prod", "sum", "conj", "tolist"):
        operand = "vector" if name == "tolist" else "x"
        yield row(f"{operand}.{name}()", f"{operand}.{name}()")
    for name in ("all", "any"):
        yield row(f"b.{name}()", f"b.{name}()")
    for name in ("std", "var"):
        yield row(f"x.{name}()", f"x.{name}(correction=0)")
    yield row("x.sum(axis=1)", "x.sum(dim=1)")
    yield row("x.ptp()", "x.max() - x.min()")
    yield row("x.trace()", "x.trace()")
    yield row("x.cumsum(axis=1)", "x.cumsum(dim=1)")
    yield row("p.cumprod(axis=1)", "p.cumprod(dim=1)")
    yield row("x.round()", "x.round()")
    yield row("x.repeat(2, axis=0)", "x.repeat_interleave(2, dim=0)")
    yield row("vector.dot(vector)", "vector.dot(vector)")
    yield row("ordered.searchsorted(x)", "torch.searchsorted(ordered, x)")
    yield row("x.argsort()", "x.argsort(stable=True)")
    yield row("x.astype(xp.int32)", "x.to(torch.int32)")
    yield row("x.clip(-0.5, 0.5)", "x.clip(-0.5, 0.5)")
    yield row("x.copy()", "x.clone()")
    yield row("x.flatten()", "x.flatten().clone()")
    yield row("b.nonzero()", "b.nonzero(as_tuple=True)")
    yield row("x.take(index, axis=0)", "x.index_select(0, index)")
    yield row("x.to_device(device)", "x.to(device)")
    yield row("x.to(device)", "x.to(device)")
    yield row("x.cpu()", "x.cpu()")
    for name in ("get", "numpy", "to_numpy"):
        yield row(f"x.{name}()", "x.cpu().numpy()")
    yield row("scalar.item()", "scalar.item()")
    yield row("float(scalar)", "float(scalar)")
