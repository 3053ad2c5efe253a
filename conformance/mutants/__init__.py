"""Mutation tests: changes one line of `xpops/` or `native/` at a time, and runs the tests that should notice it."""
