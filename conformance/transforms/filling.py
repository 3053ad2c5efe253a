"""One process of the matrix: it fills the cells of one call after the other."""

from __future__ import annotations

import logging
import os
import warnings
from importlib.util import find_spec

# A function, the name of a cell, and its text.
Cells = list[tuple[str, str, str]]

# With this begins the text of a cell that does not apply to a call.
LEFT_OUT = "left out: "


def start() -> None:
    """Prepare a process: one thread for each, and none of the warnings of torch's and JAX's compilers."""
    import torch

    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # several processes share a GPU
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # otherwise each process starts one per core
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)


def names(device: str) -> list[str]:
    """The function of each call of the table."""
    from conformance.transforms.cases import cases

    return [case.name for case in cases(device)]


def fill(device_and_place: tuple[str, int]) -> tuple[int, Cells]:
    """A call's place in the table, and its cells."""
    from conformance.transforms.cases import cases
    from conformance.transforms.cells import CELLS, LeftOut

    (device, place), found, cells = device_and_place, [], dict(CELLS)
    if find_spec("jax") is not None:
        from conformance.transforms.jax_cells import CELLS as OF_JAX

        cells |= OF_JAX
    case = cases(device)[place]
    for name, cell in cells.items():
        try:
            cell(case, device)
            text = "ok"
        except LeftOut as reason:
            text = f"{LEFT_OUT}{reason}"
        except Exception as error:
            lines = str(error).strip().splitlines()
            text = f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]
        found.append((case.name, name, text))
    return place, found
