"""Operators as data rows: one row declares an operator for the namespace, the kernels, NumPy and the tests."""
