"""Calls within `torch.compile` and `torch.export`: results and gradients are those of the same calls outside of them.

`python -m conformance.transforms` compiles every differentiable function; here are some of them.
"""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops as xp
import xpops.numpy
from tests.helpers.gradient_cases import CASES
from tests.helpers.gradients import Case
from tests.helpers.numpy_calls import CALLS as NUMPY_CALLS
from tests.helpers.numpy_calls import OPERANDS
from xpops.api.compilation import _LEFT_OUT, functions_of
from xpops.testing import to_numpy

torch = pytest.importorskip("torch")

from conformance.transforms.cells import CELLS, LeftOut  # noqa: E402  it imports torch

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning:torch"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]
SAMPLE = [pytest.param(case, id=f"{number}-{case.name}") for number, case in enumerate(CASES) if number % 13 == 5]


def index(x: Any) -> Any:
    return torch.tensor([2, 0, -1], device=x.device)


@xp.fuse
def swish(x: Any, scale: float) -> Any:
    return x / (1 + xp.exp(-scale * x))


@xp.fuse
def rms_norm(x: Any) -> Any:
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """No programs of other tests, the same numbers, and no messages of the compiler about errors that tests expect."""
    torch._dynamo.reset()
    torch.manual_seed(7)
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    return torch.compile(function, **{"backend": "aot_eager", "fullgraph": True, **options})


def agree(function: Any, wanted: Callable[..., Any], *given: Any) -> None:
    """Results and gradients are the same."""
    results, slopes = [], []
    for each in (function, wanted):
        x = [v.detach().clone().requires_grad_() if isinstance(v, torch.Tensor) else v for v in given]
        results.append(each(*x))
        tensors = [v for v in x if isinstance(v, torch.Tensor)]
        slopes.append(torch.autograd.grad((results[-1] ** 2).sum(), tensors))
    is_double = results[0].dtype == torch.float64
    bounds = {"rtol": 1e-9, "atol": 1e-9} if is_double else {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(*results, **bounds)
    torch.testing.assert_close(*slopes, **bounds)


@pytest.mark.parametrize("case", SAMPLE)
@pytest.mark.parametrize(
    "cell", ["compile float64", "compile dynamic float64", "torch.func.jvp float64", "opcheck float64"]
)
def test_cells_of_the_matrix(case: Case, cell: str, torch_device: Any) -> None:
    try:
        CELLS[cell](case, torch_device)
    except LeftOut:
        assert cell.startswith("opcheck")  # the call is an operator of torch's own


def test_inductor(torch_device: str) -> None:
    def block(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        hidden = rms_norm(xp.nn.gelu(xp.matmul(x, weight))) * 2 + 1
        return xp.nn.softmax(hidden) + xp.sum(hidden, axis=-1, keepdims=True)

    def wanted(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        hidden = torch.nn.functional.gelu(x @ weight)
        hidden = hidden / torch.sqrt((hidden * hidden).mean(-1, keepdim=True) + 1e-6) * 2 + 1
        return hidden.softmax(-1) + hidden.sum(-1, keepdim=True)

    function = compiled(block, backend="inductor")
    for _ in range(2):  # in float64, since the gradient of torch in float32 may lose all digits of a small row
        agree(
            function,
            wanted,
            torch.randn(4, 6, device=torch_device).double(),
            torch.randn(6, 5, device=torch_device).double(),
        )


DYNAMIC: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (lambda x, n: xp.add(x, x[0]), lambda x, n: x + x[0]),
    "multiply by a size": (lambda x, n: xp.multiply(x, n), lambda x, n: x * n),
    "sum": (lambda x, n: xp.sum(x, axis=1), lambda x, n: x.sum(1)),
    "sum along a list": (lambda x, n: xp.sum(x, axis=[0, 1]), lambda x, n: x.sum()),
    "mean": (lambda x, n: xp.mean(x, axis=0), lambda x, n: x.mean(0)),
    "softmax": (lambda x, n: xp.nn.softmax(x), lambda x, n: x.softmax(-1)),
    "matmul": (lambda x, n: xp.matmul(x, xp.permute_dims(x, (1, 0))), lambda x, n: x @ x.T),
    "concat": (lambda x, n: xp.concat([x, x, x[:2]]), lambda x, n: torch.cat([x, x, x[:2]])),
    "pad": (lambda x, n: xp.pad(x, ((1, 2), (0, 3))), lambda x, n: torch.nn.functional.pad(x, (0, 3, 1, 2))),
    "reshape": (lambda x, n: xp.reshape(x, (x.shape[1], -1)), lambda x, n: x.reshape(x.shape[1], -1)),
    "broadcast_to": (lambda x, n: xp.broadcast_to(x, (2, *x.shape)), lambda x, n: x.broadcast_to((2, *x.shape))),
    "diff": (lambda x, n: xp.diff(x, axis=0), lambda x, n: x.diff(dim=0)),
    "take": (lambda x, n: xp.take(x, index(x), axis=1), lambda x, n: x[:, index(x)]),
    "vector_norm": (lambda x, n: xp.linalg.vector_norm(x, axis=1), lambda x, n: x.norm(dim=1)),
}
# Sizes that are not linear, or that are parameters of the call: other sizes need another program.
SPECIALISED: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "svdvals": (xp.linalg.svdvals, torch.linalg.svdvals),
    "flatten": (lambda x: xp.concat([x, x], axis=None), lambda x: torch.cat([x.ravel(), x.ravel()])),
    "take_along_axis": (
        lambda x: xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1),
        lambda x: x.gather(1, x.argsort(1)),
    ),
    "tile": (lambda x: xp.tile(x, (x.shape[0], 1)), lambda x: x.tile((x.shape[0], 1))),
    "pad by a size": (lambda x: xp.pad(x, x.shape[0]), lambda x: torch.nn.functional.pad(x, (x.shape[0],) * 4)),
    "pad by reflection": (
        lambda x: xp.pad(x, 1, "reflect"),
        lambda x: torch.nn.functional.pad(x[None, None], (1,) * 4, mode="reflect")[0, 0],
    ),
    "nanmean": (lambda x: xp.nanmean(x, axis=1), lambda x: x.nanmean(1)),
    "fuse": (lambda x: swish(x, 0.5), lambda x: x * torch.sigmoid(0.5 * x)),
    "median": (lambda x: xp.median(x, axis=1), lambda x: x.median(1).values),
    "quantile": (lambda x: xp.quantile(x, 0.3, axis=1), lambda x: x.quantile(0.3, 1)),
    "one row": (lambda x: xp.take(x, x.shape[0] - 1, axis=0), lambda x: x[-1]),
}


