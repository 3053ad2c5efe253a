"""Every differentiable function under every transform of torch and JAX."""
