"""Cases for every kernel primitive. NumPy computes the expected results."""

from __future__ import annotations

from itertools import chain

from tests.helpers import kps_block_cases as block
from tests.helpers import kps_compute_cases as compute
from tests.helpers import kps_io_cases as io
from tests.helpers.kps import Case

CASES: tuple[Case, ...] = tuple(
    chain(
        io.filling(),
        io.runs(),
        io.tiles(),
        io.broadcasts(),
        io.reads_for_reductions(),
        compute.registers(),
        compute.functors(),
        compute.random(),
        block.reductions(),
        block.shuffles(),
        block.prefixes(),
        block.sorting(),
        block.configurations(),
    )
)
# One case for each source, because most cases differ only in data and shapes.
SOURCES: tuple[Case, ...] = tuple({case.source: case for case in CASES}.values())
