"""Runs the tests of clients on xpops. A client is a library that accepts any array namespace."""
