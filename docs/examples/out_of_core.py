"""The mean and the deviation of an array in files, by zarr, Cubed, and a Dask worker for each GPU."""

import logging
import os
import tempfile

# Cubed reads these when it is imported; its workers inherit them.
os.environ["CUBED_BACKEND_ARRAY_API_MODULE"] = "xpops"
os.environ["XPOPS_ALLOW_HOST_COPIES"] = "1"  # Cubed writes blocks as NumPy arrays

import cubed
import cubed.array_api as cxp
import zarr
from cubed.runtime.executors.dask import DaskExecutor
from distributed import Nanny, Scheduler, SpecCluster

import xpops as xp
import xpops.zarr

ROWS, COLUMNS, BLOCK = 4000, 50, 500


def count_gpus():
    return sum(each.type == "cuda" for each in xp.__array_namespace_info__().devices())


def start_cluster(count, **options):
    """Start a Dask cluster of `count` processes. Where there are GPUs, each process sees one."""
    gpus = count_gpus()
    options = {"nthreads": 1, "silence_logs": logging.WARNING, **options}
    workers = {
        index: {"cls": Nanny, "options": {**options, "env": {"CUDA_VISIBLE_DEVICES": str(index) if gpus else ""}}}
        for index in range(count)
    }
    scheduler = {"cls": Scheduler, "options": {"dashboard_address": None}}
    return SpecCluster(workers=workers, scheduler=scheduler, silence_logs=logging.WARNING)


class Executor(DaskExecutor):
    """Cubed's executor without its check of the workers' memory, which finds no workers with Dask 2026."""

    def execute_dag(self, dag, spec=None, **options):
        super().execute_dag(dag, **options)


def write_numbers(path):
    """Write random numbers, block by block. Each block is made on the device."""
    with zarr.config.set({"ndbuffer": "xpops.zarr.NDBuffer"}):
        z = zarr.create_array(path, shape=(ROWS, COLUMNS), chunks=(BLOCK, COLUMNS), dtype="float64")
        for start in range(0, ROWS, BLOCK):
            z[start : start + BLOCK] = xp.random.Generator(start).normal(3.0, 2.0, (BLOCK, COLUMNS))


def mean_and_deviation(path, target, spec):
    """The mean of the array at `path`, and the deviation of each column, which is written to `target`."""
    x = cubed.from_zarr(path, spec=spec)
    cubed.to_zarr(cxp.std(x, axis=0), target)
    return float(cxp.mean(x).compute())


def main():
    with tempfile.TemporaryDirectory() as folder, start_cluster(count_gpus() or 2) as cluster:
        executor = Executor(compute_kwargs={"address": cluster.scheduler_address})
        spec = cubed.Spec(folder, allowed_mem="500MB", executor=executor)
        write_numbers(f"{folder}/numbers.zarr")
        mean = mean_and_deviation(f"{folder}/numbers.zarr", f"{folder}/deviations.zarr", spec)
        deviations = zarr.open_array(f"{folder}/deviations.zarr")[:]
    print(f"mean {mean:.2f}, deviation {deviations.mean():.2f}")


if __name__ == "__main__":
    main()
