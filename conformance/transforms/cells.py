"""The cells of a call that torch fills: each is a function that raises an error if the call does not do its part."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch._dynamo
from torch.fx import Interpreter
from torch.fx.experimental.proxy_tensor import make_fx

from tests.helpers.gradients import NONDETERMINISM, Case, operands


class LeftOut(Exception):
    """The cell does not apply to the call. The message is the reason."""


Cell = Callable[[Case, str], None]

# Such a function needs float32 or wider, here or in torch.
_WIDE = "torch or xpops has no function of this dtype"


def last(results: Any) -> Any:
    """The last result, which is the logarithm of a determinant if there are several."""
    return results[-1] if isinstance(results, tuple) else results


def size(results: Any) -> Any:
    """The sum of the squares of all results."""
    every = results if isinstance(results, tuple) else (results,)
    return sum((abs(each) ** 2).sum() for each in every)


def given(case: Case, dtype: torch.dtype, device: str) -> list[torch.Tensor]:
    """The operands. LeftOut if the call takes none of this dtype."""
    if dtype.is_complex and not case.complex:
        raise LeftOut("takes no complex operands")
    return operands(case, dtype, device)


def require_fixed_shapes(case: Case) -> None:
    """LeftOut if the shape of the result depends on values: `repeat` by an array."""
    if case.sized_by_values:
        raise LeftOut("the shape of the result depends on values")


def derivatives(dtype: torch.dtype, case: Case, device: str) -> None:
    """First and second derivatives, against finite differences."""
    x = given(case, dtype, device)
    assert torch.autograd.gradcheck(case.call, x, fast_mode=True, nondet_tol=NONDETERMINISM)
    assert torch.autograd.gradgradcheck(case.call, x, fast_mode=True, nondet_tol=NONDETERMINISM)


def gradients(dtype: torch.dtype, case: Case, device: str) -> None:
    """Gradients, against those of torch's own function in float64."""
    x = given(case, dtype, device)
    if case.theirs is None:
        raise LeftOut("torch has no such function")
    wide = [each.detach().to(torch.float64).requires_grad_() for each in x]
    try:
        made, expected = last(case.call(*x)), last(case.theirs(*wide))
    except TypeError as error:
        if "accepted" in str(error) and dtype.itemsize == 2:
            raise LeftOut(_WIDE) from error
        raise
    seed = torch.linspace(-1.0, 2.0, expected.numel(), dtype=torch.float64, device=device).reshape(expected.shape)
    theirs = torch.autograd.grad(expected, wide, seed.to(expected.dtype), allow_unused=True)
    ours = torch.autograd.grad(made, x, seed.to(made.dtype))
    allowed = {torch.float16: 2.0**-8, torch.bfloat16: 2.0**-5}.get(dtype, 2e-5)
    for mine, other, each in zip(ours, theirs, x, strict=True):
        wanted = torch.zeros_like(mine) if other is None else other
        assert (mine.shape, mine.dtype) == (each.shape, each.dtype)
        difference = float((mine.to(torch.float64) - wanted).abs().max())
        scale = max(1.0, float(wanted.abs().max()))
        assert difference <= allowed * scale, f"differs by {difference / scale:.1e}"


class _Checked(Interpreter):  # type: ignore[misc]
    """Runs a program, and torch's own checks on each operator of xpops in it."""

    count = 0

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is torch.ops.xpops.call.default:
            name, words, arrays, *scalars = args
            arrays = [x.detach().requires_grad_(x.is_floating_point() or x.is_complex()) for x in arrays]
            torch.library.opcheck(target, (name, words, arrays, *scalars), kwargs)
            self.count += 1
        return super().call_function(target, args, kwargs)


def opcheck(dtype: torch.dtype, case: Case, device: str) -> None:
    """`torch.library.opcheck` of the operators of the call."""
    x = [each.detach() for each in given(case, dtype, device)]
    require_fixed_shapes(case)
    program = make_fx(lambda *x: case.call(*x), tracing_mode="fake")(*x)
    checked = _Checked(program)
    with torch.no_grad():
        checked.run(*x)
    if not checked.count:
        raise LeftOut("is an operator of torch's own")


def compiled(backend: str, dtype: torch.dtype, dynamic: bool, case: Case, device: str) -> None:
    """`torch.compile` with one program, forwards and backwards, twice."""
    require_fixed_shapes(case)
    torch._dynamo.reset()
    function = torch.compile(case.call, backend=backend, fullgraph=True, dynamic=dynamic)
    for _ in range(2):
        x, y = given(case, dtype, device), given(case, dtype, device)
        found, expected = function(*x), case.call(*y)
        torch.testing.assert_close(found, expected)
        ours = torch.autograd.grad(size(found), x, allow_unused=True)
        torch.testing.assert_close(ours, torch.autograd.grad(size(expected), y, allow_unused=True))


def vmap(dtype: torch.dtype, case: Case, device: str) -> None:
    """`torch.func.vmap`, alone and of `torch.func.grad`: those of each element of a batch."""
    plain = [x.detach() for x in given(case, dtype, device)]
    batch = [torch.stack([x, x * 0.75 + (0 if dtype.is_complex else 0.1), x]) for x in plain]

    def rows(function: Any) -> torch.Tensor:
        return torch.stack([function(*(x[row] for x in batch)) for row in range(3)])

    def call(*x: Any) -> Any:
        return last(case.call(*x))

    torch.testing.assert_close(torch.func.vmap(call)(*batch), rows(call))
    slope = torch.func.grad(lambda *x: size(call(*x)))
    torch.testing.assert_close(torch.func.vmap(slope)(*batch), rows(slope))


def jvp(dtype: torch.dtype, case: Case, device: str) -> None:
    """`torch.func.jvp`, alone and twice in one program of `torch.compile`: the tangents of two reverse passes."""
    x = tuple(each.detach() for each in given(case, dtype, device))
    require_fixed_shapes(case)
    along = tuple(torch.roll(each, 1, 0) + 0.5 for each in x)

    def call(*x: Any) -> Any:
        return last(case.call(*x))

    def tangents(*x: Any) -> Any:
        return torch.func.jvp(call, x, along)[1]

    wanted = torch.autograd.functional.jvp(call, x, along)[1]
    torch._dynamo.reset()
    program = torch.compile(tangents, backend="aot_eager", fullgraph=True)
    for function in (tangents, program, program):
        torch.testing.assert_close(function(*x), wanted)


CELLS: dict[str, Cell] = {
    "derivatives float64": partial(derivatives, torch.float64),
    "derivatives complex128": partial(derivatives, torch.complex128),
    "gradients float32": partial(gradients, torch.float32),
    "gradients float16": partial(gradients, torch.float16),
    "gradients bfloat16": partial(gradients, torch.bfloat16),
    "opcheck float64": partial(opcheck, torch.float64),
    "compile float64": partial(compiled, "aot_eager", torch.float64, False),
    "compile complex128": partial(compiled, "aot_eager", torch.complex128, False),
    "compile dynamic float64": partial(compiled, "aot_eager", torch.float64, True),
    "compile inductor float32": partial(compiled, "inductor", torch.float32, False),
    "torch.func.vmap float64": partial(vmap, torch.float64),
    "torch.func.jvp float64": partial(jvp, torch.float64),
    "torch.func.jvp complex128": partial(jvp, torch.complex128),
}
