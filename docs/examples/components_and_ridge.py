"""Principal components and a ridge regression by scikit-learn, on arrays of xpops, on the GPU if there is one."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy reads it when it is imported, and scikit-learn asks for it

import numpy as np
import sklearn
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge

import xpops as xp


def fit(x, y, count):
    """The shares of the variance that the first components explain, and the coefficients of a ridge on them."""
    with sklearn.config_context(array_api_dispatch=True):
        components = PCA(count, svd_solver="full").fit(x)
        ridge = Ridge(alpha=1.0, solver="svd").fit(components.transform(x), y)
    return components.explained_variance_ratio_, ridge.coef_


def table():
    random = np.random.default_rng(3)
    factors = random.normal(size=(400, 3)) * [5.0, 3.0, 1.0]
    x = factors @ random.normal(size=(3, 12)) + 0.1 * random.normal(size=(400, 12))
    return x, factors @ [1.0, -2.0, 0.5]


if __name__ == "__main__":
    shares, coefficients = fit(*map(xp.asarray, table()), 3)
    print("variance", *(f"{each:.6f}" for each in shares.tolist()))
    print("coefficients", *(f"{abs(each):.6f}" for each in coefficients.tolist()))  # the signs of components are free
