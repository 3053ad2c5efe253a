"""Manipulation functions of the standard (shapes, axes, joining, repetition), and padding."""
