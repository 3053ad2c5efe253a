"""Fused functions: traced values record a Python function, and the recording becomes kernels."""
