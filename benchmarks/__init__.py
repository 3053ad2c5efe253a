"""Side by side with torch, cupy and jax: ``python -m benchmarks``."""
