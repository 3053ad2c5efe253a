"""Functions for neural networks, beyond the standard, for arrays of any framework."""

from xpops.api.nn.activation import gelu, leaky_relu, relu, sigmoid, silu, softplus
from xpops.api.nn.counting import bincount
from xpops.api.nn.histograms import histogram
from xpops.api.nn.scans import discounted_cumsum
from xpops.api.nn.scattering import embedding_backward, index_add, scatter_add, scatter_reduce
from xpops.api.nn.selection import topk
from xpops.api.nn.softmax import log_softmax, softmax
from xpops.api.nn.upsampling import upsample_nearest2d, upsample_nearest2d_backward

__all__ = [
    "bincount",
    "discounted_cumsum",
    "embedding_backward",
    "gelu",
    "histogram",
    "index_add",
    "leaky_relu",
    "log_softmax",
    "relu",
    "scatter_add",
    "scatter_reduce",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "topk",
    "upsample_nearest2d",
    "upsample_nearest2d_backward",
]
