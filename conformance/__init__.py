"""What xpops is held to: the GPU suite's report, and the fingerprint of the code that it is about."""
