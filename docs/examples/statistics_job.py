"""A job of statistics: SciPy's tests and distributions on arrays of xpops, on the GPU if there is one."""

import os

os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy reads it when it is imported

import numpy as np
from scipy import stats

import xpops as xp


def compare(treated, control):
    """Welch's test of two samples, the skewness of one, and their correlation. All on the samples' device."""
    welch = stats.ttest_ind(treated, control, equal_var=False)
    return {
        "p-value": welch.pvalue,
        "skewness": stats.skew(treated),
        "correlation": stats.pearsonr(treated, control).statistic,
    }


def samples():
    random = np.random.default_rng(7)
    control = random.normal(10.0, 2.0, 2000)
    return control + random.gamma(2.0, 0.1, 2000), control


if __name__ == "__main__":
    for name, value in compare(*map(xp.asarray, samples())).items():
        print(f"{name} {float(value):.6f}")
