"""Tests of clients on xpops, where the clients' own cannot be told which namespace to take."""
