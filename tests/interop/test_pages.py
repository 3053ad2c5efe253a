"""The code of the documentation's pages runs, and the reference has a page for every public function."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import xpops as xp

DOCS = Path(__file__).parents[2] / "docs"
# Pages whose blocks make one program; that of kernels.md needs a GPU, and has its own test.
PAGES = ("index", "tour", "library", "fuse", "graph", "numpy", "debug")


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def run(page: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), f"{page}.md", "exec"), names)
    return names


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str) -> None:
    run(page)


def test_the_page_on_scaling_out() -> None:
    for package in ("dask", "zarr"):
        pytest.importorskip(package)
    names = run("scale-out")
    assert isinstance(names["covariance"], xp.Array)
    assert abs(names["covariance"].to_numpy() - np.eye(50)).max() < 0.1
    assert isinstance(names["part"], xp.Array)


def test_the_readme() -> None:
    """Each of its blocks is a program."""
    pytest.importorskip("torch")
    blocks = re.findall(r"```python\n(.*?)```", (DOCS.parent / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_the_page_on_tensors() -> None:
    torch = pytest.importorskip("torch")
    names = run("tensors")
    assert type(names["z"]) is torch.Tensor
    assert names["x"][0, 0] == 7.0


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
def test_the_page_on_training(capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch")
    names = run("training")
    assert "exp: an argument requires grad, and out has no gradient" in capsys.readouterr().out
    scores = torch.log_softmax(names["x"] @ names["weight"] + names["bias"], -1)
    loss = -scores.gather(1, names["target"]).mean()
    torch.testing.assert_close(torch.autograd.grad(loss, names["weight"])[0], names["weight"].grad)
    x = names["x"]
    slope = torch.autograd.functional.vjp(lambda x: x * torch.sigmoid(1.5 * x), x, torch.ones_like(x))[1]
    torch.testing.assert_close(names["swish_slope"](torch.ones_like(x), x, 1.5), slope)
    assert names["each"].shape == (32, 8, 4)
    made = 2 * (x @ names["weight"] + names["bias"]).softmax(-1)
    wanted = torch.autograd.grad(made.square().sum(), (names["weight"], names["bias"]))
    torch.testing.assert_close(names["slopes"], wanted)


def test_what_the_pages_say(capsys: pytest.CaptureFixture[str]) -> None:
    names = run("tour")
    assert "use xp.cumulative_sum" in capsys.readouterr().out
    assert names["large"].tolist() == [3.0, 4.0, 5.0, 6.0]
    assert (names["half"] + xp.asarray([1, 2, 3])).dtype == xp.float16
    run("debug")
    assert "add" in capsys.readouterr().out


def test_the_page_on_jax() -> None:
    jax = pytest.importorskip("jax")
    names = run("jax")
    jnp, weight, scale, x = jax.numpy, names["weight"], names["scale"], names["x"]

    def loss(weight: Any, scale: Any, x: Any, target: Any) -> Any:
        scores = jax.nn.log_softmax(x / jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale @ weight)
        return -jnp.mean(jnp.take_along_axis(scores, target, axis=-1))

    wanted = jax.grad(loss, argnums=(0, 1))(weight, scale, x, names["target"])
    for ours, theirs in zip(names["slopes"], wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert names["each"].shape == (8, 4)


def test_links_lead_somewhere() -> None:
    links = module("links")
    for found in re.findall(r"\]\((?!\w+:)([^)#\s]+)", (DOCS.parent / "README.md").read_text()):
        assert (DOCS.parent / found).exists(), f"README.md: there is no {found}"
    for path in DOCS.rglob("*.md"):
        if "reference" not in path.parts:
            links.rewritten(path.read_text(), path.relative_to(DOCS).as_posix())
    assert links.rewritten("[a](kernels.md#elementwise) [b](../README.md)", "kps.md") == (
        "[a](kernels.md#elementwise) [b](https://github.com/xpops/xpops/blob/main/README.md)"
    )
    with pytest.raises(FileNotFoundError, match=r"kps.md: there is no nowhere.md"):
        links.rewritten("[a](nowhere.md)", "kps.md")


def test_every_function_has_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = module("reference")
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    (tmp_path / "gone.md").write_text("")
    for _ in range(2):
        reference.write_pages()
    for name in ("add", "asarray", "Array", "sum", "fuse"):
        assert (tmp_path / "xpops" / f"{name}.md").is_file()
    assert not (tmp_path / "gone.md").exists()
    for namespace in (xp, xp.numpy, xp.numpy.random, xp.linalg, xp.fft, xp.nn, xp.special, xp.random, xp.kernel):
        for name in namespace.__all__:
            if reference.is_documented(getattr(namespace, name)):
                assert (tmp_path / namespace.__name__ / f"{name}.md").is_file()
    assert "| result | bool |" in (tmp_path / "xpops" / "less.md").read_text()
    assert "float64" in (tmp_path / "xpops" / "exp.md").read_text()
    for name, fact in {
        "xpops/exp": "| gradient | yes |",
        "xpops/floor_divide": "| gradient | refused |",
        "xpops/argmax": "| gradient | none: results are booleans or integers |",
        "xpops/sum": "| result | int64 or uint64 for integers and bool, else the dtype of the operand |",
        "xpops/cumulative_sum": "float64 2.3e-13",
        "xpops.nn/softmax": "| dtypes | real floating-point |",
        "xpops.nn/gelu": "float64 7 ulp",
        "xpops.special/erf": "| gradient | yes |",
    }.items():
        assert fact in (tmp_path / f"{name}.md").read_text(), name
