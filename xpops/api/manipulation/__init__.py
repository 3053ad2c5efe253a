"""Manipulation functions of the standard: shapes and axes, joining, repetition, padding."""
