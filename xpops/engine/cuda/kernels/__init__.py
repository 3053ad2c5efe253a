"""The families of our own kernels: plan, glue, kernel, launcher."""
