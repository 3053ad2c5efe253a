"""Plans of signals: correlation and convolution."""
