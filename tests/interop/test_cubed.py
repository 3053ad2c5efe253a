"""Cubed computes with xpops on every executor of one machine, in own processes: it reads its settings at import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cubed")

PROGRAM = """
import sys
import cubed, cubed.array_api as cxp, numpy as np
import xpops as xp

def only_ours(block):
    assert isinstance(block, xp.Array) and block.device == sys.argv[3], type(block)
    return block + 0.0

if __name__ == "__main__":
    spec = cubed.Spec(sys.argv[1], allowed_mem="200MB", executor_name=sys.argv[2])
    host = np.random.default_rng(0).normal(size=(40, 30))
    x = cubed.map_blocks(only_ours, cubed.from_array(host, chunks=(10, 10), spec=spec), dtype=host.dtype)
    cases = [
        (cxp.matmul(x, cxp.permute_dims(x, (1, 0))), host @ host.T),
        (cxp.std(x, axis=0), host.std(axis=0)),
        (cxp.max(cxp.sin(x) + 1), (np.sin(host) + 1).max()),
        (x[3:20:2, [1, 5]], host[3:20:2, [1, 5]]),
        (cxp.concat([x, x], axis=1), np.concatenate([host, host], axis=1)),
    ]
    for got, wanted in cases[: int(sys.argv[4])]:
        found = got.compute()
        assert isinstance(found, xp.Array), type(found)
        np.testing.assert_allclose(found.to_numpy(), wanted, rtol=1e-12, atol=1e-12)
    cubed.to_zarr(x * 2, sys.argv[1] + "/out.zarr")
    np.testing.assert_array_equal(cubed.from_zarr(sys.argv[1] + "/out.zarr", spec=spec).compute().to_numpy(), host * 2)
"""


# Each computation by processes starts new ones.
@pytest.mark.parametrize(("executor", "cases"), [("single-threaded", 5), ("threads", 5), ("processes", 1)])
def test_executors(executor: str, cases: int, device: Any, tmp_path: Path) -> None:
    variables = {
        "CUBED_BACKEND_ARRAY_API_MODULE": "xpops",
        "XPOPS_ALLOW_HOST_COPIES": "1",
        "XPOPS_DEFAULT_DEVICE": str(device),
    }
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, program, str(tmp_path), executor, str(device), str(cases)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