@pytest.mark.parametrize("name", DYNAMIC)
def test_one_program_takes_all_sizes(name: str, torch_device: str) -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    ours, theirs = DYNAMIC[name]
    counter = CompileCounterWithBackend("aot_eager")
    function = compiled(ours, backend=counter, dynamic=True)
    for rows in (4, 7, 6):
        agree(function, theirs, torch.rand(rows, 5, device=torch_device), rows)
    assert counter.frame_count == 1


@pytest.mark.parametrize("name", SPECIALISED)
def test_other_sizes_need_another_program(name: str, torch_device: str) -> None:
    ours, theirs = SPECIALISED[name]
    function = compiled(ours, dynamic=True)
    for rows in (3, 7, 4, 3):
        agree(function, theirs, torch.rand(rows, 5, device=torch_device))


def test_scalar_arguments(torch_device: str) -> None:
    function = compiled(lambda x, a, n: swish(xp.clip(xp.multiply(x, n), -a, a), a), dynamic=True)
    for a, n in ((0.5, 2), (0.75, 3), (1.5, 2)):
        agree(
            function,
            lambda x, a, n: (x * n).clamp(-a, a) * torch.sigmoid(a * (x * n).clamp(-a, a)),
            torch.rand(3, device=torch_device),
            a,
            n,
        )


