"""Plans of fused functions: the expression, and its kernels that reduce or that hold rows."""
