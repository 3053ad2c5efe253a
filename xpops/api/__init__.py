"""The public functions: one module for each chapter of the standard."""
