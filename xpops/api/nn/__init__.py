"""Operators beyond the standard, for arrays of any framework."""

from xpops.api.nn.counting import bincount
from xpops.api.nn.scans import discounted_cumsum
from xpops.api.nn.selection import topk
from xpops.api.nn.upsampling import upsample_nearest2d, upsample_nearest2d_backward

__all__ = ["bincount", "discounted_cumsum", "topk", "upsample_nearest2d", "upsample_nearest2d_backward"]
