"""Tests of clients that require something outside the standard, as patterns of ``module::test``. Reports list them."""

from __future__ import annotations

_TRUTH = "the test takes the truth of an array of shape (1,); the standard has it for 0-d arrays"
_MESSAGE = "the test wants the words of NumPy's error"
_DEVICES = "SciPy's fixture adds a list to devices(), which is a tuple since 2025.12"
_EDGES = "the test wants the edges of float32 bins as NumPy rounds them, an ulp off; SciPy leaves torch and cupy out"
_COUNTS = "the test draws counts beyond 32 bits, of which SciPy takes the low 32 bits"

_SCIPY = "Dask calls SciPy's triangular solver or Cholesky, which returns NumPy's arrays"
_GENERATORS = "the test makes Dask's generator of one of CuPy's"
_LISTS = "the test assigns a list to an array"

LEFT_OUT: dict[str, dict[str, str]] = {
    "array-api-extra": {
        "*test_at::test_incompatible_dtype*": "the test wants floats to be assigned to integers, which xpops refuses",
        "*test_set::TestNUnique::test_delegates*": "array-api-extra has a list of the libraries it delegates to",
        "*test_testing::test_lazy_xp_function_cython_ufuncs*": "the test calls a NumPy ufunc on the array",
    },
    "cubed": {
        "*[[]dask*": "Cubed's executor finds no workers with Dask 2026",
        "*::test_matmul_cloud*": "the test wants a cloud's storage",
    },
    "dask": {
        "*test_creation::test_arr_like*": "the test calls CuPy's randint, and asks for an order",
        "*test_cupy_core::test_asanyarray*": "the test wants an error where CuPy raises one",
        "*test_cupy_core::test_setitem_extended_API_2d[[]index8-*": _LISTS,
        "*test_cupy_core::test_setitem_extended_API_2d[[]index9-*": _LISTS,
        "*test_cupy_core::test_setitem_extended_API_2d[[]index11-*": _LISTS,
        "*test_cupy_core::test_setitem_extended_API_2d[[]index13-*": _LISTS,
        "*test_cupy_core::test_setitem_extended_API_2d_rhs*": _LISTS,
        "*test_cupy_core::test_view*": "the test views an array as another dtype",
        "*test_cupy_creation::test_diagonal": "Dask makes a diagonal outside a matrix with NumPy",
        "*test_cupy_linalg::test_cholesky*": _SCIPY,
        "*test_cupy_linalg::test_lstsq*": _SCIPY,
        "*test_cupy_percentile::test_percentiles_with_unknown_chunk_sizes*": _GENERATORS,
        "*test_cupy_random::test_random_shapes*": _GENERATORS,
        "*test_cupy_random::test_cupy_unsupported": "the test wants an error where CuPy raises one",
        "*test_cupy_random::test_random_all*": "the test draws from distributions that xpops lacks",
        "*test_cupy_routines::test_digitize[[]xpops.numpy[]]": "the test calls Array.sort",
    },
    "scipy": {
        "fixture devices": _DEVICES,
        "scipy.fft.tests.test_helper::*test_device*": _DEVICES,
        "scipy.differentiate*::TestDerivative::test_step_direction*": "the test adds booleans",
        "scipy.differentiate*::TestDerivative::test_initial_step*": "the test calls logspace, which is not standard",
        "scipy.optimize*::TestFindRoot::test_nit_expected*": _TRUTH,
        "scipy.special*::test_support_alternative_backends[[]*bdtr*-float*-shapes[123]-*": _COUNTS,
        "scipy.special*::test_support_alternative_backends[[]pdtri-float*-shapes[123]-*": _COUNTS,
        "scipy.ndimage*::TestVectorizedFilter::test_input_validation*": _MESSAGE,
        "scipy.stats*::TestChatterjeeXi::test_input_validation*": _MESSAGE,
        "scipy.stats*::TestCumfreq::test_against_reference*True-True-float32*": _EDGES,
        "scipy.stats*::TestRelfreq::test_against_reference*True-True-float32*": _EDGES,
        "scipy.stats*::TestDescribe::test_boolean_input*": "the test takes the minimum of booleans",
        "scipy.stats*::TestSpearmanRho::test_input_validation*": _MESSAGE,
    },
}
