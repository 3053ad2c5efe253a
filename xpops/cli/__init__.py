"""The command line: ``python -m xpops``."""

from __future__ import annotations

import argparse
from pathlib import Path

from xpops import __version__


def main(arguments: list[str]) -> int:
    """Run a command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m xpops", description="Runs a pipeline of operators on every framework and device that is here."
    )
    parser.add_argument("command", nargs="?", choices=("run", "bench", "warmup", "info"), default="run")
    parser.add_argument(
        "--input", type=Path, metavar="FILE.npy", help="run: a batch of images (n, channels, height, width)"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="bench: write a page with bars, too")
    parser.add_argument("--json", action="store_true", help="info: as JSON")
    parser.add_argument("--version", action="version", version=f"xpops {__version__}")
    options = parser.parse_args(arguments)
    if options.json and options.command != "info":
        parser.error(f"--json belongs to info, not to {options.command}")
    if options.html is not None and options.command != "bench":
        parser.error(f"--html belongs to bench, not to {options.command}")
    # Each command imports only its own modules, so that `info` works even if others fail to import.
    if options.command == "info":
        from xpops.cli.info import print_info

        print_info(options.json)
        return 0
    if options.command == "warmup":
        from xpops.cli.warmup import warm_up

        return warm_up()
    if options.command == "bench":
        from xpops.cli.bench import bench

        return bench(options.html)
    from xpops.cli.pipeline import run

    return run(options.input)