def test_fused_functions_within_functions_and_by_name(torch_device: str) -> None:
    cube = xp.fuse(lambda x, *, power: x**power)
    function = compiled(lambda x: cube(x, power=3) + xp.fft.irfft(xp.fft.rfft(x)))
    agree(function, lambda x: x**3 + x, torch.rand(3, 4, device=torch_device))


def test_several_results_and_arguments_without_a_gradient(torch_device: str) -> None:
    def ours(x: torch.Tensor) -> torch.Tensor:
        found = xp.nn.topk(x, 2)
        chosen = xp.where(xp.greater(x, 0.5), x, 0.0)
        return (
            found.values + xp.sum(chosen) + xp.astype(xp.argmax(x), xp.float32) + xp.astype(found.indices, xp.float32)
        )

    def theirs(x: torch.Tensor) -> torch.Tensor:
        values, indices = x.topk(2)
        return values + torch.where(x > 0.5, x, 0.0).sum() + x.argmax() + indices

    function = compiled(ours)
    for _ in range(2):
        agree(function, theirs, torch.rand(3, 4, device=torch_device))


def test_transforms_of_torch_within_a_program(torch_device: str) -> None:
    def squares(x: torch.Tensor) -> Any:
        return xp.sum(xp.exp(xp.multiply(x, x)))

    func, x = torch.func, torch.rand(3, 4, device=torch_device)
    slope = 2 * x * (x * x).exp()
    torch.testing.assert_close(compiled(lambda x: func.grad(squares)(x))(x), slope)
    torch.testing.assert_close(compiled(lambda x: func.vmap(func.grad(squares))(x))(x), slope)
    torch.testing.assert_close(compiled(lambda x: func.vmap(xp.nn.softmax)(x))(x), x.softmax(-1))
    xp.matrix_transpose(x)  # in a program the remembered view has symbolic sizes
    flipped = compiled(lambda x: func.grad(lambda y: (xp.matrix_transpose(y) ** 2).sum())(x), dynamic=True)
    torch.testing.assert_close(flipped(x), 2 * x)
    twice = compiled(lambda x: func.grad(lambda y: func.grad(squares)(y).sum())(x))(x)
    torch.testing.assert_close(twice, (2 + 4 * x * x) * (x * x).exp())


# Functions that use their operands, results, indices and constants in derivatives.
FORWARD: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "elementwise": (lambda x: xp.multiply(xp.exp(x), xp.sin(x)), lambda x: x.exp() * x.sin()),
    "softmax": (lambda x: xp.nn.softmax(xp.multiply(x, x)) * x, lambda x: torch.softmax(x * x, -1) * x),
    "matmul": (lambda x: xp.matmul(x, xp.matrix_transpose(x)), lambda x: x @ x.mT),
    "topk": (lambda x: xp.nn.topk(xp.multiply(x, x), 2)[0], lambda x: (x * x).topk(2).values),
    "take_along_axis": (lambda x: xp.take_along_axis(x * x, xp.argsort(x)), lambda x: (x * x).gather(-1, x.argsort())),
    "fuse": (lambda x: swish(x, 0.5), lambda x: x * torch.sigmoid(0.5 * x)),
}
TRANSFORMS: dict[str, Callable[..., Any]] = {
    "jvp": lambda f, x, t: torch.func.jvp(f, (x,), (t,)),
    "jacfwd": lambda f, x, t: torch.func.jacfwd(f)(x),
    "hessian": lambda f, x, t: torch.func.hessian(lambda v: f(v).sum())(x),
    "jvp of grad": lambda f, x, t: torch.func.jvp(torch.func.grad(lambda v: f(v).sum()), (x,), (t,)),
    "jvp of jvp": lambda f, x, t: torch.func.jvp(lambda v: torch.func.jvp(f, (v,), (t,))[1], (x,), (t,)),
    "vmap of jvp": lambda f, x, t: torch.func.vmap(
        lambda v, u: torch.func.jvp(lambda w: f(w[None]), (v,), (u,))[1], (1, 1)
    )(x, t),
}


