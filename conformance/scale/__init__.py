"""Measures reductions of data that are larger than a GPU's memory, and work on several GPUs."""
