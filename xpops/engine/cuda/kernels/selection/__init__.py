"""Results whose sizes depend on data: the selected elements, rows and indices, on CUDA."""
