"""Tests of clients on xpops, for clients whose own tests cannot use another namespace."""
