"""The rows of `xpops.linalg`, `xpops.fft`, `xpops.nn` and `xpops.random`."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.host.row import Row, row

# Functions without a row, and why.
EXCLUDED = {
    "nn.discounted_cumsum": "no other library has it",
    "random.Generator.choice": "no other library's call is like it",
    "random.Generator.dropout_mask": "no other library has it",
    "random.Generator.shuffle": "no other library's call is like it",
    "random.Generator.spawn": "makes generators, not arrays",
    "random.Generator.state": "reads a setting",
}


def rows() -> Iterator[Row]:
    """All four namespaces."""
    yield from _linalg()
    yield from _fft()
    yield from _activations()
    yield from _nn()
    yield from _random()


def _linalg() -> Iterator[Row]:
    for name in ("det", "eig", "eigvals", "inv", "matrix_norm", "matrix_rank", "pinv", "qr", "slogdet", "svdvals"):
        yield row(f"xp.linalg.{name}(a)")
    yield row("xp.linalg.cholesky(h)")
    yield row("xp.linalg.eigh(h)")
    yield row("xp.linalg.eigvalsh(h)")
    yield row("xp.linalg.matrix_power(a, 3)")
    yield row("xp.linalg.solve(a, h)")
    yield row("xp.linalg.svd(a)")
    yield row("xp.linalg.cross(triples, triples)")
    yield row("xp.linalg.diagonal(x)", "torch.diagonal(x)", "np.diagonal(x)")
    yield row("xp.linalg.trace(x)", "torch.trace(x)", "np.trace(x)")
    yield row("xp.linalg.outer(vector, vector)", "torch.outer(vector, vector)", "np.outer(vector, vector)")
    yield row("xp.linalg.vector_norm(x)")
    yield row("xp.linalg.vector_norm(x, axis=1)", "torch.linalg.vector_norm(x, dim=1)")
    yield row("xp.linalg.matmul(x, y)", numpy="np.matmul(x, y)")
    yield row("xp.linalg.matrix_transpose(x)", "x.mT", "np.swapaxes(x, -1, -2)")
    yield row("xp.linalg.tensordot(x, y, axes=1)", "torch.tensordot(x, y, dims=1)", "np.tensordot(x, y, axes=1)")
    yield row("xp.linalg.vecdot(x, y)")


def _fft() -> Iterator[Row]:
    for name in ("fft", "ifft", "hfft", "irfft", "fftn", "ifftn", "irfftn"):
        yield row(f"xp.fft.{name}(signal)")
    for name in ("rfft", "rfftn", "ihfft"):
        yield row(f"xp.fft.{name}(single)")
    yield row("xp.fft.fftshift(x)")
    yield row("xp.fft.ifftshift(x)")
    yield row("xp.fft.fftfreq(n * n, device=device)")
    yield row("xp.fft.rfftfreq(n * n, device=device)")


def _activations() -> Iterator[Row]:
    functional = "torch.nn.functional."
    for name in ("gelu", "leaky_relu", "relu", "silu", "softplus"):
        yield row(f"xp.nn.{name}(x)", f"{functional}{name}(x)", "", jax=f"jax.nn.{name}(x)")
    yield row("xp.nn.sigmoid(x)", "torch.sigmoid(x)", "", jax="jax.nn.sigmoid(x)")
    for name in ("softmax", "log_softmax"):
        yield row(f"xp.nn.{name}(x)", f"{functional}{name}(x, dim=-1)", "", jax=f"jax.nn.{name}(x)")


def _nn() -> Iterator[Row]:
    yield row("xp.nn.bincount(ints)", "torch.bincount(ints)", "np.bincount(ints)")
    yield row(
        "xp.nn.histogram(line, 10, (-3.0, 3.0))",
        "torch.histc(line, 10, -3.0, 3.0)",
        "np.histogram(line, 10, (-3.0, 3.0))",
    )
    yield row("xp.nn.scatter_add(x, places, y)", "torch.scatter_add(x, 0, places, y)", "")
    yield row('xp.nn.scatter_reduce(x, places, y, "max")', 'torch.scatter_reduce(x, 0, places, y, "amax")', "")
    yield row("xp.nn.index_add(x, index, y)", "torch.index_add(x, 0, index, y)", "", jax="x.at[index].add(y)")
    yield row(
        "xp.nn.embedding_backward(y, index, n)",
        "torch.ops.aten.embedding_dense_backward(y, index, n, -1, False)",
        "",
    )
    yield row("xp.nn.topk(x, 5)", "torch.topk(x, 5)", "", jax="jax.lax.top_k(x, 5)")
    yield row(
        "xp.nn.upsample_nearest2d(image, scale=2)", "torch.nn.functional.interpolate(image, scale_factor=2.0)", ""
    )
    yield row(
        "xp.nn.upsample_nearest2d_backward(image, (m // 2, m // 2))",
        "torch.ops.aten.upsample_nearest2d_backward(image, (m, m), (1, 4, m // 2, m // 2))",
        "",
    )


def _random() -> Iterator[Row]:
    options = "device=device"
    yield row(f"generator.uniform(size=(n, n), dtype=dtype, {options})", f"torch.rand((n, n), dtype=dtype, {options})")
    yield row(f"generator.normal(size=(n, n), dtype=dtype, {options})", f"torch.randn((n, n), dtype=dtype, {options})")
    yield row(
        f"generator.exponential(size=(n, n), dtype=dtype, {options})",
        f"torch.empty((n, n), dtype=dtype, {options}).exponential_()",
    )
    yield row(f"generator.integers(0, 100, (n, n), {options})", f"torch.randint(0, 100, (n, n), {options})")
    yield row(
        f"generator.bernoulli(0.5, (n, n), {options})",
        f"torch.empty((n, n), dtype=torch.bool, {options}).bernoulli_(0.5)",
    )
    yield row(f"generator.permutation(n * n, {options})", f"torch.randperm(n * n, {options})")
