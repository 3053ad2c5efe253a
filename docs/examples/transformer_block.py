"""A transformer block that trains with torch: its norm, attention, activation, embedding and loss are ours."""

from importlib.util import find_spec

import xpops as xp

if find_spec("torch") is None:
    print("this example needs torch")
    raise SystemExit

import torch


@xp.fuse
def rms_norm(x, scale):
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def cross_entropy(scores, targets):
    chosen = xp.take_along_axis(xp.nn.log_softmax(scores), targets[..., None])
    return xp.negative(xp.mean(chosen))


class TransformerBlock(torch.nn.Module):
    """Predicts the next token from those before it.

    Operators are class attributes, so that a subclass may have others.
    """

    norm = staticmethod(rms_norm)
    softmax = staticmethod(xp.nn.softmax)
    activation = staticmethod(xp.nn.gelu)
    embed = staticmethod(lambda table, tokens: xp.take(table, tokens, axis=0))
    mask = staticmethod(lambda scores, allowed: xp.where(allowed, scores, -xp.inf))
    loss = staticmethod(cross_entropy)

    def __init__(self, vocabulary=16, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.table = torch.nn.Parameter(torch.randn(vocabulary, width))
        self.scales = torch.nn.Parameter(torch.ones(3, width))
        self.attention = torch.nn.Parameter(torch.randn(width, 3 * width) * width**-0.5)
        self.joined = torch.nn.Parameter(torch.randn(width, width) * width**-0.5)
        self.wider = torch.nn.Parameter(torch.randn(width, 4 * width) * width**-0.5)
        self.narrower = torch.nn.Parameter(torch.randn(4 * width, width) * (4 * width) ** -0.5)

    def forward(self, tokens):
        """Scores of the next token, of shape (batch, length, vocabulary)."""
        x = self.embed(self.table, tokens)
        x = x + self.attend(self.norm(x, self.scales[0]))
        x = x + self.activation(self.norm(x, self.scales[1]) @ self.wider) @ self.narrower
        return self.norm(x, self.scales[2]) @ self.table.mT * self.table.shape[1] ** -0.5

    def attend(self, x):
        """Each token looks at itself and at those before it."""
        batch, length, width = x.shape
        parts = (x @ self.attention).reshape(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        allowed = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        scores = self.mask(query @ key.mT * (width // self.heads) ** -0.5, allowed)
        return (self.softmax(scores) @ value).transpose(1, 2).reshape(x.shape) @ self.joined


def train(model, steps, seed=0):
    """The losses of some steps. A sequence counts up from a random token, in steps of 1 to 3."""
    generator = torch.Generator().manual_seed(seed)
    table = model.table
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(steps):
        start, stride = (torch.randint(low, high, (8, 1), generator=generator) for low, high in ((0, 16), (1, 4)))
        tokens = ((start + stride * torch.arange(13)) % len(table)).to(table.device)
        loss = model.loss(model(tokens[:, :-1]), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    torch.manual_seed(0)
    losses = train(TransformerBlock(), 100)
    print(f"loss {losses[0]:.2f}, after 100 steps {losses[-1]:.2f}")
