"""An Adam step in place: one kernel reads four arrays and writes three of them. It needs a GPU."""

from importlib.util import find_spec

import xpops as xp

_step = xp.kernel.ElementwiseKernel(
    "T grad, U rate, U decay, U decay_of_squares, U root, U small",
    "T param, U mean, U square",
    """
    mean += decay * (grad - mean);
    square += decay_of_squares * (grad * grad - square);
    param -= rate * mean / (sqrt(square) * root + small);
    """,
    "adam",
)


def adam(param, grad, mean, square, step, rate=1e-3, betas=(0.9, 0.999), small=1e-8):
    """Step number `step`, counted from 1. Parameters may be narrower than their moments; `grad` is of their dtype."""
    first, second = (1 - beta**step for beta in betas)
    _step(grad, rate / first, 1 - betas[0], 1 - betas[1], second**-0.5, small, param, mean, square)


if __name__ == "__main__":
    if find_spec("torch") is None or xp.default_device().type == "cpu":
        print("this example needs torch and a GPU")
    else:
        import torch

        weight = torch.nn.Parameter(torch.ones(4, device="cuda"))
        mean, square = torch.zeros_like(weight), torch.zeros_like(weight)
        for step in range(1, 101):
            grad = 2 * (weight.detach() - 0.25)  # of ((weight - 0.25) ** 2).sum()
            adam(weight.detach(), grad, mean, square, step, rate=0.02)
        print(weight.tolist())  # its memory was written
