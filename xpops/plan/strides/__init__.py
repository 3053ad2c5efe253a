"""Arithmetic of shapes and strides: views, broadcasting, merged axes, overlaps, and divisors as multiplications."""
