"""Plans of signals: correlation, convolution, Fourier transforms."""
