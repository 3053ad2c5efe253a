"""Malformed producers: xpops must refuse each with a clear error, or read it correctly and free it once."""
