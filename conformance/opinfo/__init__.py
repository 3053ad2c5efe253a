"""Torch's own samples of its operators, run on the functions of xpops that compute the same."""
