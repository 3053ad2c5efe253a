"""A ResNet block that trains with torch: its norm, activation, upsampling and scattering are ours."""

from importlib.util import find_spec

import xpops as xp

if find_spec("torch") is None:
    print("this example needs torch")
    raise SystemExit

import torch


@xp.fuse
def batch_norm(x, scale, shift):
    centred = x - xp.mean(x, axis=(0, 2, 3), keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=(0, 2, 3), keepdims=True) + 1e-5) * scale + shift


def sum_by_label(values, labels, count):
    """The sums of the values of each label: `values` and `labels` have one axis."""
    return xp.nn.index_add(values.new_zeros(count), labels, values)


class ResNetBlock(torch.nn.Module):
    """Two convolutions beside a shortcut, on a coarse grid: the result is upsampled, and added to its operand.

    Operators are class attributes, so that a subclass may have others.
    """

    norm = staticmethod(batch_norm)
    activation = staticmethod(xp.nn.silu)
    upsample = staticmethod(lambda x: xp.nn.upsample_nearest2d(x, scale=2))
    sum_by_label = staticmethod(sum_by_label)

    def __init__(self, channels=8):
        super().__init__()
        self.first = torch.nn.Conv2d(1, channels, 3, stride=2, padding=1, bias=False)
        self.second = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.last = torch.nn.Conv2d(channels, 1, 1)
        self.scales = torch.nn.Parameter(torch.ones(2, channels, 1, 1))
        self.shifts = torch.nn.Parameter(torch.zeros(2, channels, 1, 1))

    def forward(self, images):
        """Images of the same shape, (batch, 1, height, width)."""
        x = self.activation(self.norm(self.first(images), self.scales[0], self.shifts[0]))
        x = x + self.activation(self.norm(self.second(x), self.scales[1], self.shifts[1]))
        return images + self.last(self.upsample(x))

    def loss(self, images, targets, labels, count):
        """The mean over labels of the mean squared error of their points, so that a rare label counts as much."""
        errors = (self(images) - targets).square().reshape(-1)
        points = self.sum_by_label(torch.ones_like(errors), labels, count)
        return (self.sum_by_label(errors, labels, count) / points.clamp(min=1)).mean()


def train(model, steps, seed=0):
    """The losses of some steps: the model learns to sharpen blurred images of two regions."""
    generator = torch.Generator().manual_seed(seed)
    like = model.scales
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(steps):
        edges = torch.randint(3, 13, (8, 1, 1, 1), generator=generator)
        regions = (torch.arange(16) < edges).expand(8, 1, 16, 16)
        targets = regions.to(like.device, like.dtype)
        blurred = torch.nn.functional.avg_pool2d(targets, 5, stride=1, padding=2)
        loss = model.loss(blurred, targets, regions.reshape(-1).long().to(like.device), 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    torch.manual_seed(0)
    losses = train(ResNetBlock(), 100)
    print(f"loss {losses[0]:.3f}, after 100 steps {losses[-1]:.3f}")
