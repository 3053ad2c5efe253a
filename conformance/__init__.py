"""Commands that test xpops against the standard, other libraries and random programs, and write reports."""
