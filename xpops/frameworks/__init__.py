"""One adapter for each framework: recognise, view, allocate, current stream. None imports a framework the caller did
not.
"""
