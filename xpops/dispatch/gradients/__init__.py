"""Calls with gradients: derivatives of rows and plan functions, for frameworks that record what is called."""
