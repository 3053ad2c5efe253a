"""The models of docs/examples end as near to a run in float64 as the same models of torch's own operators."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from benchmarks.models import models  # noqa: E402


def distance(model: Any, exact: Any) -> float:
    """Between all parameters of two models."""
    pairs = zip(model.parameters(), exact.parameters(), strict=True)
    return float(sum((ours.detach().double() - theirs.detach()).square().sum() for ours, theirs in pairs) ** 0.5)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", ["transformer_block", "resnet_block"])
def test_training_is_as_exact_as_torchs(name: str, device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs torch and a GPU")
    model, of_theirs, train = models(name)
    ours, theirs = 0.0, 0.0
    for seed in range(3):
        torch.manual_seed(seed)
        made = model().to(device)
        others = [of_theirs().to(device), of_theirs().to(device).double()]
        for other in others:
            other.load_state_dict(made.state_dict())
        losses = train(made, 60, seed)
        for other in others:
            train(other, 60, seed)
        assert losses[-1] < losses[0] / 3
        ours, theirs = ours + distance(made, others[1]), theirs + distance(others[0], others[1])
    assert ours <= 2 * theirs
