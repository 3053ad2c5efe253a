"""The benchmark of drawn calls, on the CPU: xpops and torch compute the same, and sectors are counted right."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from benchmarks.drawn.check import find_error  # noqa: E402
from benchmarks.drawn.families import draw_calls  # noqa: E402
from benchmarks.drawn.floor import touched_bytes  # noqa: E402
from benchmarks.drawn.inputs import copy_tensor, make_tensor  # noqa: E402
from benchmarks.drawn.operands import LAYOUTS, Operand  # noqa: E402
from benchmarks.drawn.report import summarize, table  # noqa: E402
from benchmarks.drawn.run import arguments, describe  # noqa: E402

SECTOR = 32


@pytest.mark.filterwarnings("ignore:torch.searchsorted")
@pytest.mark.parametrize("seed", range(8))
def test_ours_and_torch_compute_the_same(seed: int) -> None:
    for number, call in enumerate(islice(draw_calls(seed, 3000), 40)):
        tensors = [make_tensor(operand, "cpu") for operand in call.operands]
        # A call may write to its operands.
        copies = [copy_tensor(*pair) for pair in zip(tensors, call.operands, strict=True)]
        try:
            reference = call.theirs(*arguments(call, copies, "torch"))
        except (RuntimeError, TypeError):
            continue  # torch does not take these dtypes
        result = call.ours(*arguments(call, tensors, "xpops"))
        assert not find_error(call, result, reference), (number, describe(call))


def test_an_assignment_that_writes_nothing_is_found() -> None:
    call = next(call for call in draw_calls(0, 3000) if call.name == "x[mask] = 0" and call.operands[0].shape[0] > 9)
    tensors = [make_tensor(operand, "cpu") for operand in call.operands]
    tensors[0].fill_(1)
    copies = [copy_tensor(*pair) for pair in zip(tensors, call.operands, strict=True)]
    copies[1].fill_(True)
    reference = call.theirs(*copies)
    assert find_error(call, tensors[0], reference)


def test_wrong_results_are_found() -> None:
    for call in islice(draw_calls(0, 3000), 40):
        reference = torch.arange(12.0).reshape(3, 4)
        wrong = reference.clone()
        wrong[1, 2] += 0.25 * max(1.0, call.tolerance)
        if not call.name.startswith("arg"):
            assert find_error(call._replace(operands=()), wrong, reference)
            assert find_error(call._replace(operands=()), wrong.T, reference)


def test_a_seed_draws_the_same_calls() -> None:
    one, two, other = ([describe(call) for call in islice(draw_calls(seed), 50)] for seed in (5, 5, 6))
    assert one == two != other
    assert {operand["layout"] for call in one for operand in call["operands"]} == set(LAYOUTS)


@pytest.mark.parametrize("seed", range(4))
def test_sectors_are_those_that_elements_lie_in(seed: int) -> None:
    for call in islice(draw_calls(seed, 3000), 60):
        if call.family not in ("unary", "cast") or not all(call.operands[0].shape):
            continue
        (operand,) = call.operands
        result = torch.empty(operand.shape, dtype=torch.int8)
        found = touched_bytes(call, [make_tensor(operand, "cpu")], result, SECTOR) - result.numel()
        assert found == SECTOR * len(_sectors_of(operand)), describe(call)


def _sectors_of(operand: Operand) -> set[int]:
    places = [operand.offset + np.dot(index, operand.strides) for index in np.ndindex(*operand.shape)]
    return {int(place) * operand.itemsize // SECTOR for place in places}


def test_moves_count_what_they_read() -> None:
    call = next(call for call in draw_calls(0, 3000) if call.name == "tril")
    x = Operand("float32", (16, 16), "contiguous", (16, 1), 0, 256)
    call = call._replace(operands=(x,), parameters={"k": 0}, moved=torch.tril)
    # Of each row the first sector, and the second from the ninth row on.
    assert touched_bytes(call, [make_tensor(x, "cpu")], torch.empty(16, 16), SECTOR) == SECTOR * (16 + 8) + 4 * 256


def test_figures() -> None:
    row = {"family": "move", "layout": "stepped", "wrong": ""}
    rows = [{**row, "floor": 50.0, "xpops": 100.0, "torch": time, "cupy": 150.0} for time in (50.0, 200.0)]
    rows += [{**row, "floor": 5.0, "xpops": 100.0, "torch": 1.0}, {**row, "floor": 40.0, "xpops": 40.0}]
    summary = summarize(rows)
    assert list(summary) == ["all", "move", "move, stepped"]
    figures = summary["move"]
    assert (figures["calls"], figures["torch/ours"], figures["worst"]) == (3, 1.0, 0.5)
    assert (figures["below 0.95 of torch"], figures["below 0.95 of the best"]) == (0.5, 0.5)
    assert (figures["ours/floor"], figures["ours/floor, worst"]) == (round(4 ** (1 / 3), 3), 2.0)
    assert len(list(table(summary))) == 4
