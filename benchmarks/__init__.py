"""Benchmarks against torch, cupy and jax: ``python -m benchmarks``."""
