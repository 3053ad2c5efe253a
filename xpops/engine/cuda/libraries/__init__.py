"""The primitives that NVIDIA's libraries compute: products, linear algebra, Fourier transforms."""
