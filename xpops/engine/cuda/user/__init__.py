"""User-defined kernels."""
