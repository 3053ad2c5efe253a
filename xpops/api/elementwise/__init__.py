"""Element-wise functions of the standard: each element of the result depends on one element of each operand."""
