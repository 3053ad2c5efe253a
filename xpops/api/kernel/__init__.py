"""User-defined operators and kernels, for arrays of any framework on a GPU."""

from xpops.api.kernel.configurations import broadcast_config, fast_divmod, index_calculator
from xpops.api.kernel.elementwise import ElementwiseKernel
from xpops.api.kernel.functor import functor
from xpops.api.kernel.raw import RawKernel, RawModule
from xpops.api.kernel.reduction import ReductionKernel
from xpops.api.kernel.scan import ScanKernel

__all__ = [
    "ElementwiseKernel",
    "RawKernel",
    "RawModule",
    "ReductionKernel",
    "ScanKernel",
    "broadcast_config",
    "fast_divmod",
    "functor",
    "index_calculator",
]
