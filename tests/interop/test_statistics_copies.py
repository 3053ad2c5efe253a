"""SciPy's statistics of arrays of ours equal those of NumPy's, and copy no array to the host.

A program of its own runs them, because SciPy reads ``SCIPY_ARRAY_API`` when it is imported. Implicit
copies are an error on a GPU; explicit ones are counted. A number that a function reads to decide, such as whether
any value is NaN, is not an array.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy", minversion="1.17")

# Names, and the operands that they take: samples of normal numbers, and positive ones.
CALLS = {
    "stats.ttest_ind": "x y",
    "stats.pearsonr": "x y",
    "stats.normaltest": "x",
    "stats.ttest_rel": "x y",
    "stats.skew": "x",
    "stats.kurtosistest": "x",
    "stats.jarque_bera": "x",
    "stats.bartlett": "x y",
    "stats.chisquare": "positive",
    "stats.zscore": "x",
}
PROGRAM = """
import json, sys
import numpy as np, xpops as xp
from scipy import stats
from xpops.engine.cuda.runtime.runtime import Runtime

sizes = []
to_host = Runtime.to_host

def counted(self, data, layout, stream):
    sizes.append(layout.size)
    return to_host(self, data, layout, stream)

Runtime.to_host = counted
random = np.random.default_rng(5)
x, y = random.normal(size=(2, 5000))
operands = {"x": x, "y": y + 0.1 * x, "positive": abs(x) + 1}
modules = {"stats": stats}

def numbers(result):
    parts = [result] if isinstance(result, (float, np.ndarray, np.generic, xp.Array)) else list(result)
    return [part.to_numpy() if isinstance(part, xp.Array) else np.asarray(part) for part in parts]

found = {}
for name, needed in json.loads(sys.argv[2]).items():
    module, _, function = name.partition(".")
    call = getattr(modules[module], function)
    host = [operands[each] for each in needed.split()]
    ours = [xp.asarray(each, device=sys.argv[1]) for each in host]
    for _ in range(2):
        sizes.clear()
        try:
            result = call(*ours)
        except Exception as error:
            found[name] = {"error": f"{type(error).__name__}: {error}"}
            break
        arrays, reads = sum(size > 1 for size in sizes), sum(size <= 1 for size in sizes)
        pairs = zip(numbers(result), numbers(call(*host)), strict=True)
        same = all(np.allclose(got, wanted, rtol=1e-9, atol=1e-12) for got, wanted in pairs)
        found[name] = {"copied arrays": arrays, "read numbers": reads, "equals NumPy's": bool(same)}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the program found, by device."""
    found: dict[str, dict[str, Any]] = {}

    def of(device: str) -> dict[str, Any]:
        if device not in found:
            variables = {
                "SCIPY_ARRAY_API": "1",
                "XPOPS_DEFAULT_DEVICE": device,
                "XPOPS_ALLOW_HOST_COPIES": "0",
                "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)]),
            }
            command = [sys.executable, "-W", "ignore", "-c", PROGRAM, device, json.dumps(CALLS)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **variables})
            assert done.returncode == 0, done.stderr
            found[device] = json.loads(done.stdout)
            print(json.dumps(found[device], indent=1))
        return found[device]

    return of


@pytest.mark.parametrize("name", CALLS)
def test_no_array_is_copied_to_the_host(name: str, results: Any, device: Any) -> None:
    found = results(str(device))[name]
    assert found.get("equals NumPy's"), found
    assert found["copied arrays"] == 0
