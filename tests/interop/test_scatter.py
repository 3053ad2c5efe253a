"""Scatter reductions against torch, and the types of results for arrays of every framework."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers.devices import DEVICES
from tests.interop.test_frameworks import FRAMEWORKS, host, made

NAMES = {"sum": "sum", "prod": "prod", "min": "amin", "max": "amax", "mean": "mean"}
DTYPES = ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64"]


def tensors(torch: Any, device: Any, name: str, seed: int, *shapes: Any) -> list[Any]:
    """Whole numbers of which a few have an exact sum."""
    if device.type == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    generator = torch.Generator().manual_seed(seed)
    low = 0 if name == "uint8" else -2
    return [
        torch.randint(low, 3, shape, generator=generator).to(device=str(device), dtype=getattr(torch, name))
        for shape in shapes
    ]


def places(torch: Any, like: Any, length: int, seed: int, shape: Any) -> Any:
    return torch.randint(0, length, shape, generator=torch.Generator().manual_seed(seed)).to(like.device)


@given(
    st.data(),
    st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple),
    st.sampled_from(DTYPES),
    st.sampled_from(list(NAMES)),
    st.booleans(),
    st.booleans(),
    st.integers(0, 50),
    st.sampled_from(DEVICES),
)
def test_torch_elements(
    data: Any, shape: Any, name: str, reduction: str, include_self: bool, deterministic: bool, seed: int, device: Any
) -> None:
    torch = pytest.importorskip("torch")
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    used = tuple(data.draw(st.integers(1, 9 if at == axis % len(shape) else length)) for at, length in enumerate(shape))
    x, source = tensors(torch, device, name, seed, shape, tuple(length + 1 for length in used))
    index = places(torch, x, shape[axis], seed, used)
    found = xp.nn.scatter_reduce(x, index, source, reduction, axis=axis, include_self=include_self)
    wanted = torch.scatter_reduce(x, axis, index, source, NAMES[reduction], include_self=include_self)
    # torch rounds 16-bit floats at every step, and divides integers in their own dtype.
    if not (reduction in ("mean", "prod") and name in ("float16", "bfloat16")):
        assert torch.equal(found, wanted)
    assert (found.dtype, found.shape, found.device) == (wanted.dtype, wanted.shape, wanted.device)
    found = xp.nn.scatter_add(x, index, source, axis=axis, deterministic=deterministic)
    assert torch.equal(found, torch.scatter_add(x, axis, index, source))


@given(
    st.data(),
    st.lists(st.integers(1, 20), min_size=1, max_size=3).map(tuple),
    st.sampled_from(DTYPES),
    st.booleans(),
    st.integers(0, 50),
    st.sampled_from(DEVICES),
)
def test_torch_slices(data: Any, shape: Any, name: str, deterministic: bool, seed: int, device: Any) -> None:
    torch = pytest.importorskip("torch")
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    count = data.draw(st.integers(0, 30))
    sources = list(shape)
    sources[axis] = count
    x, source = tensors(torch, device, name, seed, shape, tuple(sources))
    index = places(torch, x, shape[axis], seed, (count,))
    found = xp.nn.index_add(x, index, source, axis=axis, deterministic=deterministic)
    assert torch.equal(found, torch.index_add(x, axis, index, source))


@pytest.mark.parametrize("padding", [None, 2])
def test_torch_embedding(padding: int | None, device: Any) -> None:
    torch = pytest.importorskip("torch")
    table, grad = tensors(torch, device, "float32", 3, (7, 8), (4, 5, 8))
    index = places(torch, table, 7, 3, (4, 5))
    table.requires_grad_()
    torch.nn.functional.embedding(index, table, padding_idx=padding).backward(grad)
    for deterministic in (True, False):
        found = xp.nn.embedding_backward(grad, index, 7, padding_index=padding, deterministic=deterministic)
        assert torch.equal(found, table.grad)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_results_are_of_the_framework_of_the_operands(framework: str, device: Any) -> None:
    hosts = np.zeros(3, np.float32), np.array([0, 2, 0], np.int32), np.array([1, 2, 4], np.float32)
    x, index, source = (made(framework, each, device) for each in hosts)
    for found in (
        xp.nn.scatter_add(x, index, source),
        xp.nn.index_add(x, index, source, deterministic=False),
        xp.nn.scatter_reduce(x, index, source, "sum"),
    ):
        assert type(found) is type(x)
        assert host(found).tolist() == [5, 0, 2]
    grad = made(framework, np.ones((3, 2), np.float32), device)
    found = xp.nn.embedding_backward(grad, index, 3)
    assert type(found) is type(x)
    assert host(found).tolist() == [[2, 2], [0, 0], [1, 1]]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_histograms(framework: str, device: Any) -> None:
    source = np.array([[1, 2, 1], [4, 0.5, 3]], np.float32)
    x, edges = (made(framework, each, device) for each in (source, np.array([1, 2, 4], np.float32)))
    for bins, wanted in ((3, 3), (edges, [1, 2, 4]), ([1, 2, 4], [1, 2, 4])):
        found, wanted_counts = xp.nn.histogram(x, bins), np.histogram(source, wanted)
        for got, expected in zip(found, wanted_counts, strict=True):
            assert type(got) is type(x)
            assert host(got).tolist() == expected.tolist()
