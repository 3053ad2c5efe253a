"""Torch's operators, by name, as functions of xpops."""

from __future__ import annotations

import xpops as xp
from conformance.opinfo.signatures import (
    Call,
    along_axis,
    axis_of,
    concat,
    cross,
    diff,
    dispersion,
    eigvalsh,
    einsum,
    interpolate,
    matrix_norm,
    of_real,
    padding,
    pinv,
    quantile,
    reducing,
    scatter_reduce,
    solve,
    sort,
    take_along,
    tensordot,
    topk,
    transform,
    transform_of_axes,
    vector_norm,
    without_factor,
)


def _same(names: str, **others: str) -> dict[str, Call]:
    """Operators that are called as ours: those of our names, and theirs -> ours."""
    pairs = {**dict(zip(names.split(), names.split(), strict=True)), **others}
    return {theirs: getattr(xp, ours, None) or getattr(xp.nn, ours) for theirs, ours in pairs.items()}


CALLS: dict[str, Call] = {
    **_same(
        "abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor log log10 log1p log2 positive reciprocal "
        "sign sin sinh sqrt square tan tanh trunc real imag pow maximum minimum atan2 hypot copysign "
        "remainder matmul",
        neg="negative",
        sgn="sign",
        conj="conj",
        conj_physical="conj",
        mul="multiply",
        true_divide="divide",
        mm="matmul",
        bmm="matmul",
        mv="matmul",
        dot="matmul",
        mT="matrix_transpose",
    ),
    **_same("", **{"div:no_rounding_mode": "divide", "max:binary": "maximum", "min:binary": "minimum"}),
    "logaddexp": of_real(xp.logaddexp),
    "sigmoid": of_real(xp.nn.sigmoid),
    "add": without_factor(xp.add),
    "sub": without_factor(xp.subtract),
    "__rmatmul__": lambda x, y: xp.matmul(y, x),
    "round": lambda x: xp.round(x),
    "clamp": lambda x, min=None, max=None: xp.clip(x, min, max),
    "where": lambda x, condition, y: xp.where(condition, x, y),
    **{
        theirs: reducing(getattr(xp, ours))
        for theirs, ours in {
            **dict.fromkeys(("amax", "max:reduction_no_dim"), "max"),
            **dict.fromkeys(("amin", "min:reduction_no_dim"), "min"),
            **{name: name for name in ("sum", "prod", "mean", "nansum", "nanmean")},
        }.items()
    },
    **{f"{name}{kind}": dispersion(getattr(xp, name)) for name in ("std", "var") for kind in ("", ":unbiased")},
    "cumsum": along_axis(xp.cumulative_sum),
    "cumprod": along_axis(xp.cumulative_prod),
    "softmax": along_axis(xp.nn.softmax),
    "log_softmax": along_axis(xp.nn.log_softmax),
    "quantile": quantile,
    "cat": concat,
    "stack": lambda arrays, dim=0: xp.stack(list(arrays), axis=dim),
    "flip": lambda x, dims: xp.flip(x, axis=tuple(dims)),
    "roll": lambda x, shifts, dims=None: xp.roll(x, shifts, axis=None if dims == () else dims),
    "tile": lambda x, dims: xp.tile(x, tuple(dims)),
    "permute": lambda x, dims: xp.permute_dims(x, tuple(dims)),
    "reshape": lambda x, shape: xp.reshape(x, tuple(shape)),
    "unsqueeze": lambda x, dim: xp.expand_dims(x, axis=dim),
    "tril": lambda x, diagonal=0: xp.tril(x, k=diagonal),
    "triu": lambda x, diagonal=0: xp.triu(x, k=diagonal),
    "diff": diff,
    "broadcast_to": lambda x, shape: xp.broadcast_to(x, tuple(shape)),
    "unbind": lambda x, dim=0: xp.unstack(x, axis=dim),
    "movedim": xp.moveaxis,
    "repeat_interleave": lambda x, repeats, dim=None: xp.repeat(x, repeats, axis=dim),
    **{
        f"nn.functional.pad:{theirs}": padding(ours)
        for theirs, ours in {
            "constant": "constant",
            "reflect": "reflect",
            "replicate": "edge",
            "circular": "wrap",
        }.items()
    },
    "take_along_dim": take_along,
    "index_select": lambda x, dim, indices: xp.take(x, indices, axis=axis_of(x, dim)),
    "sort": sort,
    "topk": topk,
    "scatter_add": of_real(lambda x, dim, index, source: xp.nn.scatter_add(x, index, source, axis=axis_of(x, dim))),
    **{
        f"scatter_reduce:{theirs}": scatter_reduce(ours)
        for theirs, ours in {"amax": "max", "amin": "min", "mean": "mean", "prod": "prod", "sum": "sum"}.items()
    },
    "index_add": lambda x, dim, index, source, alpha=1: without_factor(
        lambda x, source: xp.nn.index_add(x, index, source, axis=dim)
    )(x, source, alpha),
    "outer": xp.linalg.outer,
    "tensordot": tensordot,
    "einsum": einsum,
    "trace": xp.linalg.trace,
    "linalg.cross": cross,
    "linalg.vecdot": lambda x, y, dim=-1: xp.vecdot(x, y, axis=dim),
    "linalg.inv": xp.linalg.inv,
    "linalg.det": xp.linalg.det,
    "linalg.slogdet": xp.linalg.slogdet,
    "linalg.matrix_power": xp.linalg.matrix_power,
    "linalg.solve": solve,
    "linalg.cholesky": lambda x, upper=False: xp.linalg.cholesky(x, upper=upper),
    "linalg.eigvalsh": eigvalsh,
    "linalg.svdvals": xp.linalg.svdvals,
    "linalg.pinv": pinv,
    "linalg.vector_norm": vector_norm,
    "linalg.matrix_norm": matrix_norm,
    **{f"fft.{name}": transform(getattr(xp.fft, name)) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{name}": transform_of_axes(getattr(xp.fft, name)) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    "fft.fftshift": lambda x, dim=None: xp.fft.fftshift(x, axes=dim),
    "fft.ifftshift": lambda x, dim=None: xp.fft.ifftshift(x, axes=dim),
    "nn.functional.relu": xp.nn.relu,
    "nn.functional.leaky_relu": lambda x, negative_slope=0.01: xp.nn.leaky_relu(x, negative_slope=negative_slope),
    "nn.functional.gelu": lambda x, approximate="none": xp.nn.gelu(x, approximate=approximate),
    "nn.functional.silu": xp.nn.silu,
    "nn.functional.softplus": lambda x, beta=1, threshold=20: xp.nn.softplus(x, beta=beta, threshold=threshold),
    "nn.functional.interpolate:nearest": interpolate,
    "nn.functional.upsample_nearest": interpolate,
}
