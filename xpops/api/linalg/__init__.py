"""Linear algebra, for arrays of any framework."""

from xpops.api.linalg.decompositions import cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from xpops.api.linalg.norms import matrix_norm, vector_norm
from xpops.api.linalg.products import cross, diagonal, matrix_power, outer, trace
from xpops.api.linalg.solutions import det, inv, matrix_rank, pinv, slogdet, solve
from xpops.api.linear_algebra import matmul, tensordot, vecdot
from xpops.api.manipulation.axes import matrix_transpose
from xpops.core.errors import LinAlgError

__all__ = [
    "LinAlgError",
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
