"""Element-wise functions of the standard: the result of an element depends on the elements at its place only."""