@pytest.mark.parametrize("function", FORWARD)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_forward_derivatives_within_a_program(function: str, transform: str, torch_device: str) -> None:
    (ours, theirs), derive = FORWARD[function], TRANSFORMS[transform]
    program = compiled(lambda x, t: derive(ours, x, t), dynamic=transform == "jvp of jvp")
    for _ in range(2):
        x, t = (
            torch.rand(3, 4, dtype=torch.float64, device=torch_device),
            torch.rand(3, 4, dtype=torch.float64, device=torch_device),
        )
        wanted = derive(theirs, x, t)
        torch.testing.assert_close(derive(ours, x, t), wanted)
        torch.testing.assert_close(program(x, t), wanted)


def test_the_operator_has_a_rule_for_vmap(torch_device: str) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    x = torch.rand(3, 4, device=torch_device)
    cases = [
        (lambda v: xp.exp(v), x.exp()),
        (lambda v: xp.multiply(v, 2.5), x * 2.5),
        (lambda v: xp.sum(v), x.sum(1)),
        (lambda v: xp.nn.topk(v, 2)[0], x.topk(2).values),
    ]
    for function, wanted in cases:
        program = make_fx(function, tracing_mode="fake")(x[0])
        assert "xpops.call" in program.code
        torch.testing.assert_close(torch.func.vmap(program)(x), wanted)


def test_shapes_that_depend_on_values_end_a_program(torch_device: str) -> None:
    def ours(x: torch.Tensor) -> torch.Tensor:
        return xp.sum(xp.nonzero(xp.exp(x) - 1)[0].float()) + xp.sum(x)

    device = str(torch_device)  # the compiler of torch 2.11 takes no other class of devices
    x = torch.tensor([1.0, 0.0, 3.0], device=device)
    torch.testing.assert_close(compiled(ours, fullgraph=False)(x), torch.tensor(6.0, device=device))
    for function in (
        ours,
        lambda x: xp.unique_values(x),
        lambda x: xp.repeat(x, torch.tensor([1, 0, 2], device=device)),
    ):
        torch._dynamo.reset()
        with pytest.raises(torch._dynamo.exc.Unsupported, match="output shape depends on input"):
            compiled(function)(x)
        torch.testing.assert_close(compiled(function, fullgraph=False)(x), function(x))


def test_what_the_compiler_does_not_take(torch_device: str) -> None:
    x = torch.rand(3, device=torch_device)
    made = compiled(lambda x: xp.exp(x) + torch.from_dlpack(xp.zeros_like(x)), fullgraph=False)(x)
    torch.testing.assert_close(made, x.exp())
    with pytest.raises(torch._dynamo.exc.Unsupported, match="zeros_like"):
        compiled(lambda x: xp.zeros_like(x))(x)
    with pytest.raises(
        RuntimeError, match="exp: out cannot be written in a traced call; accepted: the call without out"
    ):
        compiled(lambda x: xp.exp(x, out=torch.empty_like(x)))(x.clone().requires_grad_())
    with pytest.raises(RuntimeError, match="floor_divide: x1 needs a gradient, and there is none by it"):
        compiled(lambda x: xp.floor_divide(x, 2.0))(x.clone().requires_grad_())
    wrong = IndexError, torch._dynamo.exc.TorchRuntimeError  # torch 2.11 raises the latter
    with pytest.raises(wrong, match=r"sum: axis is 5; accepted: -1 to 0"):
        compiled(lambda x: xp.sum(x, axis=5))(x)


