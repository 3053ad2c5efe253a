"""Torch's samples: what agrees, what is left out, and that differences of results and gradients are found."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

import xpops as xp
from conformance.opinfo.__main__ import merged
from conformance.opinfo.comparing import compare

torch = pytest.importorskip("torch")

from conformance.opinfo import calls  # noqa: E402
from conformance.opinfo.samples import outcome  # noqa: E402


def sample(*arguments: Any, **named: Any) -> Any:
    first, *others = arguments
    return SimpleNamespace(input=first, args=tuple(others), kwargs=named)


def numbers(*shape: int) -> Any:
    return torch.rand(shape, dtype=torch.float64).requires_grad_()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda x, dim: xp.sum(x, axis=dim) + 1e-4, "differ: AssertionError"),
        (lambda x, dim: xp.sum(x.detach(), axis=dim), "another result requires grad"),
        (lambda x, dim: xp.sum(x, axis=dim, keepdims=True), "differ: AssertionError"),
        (lambda x, dim: xp.sum(x * 2 - x.detach(), axis=dim), "differ: AssertionError"),
        (lambda x, dim: xp.sum(x, axis=float(dim)), "differ: TypeError"),
    ],
)
def test_differences_are_found(wrong: Any, words: str) -> None:
    given = sample(numbers(3, 4), 1)
    assert outcome(torch.sum, calls.CALLS["sum"], given, False) == "agree"
    assert words in outcome(torch.sum, wrong, given, False)


def test_samples_that_torch_refuses_are_no_samples() -> None:
    assert outcome(torch.sum, calls.CALLS["sum"], sample(numbers(3), 1), False) == ""


def test_what_is_left_out_says_why() -> None:
    found = outcome(torch.add, calls.CALLS["add"], sample(numbers(3), numbers(3), alpha=2), False)
    assert found == "left out: alpha, a factor of the second operand"


def test_outcomes_are_counted_by_operator() -> None:
    operator = SimpleNamespace(
        name="sum",
        variant_test_name="",
        supported_dtypes=lambda device: {torch.float64, torch.int64},
        sample_inputs=lambda device, dtype, requires_grad: iter([sample(numbers(3), 0), sample(numbers(), 0)]),
    )

    class Sum(SimpleNamespace):
        def __call__(self, *arguments: Any, **named: Any) -> Any:
            return torch.sum(*arguments, **named)

    unknown = SimpleNamespace(name="unknown", variant_test_name="variant")
    counted = merged([compare([Sum(**vars(operator)), unknown], "cpu")])
    left_out = "left out: an axis of a 0-d array, which NumPy refuses as well"
    assert counted == {"sum": Counter({"agree": 1, left_out: 1})}
