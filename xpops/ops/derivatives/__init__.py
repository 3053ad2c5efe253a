"""The derivatives of functions, as expressions of other functions.

A derivative is a function of a namespace `xp` and of the facts that it names as its parameters:

- ``g``: the cotangent of the result; a tuple of them if there are several results,
- ``y``: the result, or a tuple of results,
- an operand, by its public name, and ``x_shape`` and ``x_dtype`` for the shape and the dtype of an operand ``x``,
- a parameter of the plan function, by its name there.

Only what some derivative names is kept for the backward pass. For complex numbers a derivative is the conjugate
Wirtinger derivative, as torch defines it: that of a holomorphic f is ``g * conj(f'(x))``. The cotangent that a
derivative returns may be broader than the operand, of a wider dtype, or complex for a real operand: the caller sums,
rounds and takes the real part. A number stands for a cotangent that is the same everywhere.
"""
