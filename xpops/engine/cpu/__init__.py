"""The CPU engine: NumPy, with corrections where NumPy deviates from the array API standard."""
