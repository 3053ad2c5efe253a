"""Which row of tuning numbers a GPU uses."""

from __future__ import annotations

import pytest

from xpops.cli import info
from xpops.engine.cuda import tuning
from xpops.engine.cuda.runtime.driver import Gpu


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of three capabilities that differ in one number."""
    row = tuning.ROWS[90]
    made = {capability: row._replace(block=capability, gpu=f"GPU {capability}") for capability in (80, 90, 120)}
    monkeypatch.setattr(tuning, "ROWS", made)
    monkeypatch.setattr(info, "ROWS", made)


@pytest.mark.parametrize(
    ("capability", "row"), [(75, 80), (80, 80), (84, 80), (86, 90), (90, 90), (100, 90), (110, 120), (121, 120)]
)
def test_a_gpu_takes_the_nearest_row(rows: None, capability: int, row: int) -> None:
    assert tuning.measured(capability) == row
    assert tuning.tuning_of(capability).block == row


def test_numbers_for_one_multiprocessor() -> None:
    assert tuning.reduce_policy(90, 132).blocks == 132 * tuning.tuning_of(90).reduce.resident
    assert tuning.scan_policy(90, 132).rows == 132 * tuning.tuning_of(90).scan.rows


def test_info_tells_the_row(rows: None, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = tuple(Gpu("pretended", capability, "0") for capability in (90, 86, 90))
    monkeypatch.setattr(info, "visible_gpus", lambda: gpus)
    assert info.facts()["tuning"] == "sm_90 (GPU 90); sm_90 (GPU 90), the nearest to sm_86"
