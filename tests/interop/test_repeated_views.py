"""Views from one call site: the compiled core remembers what the site passed last, and the array's class and shape."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.dispatch import steady

torch: Any = pytest.importorskip("torch")

MAKERS: dict[str, Callable[[Any], Any]] = {
    "torch": torch.from_numpy,
    "parameter": lambda x: torch.nn.Parameter(torch.from_numpy(x.astype(np.float64))),
    "numpy": lambda x: x,
    "xpops": xp.asarray,
}
SHAPES = (4, 6), (6, 4), (2, 3, 4), (24,), (4, 0, 6)


def arrays() -> list[tuple[Any, Any]]:
    """Arrays as NumPy holds them, and of each framework; dense, transposed, and of other dtypes."""
    dense = [np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape) for shape in SHAPES for dtype in ("f4", "i8")]
    every = [*dense, *(each.T for each in dense)]
    return [(x, make(x.copy(order="K"))) for x, make in itertools.product(every, MAKERS.values())]


def values(x: Any) -> Any:
    return x.to_numpy() if isinstance(x, xp.Array) else np.asarray(x.detach() if isinstance(x, torch.Tensor) else x)


CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "reshape": (lambda x: xp.reshape(x, (-1,)), lambda x: x.reshape(-1)),
    "matrix_transpose": (xp.matrix_transpose, lambda x: np.swapaxes(x, -1, -2)),
    "permute_dims": (
        lambda x: xp.permute_dims(x, tuple(reversed(range(x.ndim)))),
        lambda x: np.transpose(x, tuple(reversed(range(x.ndim)))),
    ),
    "diagonal": (lambda x: xp.linalg.diagonal(x, offset=1), lambda x: np.diagonal(x, 1, -2, -1)),
    "broadcast_to": (
        lambda x: xp.broadcast_to(x, (3, *x.shape)),
        lambda x: np.broadcast_to(x, (3, *x.shape)),
    ),
    "expand_dims": (lambda x: xp.expand_dims(x, axis=-1), lambda x: np.expand_dims(x, -1)),
    "moveaxis": (lambda x: xp.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("step", [1, 7, 11])
def test_arrays_in_any_order_have_their_own_view(name: str, step: int) -> None:
    call, expected = CALLS[name]
    found = arrays()
    for number in [*range(len(found)), *(place * step % len(found) for place in range(2 * len(found)))]:
        host, x = found[number]
        if host.ndim < 2 and name in ("matrix_transpose", "diagonal"):
            with pytest.raises(ValueError, match="two axes"):
                call(x)
            continue
        result = call(x)
        assert isinstance(result, torch.Tensor) == isinstance(x, torch.Tensor)
        np.testing.assert_array_equal(values(result), expected(host), strict=not isinstance(x, torch.nn.Parameter))
        assert getattr(result, "requires_grad", False) == isinstance(x, torch.nn.Parameter)


def test_the_parameters_of_a_call_site_may_change() -> None:
    x = torch.arange(24).reshape(4, 6)
    for shape in [(24,), (2, 12), (2, 12), (3, 8), (24, 1), (1, 24)] * 3:
        for given in (shape, [*shape], tuple(map(np.int64, shape))):
            assert xp.reshape(x, given).shape == shape
    for axis in [0, 1, True, 2, -1, (0, 1), [0, 1], np.int64(1)] * 3:
        if axis is True:
            with pytest.raises(TypeError, match="axis is True"):
                xp.expand_dims(x, axis=axis)
            continue
        expected = np.expand_dims(np.asarray(x), tuple(axis) if isinstance(axis, (list, tuple)) else int(axis))
        assert xp.expand_dims(x, axis=axis).shape == expected.shape
    for shape in [(2, 12), (5, 5), (2, 12)]:
        if shape == (5, 5):
            with pytest.raises(ValueError, match="reshape"):
                xp.reshape(x, shape)
        else:
            assert xp.reshape(x, shape).shape == shape


def test_views_that_are_forgotten_are_planned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.arange(6).reshape(2, 3)
    for _ in range(3):
        xp.reshape(x, (3, 2))
    steady.forget_views()
    planned: list[Any] = []
    remember = steady.remember_view
    monkeypatch.setattr("xpops.arrays.viewing.remember_view", lambda *given: (planned.append(given), remember(*given)))
    for _ in range(3):
        xp.reshape(x, (3, 2))
    assert len(planned) == 1


def test_views_within_transforms_are_those_of_the_transform() -> None:
    x = torch.arange(24.0).reshape(4, 6)
    for _ in range(3):
        assert xp.reshape(x, (6, 4)).shape == (6, 4)
        batched = torch.func.vmap(lambda row: xp.reshape(row, (3, 2)))(x)
        assert torch.equal(batched, x.reshape(4, 3, 2))
        assert torch.equal(torch.func.grad(lambda y: torch.sum(xp.reshape(y, (6, 4)) ** 2))(x), 2 * x)
