"""``python -m conformance.clients --device cpu|cuda``: runs clients' tests on xpops; writes ``reports/clients-*.json``.

``--clients A,B``  runs only these; the report keeps what it has of the others. Each has the fingerprint of its code.
``-j J``           this many packages of tests at a time (default 1).
``-n W``           with this many worker processes for each of them (default 0: none).
``--seconds S``    after so many seconds the tests are interrupted, and the report has those that ended.

Each failure goes at once to ``reports/clients-*.failures.txt``, with its reason. The report also counts, by place, the
copies to the host for which a client's code, not a test, called ``np.asarray``.

It runs the tests of the installed clients, which are in their wheels. Dask's are those for CuPy, with xpops in CuPy's
place. The tests of einops and xarray are in `tests`, because their own tests use NumPy only. `left_out` names the tests
that require something outside the standard.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from conformance.clients.left_out import LEFT_OUT
from conformance.clients.recording import PLACES
from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, Case, available, counts, heading, run_pytest, write

HERE = Path(__file__).parent
# The longest first.
_SCIPY = "stats special spatial fft ndimage cluster linalg optimize integrate differentiate constants"
_CUBED = "test_array_api test_gufunc test_indexing test_inspection test_linalg array/test_nan_functions array/test_pad"


class Client(NamedTuple):
    """A library: its tests as files or modules, arguments for pytest, and environment variables."""

    name: str
    tests: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


CLIENTS = (
    Client(
        "scipy",
        tuple(f"scipy/{name}" for name in _SCIPY.split()),
        ("-k", "xpops", "-W", "ignore"),
        (("SCIPY_ARRAY_API", "1"),),
    ),
    Client("array-api-extra", ("array_api_extra/tests/main",), ("-k", "xpops", "-W", "error::DeprecationWarning")),
    Client("scikit-learn", ("sklearn",), ("-k", "xpops", "-W", "ignore"), (("SCIPY_ARRAY_API", "1"),)),
    Client(
        "cubed",
        tuple(f"cubed/tests/{name}.py" for name in _CUBED.split()),
        ("-W", "ignore", "--tb=native"),
        # Cubed writes blocks as NumPy arrays, in threads and processes of its own.
        (("CUBED_BACKEND_ARRAY_API_MODULE", "xpops"), ("XPOPS_ALLOW_HOST_COPIES", "1")),
    ),
    Client("dask", ("dask/array/tests",), ("-m", "gpu", "-W", "ignore")),
    Client("einops", (str(HERE / "tests" / "test_einops.py"),)),
    Client("xarray", (str(HERE / "tests" / "test_xarray.py"),), ("-W", "ignore")),
)


class Run(NamedTuple):
    """A run of pytest: its tests, its exit code, its cases, and how often each function converted arrays to NumPy."""

    tests: str
    code: int
    cases: list[Case]
    conversions: Counter[str]


def main(arguments: list[str]) -> int:
    """Run the clients' tests, write the report, and return the worst of pytest's exit codes."""
    options = _parser().parse_args(arguments)
    if not available(options.device):
        print(f"clients: no {options.device} device here")
        return 2
    before, reports, code = fingerprint(), {}, 0
    failures = REPORTS / f"clients-{options.device}.failures.txt"
    failures.write_text("")
    asked = [client for client in CLIENTS if client.name in options.clients and _installed(client.name)]
    with ThreadPoolExecutor(options.jobs) as pool:
        started = [(client, _start(client, options, failures, pool)) for client in asked]
        for client, futures in started:
            runs = [each.result() for each in futures]
            reports[client.name] = _summary(client, runs)
            code = max(code, *(abs(run.code) for run in runs))
            print(f"{client.name}: {json.dumps(reports[client.name])}", flush=True)
    path = REPORTS / f"clients-{options.device}.json"
    known = json.loads(path.read_text())["clients"] if path.exists() else {}
    made = {name: {**heading(options.device), **found, "fingerprint": before} for name, found in reports.items()}
    write(path, {"clients": {**known, **made}})
    return code


def _parser() -> argparse.ArgumentParser:
    names = tuple(client.name for client in CLIENTS)
    parser = argparse.ArgumentParser("python -m conformance.clients", description="Runs clients' own tests on xpops.")
    parser.add_argument("--device", choices=("cpu", "cuda"), required=True)
    parser.add_argument("--clients", type=lambda text: tuple(text.split(",")), default=names, metavar="A,B")
    parser.add_argument(
        "-j", dest="jobs", type=int, default=1, metavar="J", help="packages of tests at a time (default 1)"
    )
    parser.add_argument(
        "-n", dest="workers", type=int, default=0, metavar="W", help="processes for each (default none)"
    )
    parser.add_argument("--seconds", type=float, default=math.inf, help="how long the tests may run (default: as long)")
    return parser


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _start(client: Client, options: argparse.Namespace, failures: Path, pool: ThreadPoolExecutor) -> list[Future[Run]]:
    """Runs of pytest, one for each file or module: each package of SciPy has a configuration of its own."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    ours = {"PYTHONPATH": path, "XPOPS_DEFAULT_DEVICE": options.device, "XPOPS_CLIENT": client.name}
    plugins = ["-p", "conformance.clients.plugin", "-p", "conformance.clients.recording", "-p", "no:cacheprovider"]
    given = ["-q", "--disable-warnings", *plugins, "-n", str(options.workers), *client.arguments]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST_")}
    environment = {**inherited, **ours, **dict(client.environment), "XPOPS_CLIENT_FAILURES": str(failures)}
    end = time.monotonic() + options.seconds
    return [pool.submit(_run, test, given, environment, end) for test in client.tests]


def _run(test: str, arguments: list[str], environment: dict[str, str], end: float) -> Run:
    with TemporaryDirectory() as folder:
        seconds = max(end - time.monotonic(), 0.0)
        code, cases = run_pytest([*_located(test), *arguments], Path(folder), environment, seconds=seconds)
        places = [json.loads(each.read_text()) for each in Path(folder).glob(PLACES.format("*"))]
    return Run(test, code, cases, sum(map(Counter, places), Counter[str]()))


def _located(test: str) -> list[str]:
    """pytest's arguments for a test: its path, and the package's folder as the root, where its configuration is."""
    package, _, rest = test.partition("/")
    spec = find_spec(package) if package else None
    if spec is None or spec.origin is None:
        return [test]
    root = Path(spec.origin).parent
    return [str(root / rest), f"--rootdir={root}", f"--confcutdir={root}"]


def _summary(client: Client, runs: list[Run]) -> dict[str, Any]:
    cases = [case for run in runs for case in run.cases]
    skips = Counter(case.reason for case in cases if case.outcome == "skipped")
    conversions = sum((run.conversions for run in runs), Counter[str]())
    return {
        "version": _installed(client.name),
        **counts(cases),
        "failed_tests": sorted(case.name for case in cases if case.outcome == "failed"),
        # pytest's codes: all passed, some failed, none collected.
        "not_finished": [run.tests for run in runs if run.code not in (0, 1, 5)],
        "skipped_for": dict(skips.most_common(10)),
        "converted_to_numpy_by": dict(conversions.most_common(20)),
        "left_out": LEFT_OUT.get(client.name, {}),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
