"""A PyTorch extension that nvcc builds on the headers of xpops. Needs a GPU, a CUDA toolkit, torch and ninja.

The same kernel without a build: `xp.kernel.RawKernel` compiles it when it is called first.
"""

from pathlib import Path

import torch
from torch.utils.cpp_extension import load

import xpops as xp

FOLDER = Path(__file__).parent


def build():
    """Compile the extension, or load it if neither its sources nor its options have changed."""
    return load(
        name="xpops_example_matmul",
        sources=[str(FOLDER / "matmul.cu")],
        extra_include_paths=[xp.get_include()],
    )


if __name__ == "__main__":
    matmul = build().matmul
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        x = torch.randint(-3, 4, (8, 4, 128, 32), device="cuda").to(dtype)
        y = torch.randint(-3, 4, (8, 4, 32, 100), device="cuda").to(dtype)
        found, turned = matmul(x, y), matmul(y.mT, x.mT).mT
        wanted = (x.double() @ y.double()).to(dtype)
        print(dtype, "equal" if torch.equal(found, wanted) and torch.equal(turned, wanted) else "different")
