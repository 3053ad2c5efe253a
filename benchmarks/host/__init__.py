"""The host's time of small calls on arrays of every framework, and the CPU's time of large ones."""
