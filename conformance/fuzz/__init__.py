"""Programs of calls drawn at random, each result compared with NumPy's in higher precision."""
