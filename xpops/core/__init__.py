"""Layouts, dtypes, devices, errors and configuration. Imports nothing else of the package."""
