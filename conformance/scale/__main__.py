"""``python -m conformance.scale --gigabytes 50 --devices 2``: larger data than a GPU holds, and work on several GPUs.

Two parts, each with a time limit; the failure of one is reported, and the other goes on.

``reduction``  writes float32 numbers to a zarr array, and computes the mean and the variance of each column by Cubed,
               with a Dask worker for each GPU. Reports seconds, bytes per second, the most memory of processes and
               GPUs beside Cubed's ``allowed_mem``, copies to the host, and whether the results equal NumPy's.
``job``        runs tasks that make their numbers on the GPU, on one worker and on ``--devices``; reports the speed-up.

It writes ``reports/scale-*.json`` after each part.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, available, heading, write

PARTS = ("job", "reduction")


def main(arguments: list[str]) -> int:
    """Run the parts, write the report, and return 1 if a part failed."""
    options = _parser().parse_args(arguments)
    if options.into:
        options.into.write_text(json.dumps(_measure(options.parts[0], options)))
        return 0
    if not available(options.device):
        print(f"scale: no {options.device} device here")
        return 2
    report: dict[str, Any] = {**heading(options.device), "devices": options.devices, "fingerprint": fingerprint()}
    for part in options.parts:
        report[part] = _run(part, options.limit, arguments)
        write(options.report or REPORTS / f"scale-{options.device}.json", report)
    return int(any("error" in report[part] for part in options.parts))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m conformance.scale", description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--devices", type=int, default=1, help="how many workers, each with a GPU (default 1)")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=PARTS, metavar="A,B")
    parser.add_argument("--limit", type=float, default=280.0, help="seconds for each part (default 280)")
    parser.add_argument("--report", type=Path, help="where to write the report (default: conformance/reports)")
    parser.add_argument("--gigabytes", type=float, default=50.0, help="of the data (default 50)")
    parser.add_argument("--block", type=float, default=256.0, help="megabytes of a block (default 256)")
    parser.add_argument("--folder", help="where the data are written (default: the folder for temporary files)")
    parser.add_argument("--threads", type=int, default=4, help="of each worker, for the reduction (default 4)")
    parser.add_argument("--allowed", type=float, default=4.0, help="gigabytes of memory for a task (default 4)")
    parser.add_argument("--size", type=int, default=4096, help="of the job's matrices (default 4096)")
    parser.add_argument("--seconds", type=float, default=8.0, help="of the job for each GPU (default 8)")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    return parser


def _measure(part: str, options: argparse.Namespace) -> dict[str, Any]:
    from conformance.scale import job, reduction

    if part == "job":
        return job.measure(options.size, options.seconds, options.devices)
    sizes = int(options.gigabytes * 1e9), int(options.block * 2**20)
    return reduction.measure(options.folder, *sizes, options.devices, options.threads, int(options.allowed * 1e9))


def _run(part: str, limit: float, arguments: list[str]) -> dict[str, Any]:
    """The results of a part, which runs in a process of its own; an error if it failed, or took too long."""
    device = _parser().parse_args(arguments).device
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])}
    environment.update({"XPOPS_DEFAULT_DEVICE": device} | ({"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}))
    with TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "conformance.scale", *arguments, "--parts", part, "--into", str(result)]
        with open(Path(folder) / "errors.txt", "w+") as errors:
            process = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=errors, start_new_session=True)
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # the workers, too
                process.wait()
                return {"error": f"not done after {limit:g} seconds"}
            errors.seek(0)
            text = errors.read()
        if not result.exists():
            return {"error": text[-2000:]}
        found: dict[str, Any] = json.loads(result.read_text())
        return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
