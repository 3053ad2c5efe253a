"""GELU by its tanh formula, in one kernel: `xp.nn.gelu` has it ready, this is how one writes one's own."""

import xpops as xp


@xp.fuse
def gelu(x):
    return 0.5 * x * (1 + xp.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


if __name__ == "__main__":
    print(gelu(xp.asarray([-1.0, 0.0, 1.0])))
