"""The steady state for torch tensors on a GPU: a call that only resembles an earlier one must not use its launch."""

from __future__ import annotations

from typing import Any

import pytest

import xpops as xp

pytestmark = pytest.mark.usefixtures("cuda")


@pytest.fixture
def pair(cuda_torch: Any) -> tuple[Any, Any, Any]:
    """torch, and two matrices whose sum has been computed twice, the second time in the steady state."""
    torch = cuda_torch
    x, y = (torch.randn(64, 64, device="cuda") for _ in range(2))
    for _ in range(2):
        assert torch.equal(xp.add(x, y), x + y)
        assert torch.equal(xp.add(x, 2.0), x + 2.0)
        assert torch.equal(xp.negative(x), -x)
        out = torch.empty_like(x)
        assert xp.add(x, y, out=out) is out
        assert torch.equal(out, x + y)
    return torch, x, y


def test_other_values_and_memory(pair: Any) -> None:
    torch, x, y = pair
    for _ in range(3):
        a, b = torch.randn_like(x), torch.randn_like(y)
        assert torch.equal(xp.add(a, b), a + b)
        assert torch.equal(xp.add(a, -3.5), a - 3.5)


def test_one_tensor_twice(pair: Any) -> None:
    torch, x, y = pair
    for _ in range(4):
        assert torch.equal(xp.multiply(x, x), x * x)
        assert torch.equal(xp.multiply(x, y), x * y)
        assert torch.equal(xp.multiply(y, y), y * y)
        out = x.clone()
        wanted = out + y
        assert torch.equal(xp.add(out, y, out=out), wanted)
        assert torch.equal(xp.add(y, out, out=out), wanted + y)
        torch.testing.assert_close(xp.matmul(x, x), x @ x)


def test_another_layout_of_the_same_shape(pair: Any) -> None:
    torch, x, y = pair
    assert torch.equal(xp.add(x.T, y), x.T + y)
    assert torch.equal(xp.add(x, y.T), x + y.T)
    assert torch.equal(xp.negative(x.T), -x.T)
    wide = torch.randn(64, 128, device="cuda")
    assert torch.equal(xp.add(x, wide[:, ::2]), x + wide[:, ::2])


def test_a_misaligned_view_of_the_same_shape(pair: Any) -> None:
    torch, x, y = pair
    shifted = torch.randn(64 * 64 + 1, device="cuda")[1:].view(64, 64)
    assert torch.equal(xp.add(x, shifted), x + shifted)
    assert torch.equal(xp.negative(shifted), -shifted)
    out = torch.empty(64 * 64 + 1, device="cuda")[1:].view(64, 64)
    assert torch.equal(xp.add(x, y, out=out), x + y)


def test_another_dtype_of_the_same_shape(pair: Any) -> None:
    torch, x, y = pair
    assert torch.equal(xp.add(x.double(), y.double()), x.double() + y.double())
    assert torch.equal(xp.add(x, y.half()), x + y.half().float())
    wide = torch.empty(64, 64, device="cuda", dtype=torch.float64)
    assert xp.add(x, y, out=wide) is wide
    assert torch.equal(wide, (x + y).double())
    with pytest.raises(ValueError, match="out has shape"):
        xp.add(x, y, out=torch.empty(64, 64, device="cuda", dtype=torch.int32))


def test_gradients_are_recorded_where_they_are_on(pair: Any) -> None:
    torch, x, y = pair
    leaf = x.clone().requires_grad_()
    for _ in range(3):
        assert xp.add(leaf, y).requires_grad
        assert xp.negative(leaf).requires_grad
        with torch.no_grad():
            found = xp.add(leaf, y)
        assert torch.equal(found, x + y)
        assert not found.requires_grad


def test_a_lazy_negation(pair: Any) -> None:
    torch, _, _ = pair
    z = torch.randn(64, dtype=torch.complex64, device="cuda")
    real = torch.randn(64, 2, device="cuda")[:, 0]
    for _ in range(3):
        assert torch.equal(xp.negative(real), -real)
        assert torch.equal(xp.negative(z.conj().imag), z.imag)


def test_out_that_partly_overlaps(pair: Any) -> None:
    torch, _, _ = pair
    for _ in range(2):
        memory = torch.arange(8192.0, device="cuda")
        expected = memory[:4096] + memory[4096:]
        assert torch.equal(xp.add(memory[:4096], memory[4096:], out=torch.empty(4096, device="cuda")), expected)
        memory = torch.arange(8192.0, device="cuda")
        expected = memory[:4096] + memory[4:4100]
        assert torch.equal(xp.add(memory[:4096], memory[4:4100], out=memory[8:4104]), expected)
        memory = torch.arange(8192.0, device="cuda")
        expected = memory[:4096] + memory[4096:]
        assert torch.equal(xp.add(memory[:4096], memory[4096:], out=memory[:4096]), expected)


def test_integers_out_of_range(cuda_torch: Any) -> None:
    x = cuda_torch.ones(16, dtype=cuda_torch.uint8, device="cuda")
    for _ in range(3):
        assert xp.add(x, 3).tolist() == [4] * 16
        with pytest.raises(OverflowError, match="add: x2 is 300"):
            xp.add(x, 300)


def test_under_a_transform(pair: Any) -> None:
    torch, x, _ = pair
    for _ in range(2):
        assert torch.equal(torch.func.vmap(lambda row: xp.negative(row))(x), -x)


def test_a_row_that_broadcasts_is_no_matrix(cuda_torch: Any) -> None:
    """The steady state of a matrix and a row is not used for two matrices, nor the reverse."""
    torch = cuda_torch
    x, matrix = (torch.randn(33, 65, device="cuda") for _ in range(2))
    row = torch.randn(65, device="cuda")
    for _ in range(3):
        for y in (row, row, matrix, matrix, row):
            assert torch.equal(xp.add(x, y), x + y)
            assert torch.equal(xp.subtract(y, x), y - x)
