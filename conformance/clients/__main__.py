"""``python -m conformance.clients --device cpu|cuda``: runs clients' tests on xpops; writes ``reports/clients-*.json``.

``--clients A,B``  runs only these, and writes no report.
``-j J``           this many packages of tests at a time (default 1).
``-n W``           with this many worker processes for each of them (default 0: none).

It runs the tests of the installed clients, which are in their wheels. Dask's are those for CuPy, with xpops in CuPy's
place. The tests of einops and xarray are in `tests`, because their own tests use NumPy only. `left_out` names the tests
that require something outside the standard.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from conformance.clients.left_out import LEFT_OUT
from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, Case, available, counts, heading, run_pytest, write

HERE = Path(__file__).parent
_SCIPY = "cluster constants differentiate fft integrate linalg ndimage optimize spatial special stats"
_CUBED = "test_array_api test_gufunc test_indexing test_inspection test_linalg array/test_nan_functions array/test_pad"


class Client(NamedTuple):
    """A library: its tests as files or modules, arguments for pytest, environment variables, and supported devices."""

    name: str
    tests: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    devices: tuple[str, ...] = ("cpu", "cuda")


CLIENTS = (
    Client("array-api-extra", ("array_api_extra/tests/main",), ("-k", "xpops", "-W", "error::DeprecationWarning")),
    Client("scikit-learn", ("sklearn",), ("-k", "xpops", "-W", "ignore"), (("SCIPY_ARRAY_API", "1"),)),
    Client(
        "scipy",
        tuple(f"scipy/{name}" for name in _SCIPY.split()),
        ("-k", "xpops", "-W", "ignore"),
        (("SCIPY_ARRAY_API", "1"),),
    ),
    Client(
        "cubed",
        tuple(f"cubed/tests/{name}.py" for name in _CUBED.split()),
        ("-W", "ignore", "--tb=native"),
        (("CUBED_BACKEND_ARRAY_API_MODULE", "xpops"),),
        devices=("cpu",),
    ),
    Client("dask", ("dask/array/tests",), ("-m", "gpu", "-W", "ignore")),
    Client("einops", (str(HERE / "tests" / "test_einops.py"),)),
    Client("xarray", (str(HERE / "tests" / "test_xarray.py"),), ("-W", "ignore")),
)


def main(arguments: list[str]) -> int:
    """Run the clients' tests, write the report, and return the worst of pytest's exit codes."""
    options = _parser().parse_args(arguments)
    if not available(options.device):
        print(f"clients: no {options.device} device here")
        return 2
    before, reports, code = fingerprint(), {}, 0
    asked = [client for client in CLIENTS if client.name in options.clients and options.device in client.devices]
    with ThreadPoolExecutor(options.jobs) as pool:
        runs = [(client, _start(client, options, pool)) for client in asked if _installed(client.name)]
        for client, started in runs:
            results = [each.result() for each in started]
            reports[client.name] = _summary(client, [case for _, cases in results for case in cases])
            code = max(code, *(found for found, _ in results))
    if set(options.clients) == {client.name for client in CLIENTS}:
        report = {**heading(options.device), "clients": reports, "fingerprint": before}
        write(REPORTS / f"clients-{options.device}.json", report)
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
    return parser


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _start(
    client: Client, options: argparse.Namespace, pool: ThreadPoolExecutor
) -> list[Future[tuple[int, list[Case]]]]:
    """Runs of pytest, one for each file or module: each package of SciPy has a configuration of its own."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    ours = {"PYTHONPATH": path, "XPOPS_DEFAULT_DEVICE": options.device, "XPOPS_CLIENT": client.name}
    plugins = ["-p", "conformance.clients.plugin", "-p", "no:cacheprovider", "-n", str(options.workers)]
    given = ["-q", "--disable-warnings", *plugins, *client.arguments]
    environment = {**os.environ, **ours, **dict(client.environment)}
    return [pool.submit(_run, [*_located(test), *given], environment) for test in client.tests]


def _run(arguments: list[str], environment: dict[str, str]) -> tuple[int, list[Case]]:
    with TemporaryDirectory() as folder:
        return run_pytest(arguments, Path(folder), environment)


def _located(test: str) -> list[str]:
    """pytest's arguments for a test: its path, and the package's folder as the root, where its configuration is."""
    package, _, rest = test.partition("/")
    spec = find_spec(package) if package else None
    if spec is None or spec.origin is None:
        return [test]
    root = Path(spec.origin).parent
    return [str(root / rest), f"--rootdir={root}", f"--confcutdir={root}"]


def _summary(client: Client, cases: list[Case]) -> dict[str, Any]:
    skips = Counter(case.reason for case in cases if case.outcome == "skipped")
    return {
        "version": _installed(client.name),
        **counts(cases),
        "failed_tests": sorted(case.name for case in cases if case.outcome == "failed"),
        "skipped_for": dict(skips.most_common(10)),
        "left_out": LEFT_OUT.get(client.name, {}),
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
