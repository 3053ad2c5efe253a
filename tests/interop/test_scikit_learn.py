"""Metrics of scikit-learn of arrays of ours equal those of NumPy's.

A program of its own computes them, because SciPy reads ``SCIPY_ARRAY_API`` when it is imported. What a GPU refuses,
such as implicit copies to the host, is an error on the CPU, too. Sums of the weights are exact: scikit-learn requires
that running sums of positive weights never decrease, and sums in parallel may do so by their last bit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sklearn", minversion="1.9")

METRICS = ("roc_auc_score", "roc_curve", "precision_recall_curve", "average_precision_score", "det_curve")
PROGRAM = """
import json, sys
import numpy as np, pytest, sklearn, xpops as xp
from sklearn import metrics
from tests.helpers.host_arrays import refuse_host_arrays

random = np.random.default_rng(5)
truth, weights = (random.random(500) < 0.4).astype(np.int64), random.integers(1, 64, 500) / 64
cases = [(random.random(500), None), (random.random(500).round(2), None), (random.random(500).round(2), weights)]

def parts(result):
    return [each.to_numpy() if isinstance(each, xp.Array) else np.asarray(each)
            for each in (result if isinstance(result, tuple) else (result,))]

def given(x):
    return None if x is None else xp.asarray(x, device=sys.argv[1])

found = {}
for name in json.loads(sys.argv[2]):
    metric, same = getattr(metrics, name), []
    for scores, weight in cases:
        wanted = parts(metric(truth, scores, sample_weight=weight))
        for _ in range(2):
            with sklearn.config_context(array_api_dispatch=True), pytest.MonkeyPatch.context() as patch:
                operands = given(truth), given(scores), given(weight)
                refuse_host_arrays(patch)
                result = metric(*operands[:2], sample_weight=operands[2])
            pairs = list(zip(parts(result), wanted, strict=True))
            same.append(all(a.shape == b.shape and np.allclose(a, b, rtol=1e-12, atol=0) for a, b in pairs))
    found[name] = same
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def results() -> Any:
    """Whether each call's results are NumPy's, by device."""
    found: dict[str, dict[str, list[bool]]] = {}

    def of(device: str) -> dict[str, list[bool]]:
        if device not in found:
            paths = [str(Path(__file__).parents[2]), *filter(None, sys.path)]
            variables = {"SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join(paths)}
            command = [sys.executable, "-W", "ignore", "-c", PROGRAM, device, json.dumps(METRICS)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **variables})
            assert done.returncode == 0, done.stderr
            found[device] = json.loads(done.stdout)
        return found[device]

    return of


@pytest.mark.parametrize("name", METRICS)
def test_metrics(name: str, results: Any, device: Any) -> None:
    assert results(str(device))[name] == [True] * 6
