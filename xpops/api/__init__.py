"""The public functions: one module or folder for each chapter of the standard, and the extensions."""
