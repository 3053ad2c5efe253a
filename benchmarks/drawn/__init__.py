"""``python -m benchmarks --drawn SEED``: calls drawn at random, timed beside torch and cupy, with the floor of each."""
