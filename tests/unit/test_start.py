"""`import xpops` is cheap: it loads what every program needs, and the rest at first use."""

from __future__ import annotations

import json
import os
import pickle
import statistics
import subprocess
import sys
import time

import pytest

import xpops as xp

PACKAGES = ("fft", "kernel", "linalg", "nn", "random", "testing")
# Modules that `import xpops` must not load, on a machine without a GPU.
LATER = (
    *(f"xpops.{name}" for name in PACKAGES),
    *(f"xpops.api.{name}" for name in PACKAGES if name != "testing"),
    "xpops.dispatch.fusion.programs",
    "xpops.engine.cpu",
    "xpops.engine.cuda.kernels",
    "xpops.engine.cuda.tuning",
    "xpops.engine.cuda.user",
    "xpops.engine.cuda.warmup",
    "xpops.plan.fused",
    "xpops.plan.scan",
    "xpops.plan.user",
    "argparse",
    "asyncio",
    "concurrent.futures",
    "cuda.bindings.driver",
    "logging",
    "multiprocessing",
    "numpy.polynomial",
    "nvmath",
    "subprocess",
    "hypothesis",
    "unittest",
)


def run(program: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "XPOPS_PREPARE": "0"}
    ).stdout


def test_what_an_import_loads() -> None:
    """Beyond what NumPy loads."""
    program = "import sys, json, numpy, ml_dtypes; old = set(sys.modules); import xpops; "
    new = json.loads(run(program + "print(json.dumps(sorted(set(sys.modules) - old)))"))
    assert "xpops.api.methods" in new
    assert [name for name in LATER if name in new] == []


def test_what_the_first_call_loads() -> None:
    program = "import sys, json, numpy, xpops as xp; x = numpy.ones(3); xp.add(x, x); xp.asarray(x, device='cpu') + 1; "
    loaded = json.loads(run(program + "print(json.dumps(sorted(sys.modules)))"))
    assert "xpops.engine.cpu.engine" in loaded
    assert [name for name in ("numpy.ma", "xpops.api.linalg", "xpops.engine.cuda.engine") if name in loaded] == []


def test_the_time_of_an_import() -> None:
    """It takes about as long as NumPy's own, with cuda-python's search for a GPU; a slow machine slows both."""
    times: dict[str, list[float]] = {"numpy": [], "numpy, xpops": []}
    for _ in range(5):
        for modules, own in times.items():
            start = time.perf_counter()
            run(f"import {modules}")
            own.append(time.perf_counter() - start)
    base, whole = (statistics.median(each) for each in times.values())
    assert whole < 4 * base


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_is_imported_at_first_use(name: str) -> None:
    statements = (f"import xpops; xpops.{name}", f"import xpops.{name}", f"from xpops import {name}; import xpops")
    for statement in statements:
        shown = run(
            f"import sys; {statement}; print(xpops.{name} is sys.modules['xpops.{name}'], xpops.{name}.__all__)"
        )
        assert shown == f"True {getattr(xp, name).__all__}\n"


def test_names_that_do_not_exist() -> None:
    with pytest.raises(AttributeError, match="module 'xpops' has no attribute 'nothing'"):
        _ = xp.nothing  # type: ignore[attr-defined]


def test_their_functions_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(xp.linalg.det)) is xp.linalg.det
    assert xp.__array_namespace_info__().capabilities()["boolean indexing"]
    assert set(PACKAGES) <= set(dir(xp))
