"""The logarithm of a sum of exponentials along the rows, without overflow. Rows that fit a block are read once."""

import xpops as xp


@xp.fuse
def log_sum_exp(x):
    largest = xp.max(x, axis=-1, keepdims=True)
    return xp.log(xp.sum(xp.exp(x - largest), axis=-1, keepdims=True)) + largest


if __name__ == "__main__":
    print(log_sum_exp(xp.asarray([[1000.0, 1000.0], [0.0, -1000.0]])))
