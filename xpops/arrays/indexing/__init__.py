"""Indexing by arrays: ``x[key]`` and ``x[key] = value``, for keys with arrays of integers or masks."""
