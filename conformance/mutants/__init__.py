"""Mutants: one-line changes of `xpops/` and `native/`, and whether a test notices them."""