WRITES: dict[str, Callable[[torch.Tensor, torch.Tensor], Any]] = {
    "result": lambda x, out: xp.add(x, x, out=out),
    "result left out": lambda x, out: (xp.add(x, x, out=out), x * 2)[1],
    "twice": lambda x, out: (xp.add(x, x, out=out), xp.exp(out, out=out), out.sum())[2],
    "overlapping": lambda x, out: (xp.multiply(x[1:], 2, out=x[:-1]), x.sum())[1],
    "row": lambda x, out: xpops.numpy.sum(x, 0, out=out[0]),
    "broadcast": lambda x, out: xpops.numpy.negative(x[0], out=out[1]) + out[0],
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_out(name: str, dynamic: bool, backend: str, torch_device: str) -> None:
    function = compiled(WRITES[name], dynamic=dynamic, backend=backend)
    for rows in (4, 5):
        for dtype in (torch.float32, torch.float64):
            x = torch.rand(rows, 5, device=torch_device)
            out = torch.zeros(rows, 5, dtype=dtype, device=torch_device)
            given, wanted = (x.clone(), out.clone()), (x.clone(), out.clone())
            torch.testing.assert_close(function(*given), WRITES[name](*wanted))
            torch.testing.assert_close(given, wanted)


@pytest.mark.parametrize(("shape", "dtype"), [((3, 4), torch.float32), ((3,), torch.int32)])
def test_out_that_does_not_fit(shape: tuple[int, ...], dtype: torch.dtype, torch_device: str) -> None:
    x, out = torch.rand(3, device=torch_device), torch.zeros(shape, dtype=dtype, device=torch_device)
    message = rf"exp: out has shape {re.escape(str(shape))} and dtype \w+; accepted: shape \(3,\) and dtype float32"
    for call in (xp.exp, compiled(lambda x, out: xp.exp(x, out=out))):
        with pytest.raises((ValueError, torch._dynamo.exc.TorchRuntimeError), match=message):
            call(x, out=out)
    assert not out.any()


def test_numpy_scalars_and_what_is_no_operand(torch_device: str) -> None:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(3, device=torch_device)
        assert xp.add(fake, np.float32(2)).dtype == torch.float32
        assert xp.multiply(np.int64(2), fake).dtype == torch.float32
        with pytest.raises(TypeError, match="add: x2 is a str"):
            xp.add(fake, "1")


def kernels() -> tuple[Any, Any, Any, Any]:
    """A kernel of each kind that users write."""
    triple = xp.kernel.ElementwiseKernel("T x", "T y", "y = 3 * x", "triple")
    norm = xp.kernel.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    total = xp.kernel.ScanKernel("T x", "T y", "x", "a + b", "y = a", "total")
    copy = xp.kernel.functor("struct Copy { template <class T> XPOPS_DEVICE T operator()(T x) const { return x; } };")
    return triple, norm, total, copy


@pytest.mark.parametrize("number", range(4))
def test_kernels_of_users(number: int, torch_device: str) -> None:
    kernel = kernels()[number]
    x = torch.linspace(-2, 3, 12, device=torch_device)
    wanted = (3 * x, (x * x).sum().sqrt(), x.cumsum(0), x)[number]
    for call in (kernel, lambda x: kernel(x) + 1):
        for _ in range(2):
            if torch_device == "cpu":
                with pytest.raises(xp.DeviceError, match=f"{kernel.__name__}: the arrays are on cpu"):
                    compiled(call)(x)
            else:
                torch.testing.assert_close(compiled(call)(x), wanted + (0 if call is kernel else 1))


def test_fake_tensors(torch_device: str) -> None:
    from torch._subclasses import FakeTensorMode

    triple, norm, total, cube = kernels()
    with FakeTensorMode():
        fake = torch.ones(3, 4, device=torch_device)
        for _ in range(2):
            results = [xp.add(fake, 1), triple(fake), norm(fake, axis=1), total(fake, axis=0), cube(fake)]
            assert [tuple(each.shape) for each in results] == [(3, 4), (3, 4), (3,), (3, 4), (3, 4)]
            assert all(type(each) is type(fake) and each.dtype == torch.float32 for each in results)


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1, 1, 15).reshape(5, 3))

    def forward(self, x: torch.Tensor) -> Any:
        return xp.nn.softmax(xp.matmul(x, self.weight)) + xp.linalg.vector_norm(xp.nansum(x, axis=1), ord=3)


LOADER = """
import sys, torch, xpops
print(torch.export.load(sys.argv[1]).module()(torch.ones(6, 5, device=sys.argv[2])).sum().item())
"""


