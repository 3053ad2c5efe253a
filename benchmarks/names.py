"""Elementwise functions whose names in torch, or in NumPy and cupy, differ from ours."""

TORCH = {
    "bitwise_invert": "bitwise_not",
    "conj": "conj_physical",  # `conj` sets a bit and computes nothing
    "equal": "eq",
    "not_equal": "ne",
}
NUMPY = {
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atan2": "arctan2",
    "atanh": "arctanh",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "pow": "power",
}
