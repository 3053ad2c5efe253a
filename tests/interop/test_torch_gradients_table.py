"""Every public function is differentiable, or has results without a gradient, or refuses tensors that require grad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import xpops as xp
from tests.helpers.gradient_cases import CASES
from tests.helpers.rows import function_of
from xpops.ops.elementwise import OF_NUMPY, OPERATORS
from xpops.ops.operator import Operator

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("on_torch_device", "fused_backward")

DIFFERENTIABLE = {case.name for case in CASES}
# The results are booleans, integers or new arrays, as in torch.
CONSTANT: dict[str, Callable[[Any], Any]] = {
    "all": xp.all,
    "any": xp.any,
    "argmax": xp.argmax,
    "argmin": xp.argmin,
    "argsort": xp.argsort,
    "count_nonzero": xp.count_nonzero,
    "equal": lambda x: xp.equal(x, 1.0),
    "greater": lambda x: xp.greater(x, 1.0),
    "greater_equal": lambda x: xp.greater_equal(x, x),
    "isfinite": xp.isfinite,
    "isin": lambda x: xp.isin(x, x),
    "isinf": xp.isinf,
    "isnan": xp.isnan,
    "less": lambda x: xp.less(x, 1.0),
    "less_equal": lambda x: xp.less_equal(1.0, x),
    "logical_and": lambda x: xp.logical_and(x, x),
    "logical_not": xp.logical_not,
    "logical_or": lambda x: xp.logical_or(x, x),
    "logical_xor": lambda x: xp.logical_xor(x, x),
    "matrix_rank": xp.linalg.matrix_rank,
    "nanargmax": xp.nanargmax,
    "nanargmin": xp.nanargmin,
    "nonzero": lambda x: xp.nonzero(x)[0],
    "not_equal": lambda x: xp.not_equal(x, 1.0),
    "searchsorted": lambda x: xp.searchsorted(x[0], x),
    "signbit": xp.signbit,
    "empty_like": xp.empty_like,
    "full_like": lambda x: xp.full_like(x, 2.0),
    "ones_like": xp.ones_like,
    "zeros_like": xp.zeros_like,
}
# Torch has no gradient of these either, or the result is an xpops array, which records nothing.
REFUSED: dict[str, Callable[[Any], Any]] = {
    "asarray": xp.asarray,
    "broadcast_arrays": lambda x: xp.broadcast_arrays(x, x),
    "ellipk": xp.special.ellipk,
    "ellipkm1": xp.special.ellipkm1,
    "floor_divide": lambda x: xp.floor_divide(x, x),
    "from_dlpack": xp.from_dlpack,
    "full": lambda x: xp.full((2,), x[0, 0]),
    "graph": xp.graph(xp.exp),
    "histogram": xp.nn.histogram,
    "meshgrid": lambda x: xp.meshgrid(x[0], x[1]),
    "multigammaln": lambda x: xp.special.multigammaln(x, 2),
    "unique_all": xp.unique_all,
    "unique_counts": xp.unique_counts,
    "unique_inverse": xp.unique_inverse,
    "unique_values": xp.unique_values,
    "zetac": xp.special.zetac,
}
# No operand can require grad: they take no array, only integers, or describe a dtype. `fuse` takes functions.
OTHER = {
    "__array_namespace_info__", "allow_host_copies", "arange", "bincount", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "broadcast_shapes", "can_cast",
    "default_device", "empty", "eye", "fftfreq", "finfo", "fuse", "get_include", "iinfo", "isdtype", "linspace", "ones",
    "result_type", "rfftfreq", "set_default_device", "stream", "zeros",
}  # fmt: skip
PUBLIC = {
    name
    for namespace in (xp, xp.nn, xp.linalg, xp.fft, xp.special)
    for name in namespace.__all__
    if callable(getattr(namespace, name)) and not isinstance(getattr(namespace, name), type)
}


def test_every_function_is_in_one_class() -> None:
    classes = (
        DIFFERENTIABLE - {"gelu_tanh", "frexp", *(op.name for op in OF_NUMPY)},
        CONSTANT.keys(),
        REFUSED.keys(),
        OTHER,
    )
    assert sorted(name for each in classes for name in each) == sorted(PUBLIC)


@pytest.mark.parametrize("name", CONSTANT)
def test_results_without_a_gradient(name: str) -> None:
    x = torch.tensor([[1.0, 2.0], [0.0, 4.0]], requires_grad=True)
    for _ in range(2):
        assert not getattr(CONSTANT[name](x), "requires_grad", False)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    for _ in range(2):
        with pytest.raises((TypeError, BufferError), match=r"requires? grad"):
            REFUSED[name](x)
    with torch.no_grad():
        if name != "from_dlpack":  # torch does not export tensors that require grad
            REFUSED[name](x)


@pytest.mark.parametrize("scalar", [True, 2, -1.5])
@pytest.mark.parametrize("op", [op for op in OPERATORS.values() if op.arity == 2 and op.derivatives], ids=str)
def test_the_gradient_beside_a_scalar_is_that_beside_an_array(op: Operator, scalar: Any) -> None:
    x, like = torch.rand(5, dtype=torch.float64) + 0.5, torch.full((5,), float(scalar), dtype=torch.float64)
    for place in (0, 1):
        leaf = x.clone().requires_grad_()
        beside = [function_of(op)(*((leaf, y) if place == 0 else (y, leaf))) for y in (scalar, like)]
        given, wanted = (torch.autograd.grad(each.sum(), leaf)[0] for each in beside)
        torch.testing.assert_close(given, wanted, equal_nan=True)