@pytest.mark.parametrize("strict", [False, True])
def test_programs_are_saved_and_loaded_by_another_process(strict: bool, tmp_path: Path, torch_device: str) -> None:
    block, path = Block().to(torch_device), tmp_path / "block.pt2"
    program = torch.export.export(
        block, (torch.rand(4, 5, device=torch_device),), dynamic_shapes=({0: torch.export.Dim("rows")},), strict=strict
    )
    x = torch.rand(7, 5, device=torch_device)
    torch.testing.assert_close(program.module()(x), block(x))
    if not strict:
        torch.export.save(program, path)
        command = [sys.executable, "-c", LOADER, str(path), str(torch_device)]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert float(found) == pytest.approx(block(torch.ones(6, 5, device=torch_device)).sum().item(), rel=1e-5)


@pytest.mark.parametrize("first", ["import xpops as xp, torch", "import torch._dynamo, xpops as xp"])
def test_any_order_of_imports(first: str) -> None:
    program = f"""
    import sys
    {first}
    early = "torch._dynamo" in sys.modules
    function = torch.compile(lambda x: xp.exp(x), backend="aot_eager", fullgraph=True)
    print(early, function(torch.zeros(2)).tolist())
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert found == f"{'_dynamo' in first} [1.0, 1.0]\n"


def test_functions_of_numpy(torch_device: str) -> None:
    given = {name: torch.asarray(x.copy(), device=torch_device) for name, x in OPERANDS.items()}
    for call in (
        "np.fmax(x, y)", "np.fmod(i, j)", "np.ldexp(x, i)", "np.add(x, [1, 2, 3, 4])", "np.append(v, 1.0)",
        "np.average(x, 1, [1.0, 2, 3, 4])", "np.cov(x)", "np.interp([1.0, 2.0], a, a * a)", "np.insert(v, [1, 3], 5.0)",
        "np.linalg.norm(x, axis=1)", "np.fft.rfft(x)", "np.percentile(x, [10, 50], 1)", "np.nanquantile(x, 0.5)",
        "np.repeat(q, [1, 0, 2])", "np.take(x, [[0, 1]], axis=1)", "np.polymul([1, 2], w)", "np.where(b, x, [0.0])",
        "np.zeros_like(x)", "np.full_like(i, 3)", "np.meshgrid(v, w)[1]", "np.broadcast_arrays(x, w)[1]",
    ):  # fmt: skip
        function = eval(f"lambda {', '.join(given)}: {call}", {"np": xpops.numpy})
        torch._dynamo.reset()  # torch 2.11 counts these functions as one that is compiled again
        for _ in range(2):
            found = compiled(function)(**given)
            assert isinstance(found, torch.Tensor)
            np.testing.assert_allclose(found.cpu(), eval(call, {"np": np, **OPERANDS}), 1e-9, 1e-9)


@pytest.mark.parametrize("part", range(8))
def test_numpy_calls_in_and_between_programs(part: int, torch_device: str) -> None:
    """A sixth of NumPy's calls, also those that the compiler does not take."""
    given = {name: torch.asarray(x.copy(), device=torch_device) for name, x in OPERANDS.items()}
    for call in NUMPY_CALLS[part * 6 + 1 :: 48]:
        if "written" in call or call.startswith("~"):
            continue
        torch._dynamo.reset()
        function = eval(f"lambda {', '.join(given)}: {call}", {"np": xpops.numpy})
        found, wanted = compiled(function, fullgraph=False)(**given), function(**given)
        for each, other in zip(*(x if isinstance(x, (tuple, list)) else [x] for x in (found, wanted)), strict=True):
            assert type(each) is type(other)
            on_host = [x if isinstance(x, bool) else to_numpy(x) for x in (each, other)]
            np.testing.assert_allclose(*on_host, 1e-9, 1e-9)


def test_functions_that_are_left_out_exist() -> None:
    names = {name for space in (xp, xp.nn, xp.linalg, xp.fft) for name in space.__all__}
    assert names >= _LEFT_OUT
    assert xp.add in functions_of(xp)
    assert xp.asarray not in functions_of(xp)
    assert xpops.numpy.fmax in functions_of(xpops.numpy)
    assert not {np.isscalar, np.float32, xp.set_default_device, xp.result_type} & set(functions_of(xpops.numpy))
