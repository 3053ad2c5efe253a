"""How arrays are laid out for Fourier transforms."""

from __future__ import annotations

import math
from itertools import permutations

import pytest

from xpops.plan.signals.fft import MAX_RANK, plan_fft


@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
def test_every_choice_of_axes(kind: str) -> None:
    shape = (2, 3, 4, 5, 6)
    for count in range(6):
        for axes in permutations(range(5), count):
            if not axes and kind in ("rfft", "irfft"):
                continue
            lengths = tuple(shape[axis] + 1 for axis in axes)
            plan = plan_fft(shape, kind, axes, lengths, None)
            assert sorted(plan.order) == list(range(5))
            walked = [place for group in plan.groups for place in group]
            assert sorted(plan.order[place] for place in walked) == sorted(axes)
            assert all(len(group) <= MAX_RANK for group in plan.groups)
            assert all(group == tuple(range(group[0], group[-1] + 1)) for group in plan.groups)
            assert plan.points == math.prod(lengths)
            full = dict(zip(axes, lengths, strict=True))
            for place, axis in enumerate(plan.order):
                length = full.get(axis, shape[axis])
                halved = length // 2 + 1 if axes and axis == axes[-1] else length
                assert plan.taken[place] == (halved if kind == "irfft" else length)
                assert plan.made[place] == (halved if kind == "rfft" else length)
            if kind in ("rfft", "irfft"):
                assert plan.order[plan.groups[0][-1]] == axes[-1]


def test_nothing_moves_that_need_not() -> None:
    order = (0, 1, 2, 3)
    for axes in ((3,), (2, 3), (3, 2), (0,), (1, 0), (2, 0, 1), (3, 1, 2)):
        assert plan_fft((4, 5, 6, 7), "fft", axes, (8,) * len(axes), None).order == order
    assert plan_fft((4, 5, 6, 7), "rfft", (3, 2), (8, 8), None).order == (0, 1, 3, 2)
    assert plan_fft((4, 5, 6, 7), "fft", (1,), (8,), None).order == (0, 2, 3, 1)


@pytest.mark.parametrize(
    ("norm", "forward", "inverse"), [("backward", 1, 1 / 16), ("ortho", 0.25, 0.25), ("forward", 1 / 16, 1)]
)
def test_scales(norm: str, forward: float, inverse: float) -> None:
    plan = plan_fft((4, 4), "fft", (0, 1), (4, 4), None)
    assert (plan.scale(norm, False), plan.scale(norm, True)) == (forward, inverse)


def test_a_real_axis_apart() -> None:
    """The real axis is transformed by a separate call, but only if it is odd, in a transform of a whole matrix."""
    assert plan_fft((1024, 1023), "rfft", (0, 1), (1024, 1023), 512).groups == ((1,), (0,))
    assert plan_fft((1, 1024, 1023), "rfft", (0, 1, 2), (1, 1024, 1023), 512).groups == ((2,), (0, 1))
    assert plan_fft((64, 128, 1), "rfft", (0, 1, 2), (64, 128, 1), 512).groups == ((0, 1, 2),)
    assert plan_fft((64, 128, 127), "irfft", (0, 1, 2), (64, 128, 127), 512).groups == ((0, 1, 2),)
    for shape, kind, axes in (((2, 1024, 1023), "rfft", (1, 2)), ((1024, 1023), "fft", (0, 1))):
        assert plan_fft(shape, kind, axes, (1024, 1023), 512).groups == (axes,)
    assert plan_fft((1024, 1024), "rfft", (0, 1), (1024, 1024), 512).groups == ((0, 1),)
    assert plan_fft((1024, 1023), "rfft", (0, 1), (1024, 1023), None).groups == ((0, 1),)


@pytest.mark.parametrize("kind", ["fft", "rfft", "irfft"])
def test_a_long_first_axis_goes_last(kind: str) -> None:
    """A copy and a contiguous transform are faster than a strided transform, unless it is short."""
    for length, first in ((512, True), (513, False), (2048, True), (2049, False), (4096, False), (7, True)):
        plan = plan_fft((length, 6), kind, (0,), (length,), 512)
        assert (plan.order, plan.groups) == (((0, 1), ((0,),)) if first else ((1, 0), ((1,),)))
        assert plan_fft((length, 6), kind, (0,), (length,), None).order == (0, 1)
    assert plan_fft((8, 8, 6), kind, (0, 1), (8, 8), 512).order == (2, 0, 1)
    assert plan_fft((8, 8, 6), kind, (0, 1, 2), (8, 8, 6), 512).order == (0, 1, 2)
    assert plan_fft((1024, 1022), "rfft", (0, 1), (1024, 1022), 1 << 20).groups == ((0, 1),)
