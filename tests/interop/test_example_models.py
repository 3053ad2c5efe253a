"""The models of docs/examples end as near to a run in float64 as the same models of torch's own operators."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.examples import example

torch = pytest.importorskip("torch")
functional = torch.nn.functional


def of_torch(name: str) -> tuple[Any, Any]:
    """A model, and the same one of torch's operators."""
    module = example(name)
    if name == "transformer_block":
        model = module.TransformerBlock
        operators = {
            "norm": lambda x, scale: functional.rms_norm(x, (x.shape[-1],), scale, 1e-6),
            "softmax": lambda x: x.softmax(-1),
            "activation": functional.gelu,
            "embed": lambda table, tokens: functional.embedding(tokens, table),
            "mask": lambda scores, allowed: scores.masked_fill(~allowed, -torch.inf),
            "loss": lambda scores, targets: functional.cross_entropy(scores.flatten(0, 1), targets.flatten()),
        }
    else:
        model = module.ResNetBlock
        operators = {
            "norm": lambda x, scale, shift: functional.batch_norm(x, None, None, scale[:, 0, 0], shift[:, 0, 0], True),
            "activation": functional.silu,
            "upsample": lambda x: functional.interpolate(x, scale_factor=2, mode="nearest"),
            "sum_by_label": lambda values, labels, count: values.new_zeros(count).index_add(0, labels, values),
        }
    return model, type("OfTorch", (model,), {key: staticmethod(value) for key, value in operators.items()})


def distance(model: Any, exact: Any) -> float:
    """Between all parameters of two models."""
    pairs = zip(model.parameters(), exact.parameters(), strict=True)
    return float(sum((ours.detach().double() - theirs.detach()).square().sum() for ours, theirs in pairs) ** 0.5)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", ["transformer_block", "resnet_block"])
def test_training_is_as_exact_as_torchs(name: str, device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs torch and a GPU")
    train = example(name).train
    model, of_theirs = of_torch(name)
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
