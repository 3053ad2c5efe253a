"""Malformed producers: each is refused in words, or read right; none is read beyond its memory or freed twice."""
