"""Everything that can be decided without looking at data. Pure functions to frozen values; no GPU."""
