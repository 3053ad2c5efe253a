"""The entry of every kernel of ours: its text, and what launches know of it."""

from __future__ import annotations

ENTRY = "xpops_kernel"
# The first statement of an entry. A kernel with it may be launched before the one before it on its stream has ended.
AWAIT = "xpops::await_kernels();"
# The least compute capability of GPUs that launch kernels so.
OVERLAPS = 90
# A cluster of more blocks needs the leave of a kernel, and a GPU that has such clusters.
PORTABLE = 8


def kernel_text(bounds: str, params: str, call: str) -> str:
    """The text of a kernel that calls ``call(params)``, after the kernels before it on its stream have ended.

    Parameters
    ----------
    bounds : str
        Its attributes, from `launch_bounds`.
    params : str
        The C++ type of its parameters.
    call : str
        An instance of a template of a device function.
    """
    return (
        f'extern "C" __global__ void {bounds}\n'
        f"{ENTRY}(const __grid_constant__ {params} params) {{\n"
        f"  {AWAIT}\n"
        f"  {call}(params);\n"
        "}\n"
    )


def launch_bounds(block: int, resident: int = 0, cluster: int = 1) -> str:
    """The attributes of a kernel: threads of a block, blocks that must be resident on a multiprocessor, blocks of a
    cluster.
    """
    attributes = f"__launch_bounds__({block}, {resident})" if resident else f"__launch_bounds__({block})"
    return f"{attributes} __cluster_dims__({cluster}, 1, 1)" if cluster > 1 else attributes
