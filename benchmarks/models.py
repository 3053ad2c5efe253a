"""The models of docs/examples, of our operators and of torch's: a training step, and where training ends."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks.timing import host_times

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
SEEDS = 3

_OPERATORS: dict[str, dict[str, Callable[..., Any]]] = {
    "transformer_block": {
        "norm": lambda x, scale: F.rms_norm(x, (x.shape[-1],), scale, 1e-6),
        "softmax": lambda x: x.softmax(-1),
        "activation": F.gelu,
        "embed": lambda table, tokens: F.embedding(tokens, table),
        "mask": lambda scores, allowed: scores.masked_fill(~allowed, -torch.inf),
        "loss": lambda scores, targets: F.cross_entropy(scores.flatten(0, 1), targets.flatten()),
    },
    "resnet_block": {
        "norm": lambda x, scale, shift: F.batch_norm(x, None, None, scale[:, 0, 0], shift[:, 0, 0], True),
        "activation": F.silu,
        "upsample": lambda x: F.interpolate(x, scale_factor=2, mode="nearest"),
        "sum_by_label": lambda values, labels, count: values.new_zeros(count).index_add(0, labels, values),
    },
}
_CLASSES = {"transformer_block": "TransformerBlock", "resnet_block": "ResNetBlock"}


@cache
def models(name: str) -> tuple[Any, Any, Callable[..., list[float]]]:
    """The model of an example, the same one of torch's operators, and the function that trains them."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # torch's compiler looks it up there
    spec.loader.exec_module(module)
    model = getattr(module, _CLASSES[name])
    own = {key: staticmethod(function) for key, function in _OPERATORS[name].items()}
    return model, type("OfTorch", (model,), own), module.train


def steps(name: str, device: str, rounds: int) -> dict[str, float]:
    """Microseconds of a training step by library: with our operators, torch's, and torch's compiled."""
    ours, theirs, _ = models(name)
    works = {
        "xpops": _step(name, ours().to(device)),
        "torch": _step(name, theirs().to(device)),
        "compiled": _step(name, theirs().to(device), torch.compile),
    }
    return host_times(works, calls=20, rounds=rounds)


def _step(name: str, model: Any, prepare: Callable[..., Any] = lambda function: function) -> Callable[[], Any]:
    """A function that makes one step on the same large batch, and waits for its loss."""
    device = next(model.parameters()).device
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    if name == "transformer_block":
        tokens = torch.randint(0, 16, (32, 129), device=device)
        loss_of = prepare(lambda: model.loss(model(tokens[:, :-1]), tokens[:, 1:]))
    else:
        images = torch.rand(32, 1, 64, 64, device=device)
        labels = torch.randint(0, 2, (images.numel(),), device=device)
        loss_of = prepare(lambda: model.loss(images, images, labels, 2))

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def deviations(name: str, device: str, count: int) -> dict[str, float]:
    """The distances of parameters from a run in float64, after training in float32: ours and torch's, over seeds."""
    ours, theirs, train = models(name)
    found = {"xpops": 0.0, "torch": 0.0}
    with torch.backends.cudnn.flags(allow_tf32=False):
        for seed in range(SEEDS):
            torch.manual_seed(seed)
            made = {"xpops": ours().to(device), "torch": theirs().to(device), "exact": theirs().to(device).double()}
            start = {key: value.clone() for key, value in made["xpops"].state_dict().items()}
            for model in made.values():
                model.load_state_dict(start)
                train(model, count, seed)
            for library in found:
                found[library] += _distance(made[library], made["exact"])
    return {**found, "ratio": found["xpops"] / found["torch"]}


def _distance(model: Any, exact: Any) -> float:
    pairs = zip(model.parameters(), exact.parameters(), strict=True)
    return float(sum((ours.detach().double() - theirs.detach()).square().sum() for ours, theirs in pairs) ** 0.5)
