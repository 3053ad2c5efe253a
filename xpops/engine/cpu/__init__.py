"""The CPU engine: NumPy, mended where it deviates from the standard."""
