"""The mean and the variance of each column of an array in files, by Cubed, with a Dask worker for each GPU."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from conformance.scale import data
from conformance.scale.watching import Memory, count_copies, counted, merged
from tests.helpers.examples import example

# Allowed differences from NumPy's sums in float64, as a share of the value.
MEAN, VARIANCE = 1e-5, 1e-4
# Cubed's name of the function that makes a block to write a NumPy array.
_WRITES = "cubed.backend_array_api.backend_array_to_numpy_array"


def measure(folder: str | None, total: int, block: int, devices: int, threads: int, allowed: int) -> dict[str, Any]:
    """Write the data, reduce it, and compare the results with NumPy's."""
    with TemporaryDirectory(dir=folder) as place:
        start = time.perf_counter()
        written = data.write(f"{place}/numbers.zarr", total, block)
        seconds = time.perf_counter() - start
        found = _reduce(Path(place), devices, threads, allowed)
    mean, variance = found.pop("results")
    differences = _difference(mean, written.mean), _difference(variance, written.variance)
    return {
        "bytes": written.bytes,
        "blocks": written.blocks,
        "seconds to write": seconds,
        **found,
        # The mean and the variance are two reductions, and each reads the array.
        "bytes per second": 2 * written.bytes / found["seconds"],
        "allowed_mem": allowed,
        "largest difference of means": differences[0],
        "largest difference of variances": differences[1],
        "equals NumPy's": differences[0] <= MEAN and differences[1] <= VARIANCE,
    }


def _reduce(place: Path, devices: int, threads: int, allowed: int) -> dict[str, Any]:
    # It sets Cubed's variables before Cubed is imported.
    program = example("out_of_core")
    import cubed
    import cubed.array_api as cxp
    import zarr
    from distributed import Client

    # Cubed knows the memory of tasks, so Dask need not watch that of workers.
    with program.start_cluster(devices, nthreads=threads, memory_limit=0) as cluster:
        executor = program.Executor(compute_kwargs={"address": cluster.scheduler_address})
        spec = cubed.Spec(str(place), allowed_mem=allowed, executor=executor, zarr_compressor=None)
        with Client(cluster.scheduler_address) as client:
            client.run(count_copies)
            x = cubed.from_zarr(f"{place}/numbers.zarr", spec=spec)
            results = cxp.mean(x, axis=0), cxp.var(x, axis=0)
            targets = [f"{place}/{name}.zarr" for name in ("mean", "variance")]
            start = time.perf_counter()
            with Memory() as memory:
                cubed.store(results, targets)
            seconds = time.perf_counter() - start
            counts = merged(client.run(counted))
    conversions = counts["conversions"]
    return {
        "results": [zarr.open_array(target)[:] for target in targets],
        "seconds": seconds,
        **memory.report(),
        "copies": counts["copies"],
        "conversions to write": conversions.get(_WRITES, 0),
        "host copies between read and write": sum(conversions.values()) - conversions.get(_WRITES, 0),
        "conversions by place": conversions,
    }


def _difference(got: Any, wanted: Any) -> float:
    return float(np.max(np.abs(got - wanted) / np.abs(wanted)))
