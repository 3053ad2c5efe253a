"""Libraries that take any array namespace, and how their own tests are run on xpops."""
