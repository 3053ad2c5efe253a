"""Registered adapters: calls on their arrays return arrays of the same framework, whatever was called before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.frameworks import registry

GUIDE = Path(__file__).parents[2] / "docs" / "frameworks.md"


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", ())
    monkeypatch.setattr(registry, "_known", registry.BoundedDict(1024))
    yield
    for forget in registry.forgetters:
        forget()


class Frame:
    def __init__(self, host: Any) -> None:
        self.host = np.asarray(host)

    def __dlpack__(self, **options: Any) -> Any:
        return self.host.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.host.__dlpack_device__()


class FrameAdapter(xp.frameworks.DLPackAdapter):
    name = "frame"

    def is_array_type(self, cls: type) -> bool:
        return issubclass(cls, Frame)

    def export(self, array: Any) -> Frame:
        return Frame(np.from_dlpack(array))


CALLS = {
    "operator": (lambda x: xp.add(x, x), lambda x: x + x),
    "scalar": (lambda x: xp.multiply(2, x), lambda x: 2 * x),
    "reduction": (lambda x: xp.sum(x, axis=0), lambda x: x.sum(axis=0)),
    "view": (xp.flip, np.flip),
    "several results": (lambda x: xp.unique_counts(x).counts, lambda x: np.unique_counts(x).counts),
    "list": (lambda x: xp.concat([x, x]), lambda x: np.concat([x, x])),
    "where": (lambda x: xp.where(xp.greater(x, 2), x, 0), lambda x: np.where(x > 2, x, 0)),
    "fused": (xp.fuse(lambda x: xp.exp(x) * 2), lambda x: np.exp(x) * 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_come_out_as_they_went_in(name: str) -> None:
    ours, theirs = CALLS[name]
    x = np.arange(6.0).reshape(2, 3)
    before = ours(Frame(x))  # as an array of an unknown framework
    assert type(before) is xp.Array
    xp.frameworks.register(FrameAdapter())
    for _ in range(3):
        result = ours(Frame(x))
        assert type(result) is Frame
        np.testing.assert_allclose(result.host, theirs(x), rtol=1e-15)
    assert type(ours(xp.asarray(x, device="cpu"))) is xp.Array


def test_out_and_mixtures() -> None:
    xp.frameworks.register(FrameAdapter())
    x, out = Frame([1.0, 2.0]), Frame([0.0, 0.0])
    assert xp.add(x, x, out=out) is out
    assert out.host.tolist() == [2.0, 4.0]
    assert type(xp.add(x, np.ones(2))) is xp.Array
    assert type(xp.asarray(x)) is type(xp.from_dlpack(x)) is xp.Array


def test_subclasses_and_other_classes() -> None:
    class Child(Frame):
        pass

    xp.frameworks.register(FrameAdapter())
    assert type(xp.negative(Child([1.0]))) is Frame
    assert type(xp.negative(np.ones(2))) is np.ndarray


def test_a_newer_adapter_of_the_same_name_replaces_the_older() -> None:
    class Newer(FrameAdapter):
        def export(self, array: Any) -> Any:
            return "newer"

    xp.frameworks.register(FrameAdapter())
    assert type(xp.negative(Frame([1.0]))) is Frame
    xp.frameworks.register(Newer())
    assert xp.negative(Frame([1.0])) == "newer"
    assert len(registry._registered) == 1


def test_registered_adapters_release_their_caches() -> None:
    released = []

    class Caching(FrameAdapter):
        def release_cache(self) -> None:
            released.append(True)

    xp.frameworks.register(Caching())
    registry._release_caches()
    assert released == [True]


class Boxes(xp.frameworks.Adapter):
    name = "boxes"

    def is_array_type(self, cls: type) -> bool:
        return cls is np.ndarray or cls.__module__ == "torch"

    def view(self, x: Any, *given: Any) -> Any:
        return import_module("xpops.frameworks.numpy").ADAPTER.view(np.asarray(x), *given)

    def export(self, array: Any) -> Any:
        return Frame(array)


def test_calls_before_the_registration_are_forgotten() -> None:
    given = [np.ones(3)]
    with suppress(ImportError):
        given.append(import_module("torch").ones(3))
    for x in given * 3:
        assert type(xp.add(x, 1)) is type(xp.reshape(x, (3, 1))) is type(x)
    xp.frameworks.register(Boxes())
    for x in given * 3:
        assert type(xp.add(x, 1)) is type(xp.reshape(x, (3, 1))) is Frame


@pytest.mark.parametrize(
    ("adapter", "error", "message"),
    [
        (FrameAdapter, TypeError, "register: adapter is .*; accepted: an xpops.frameworks.Adapter"),
        (
            type("Nameless", (xp.frameworks.Adapter,), {})(),
            TypeError,
            "adapter.name is None; accepted: a str",
        ),
        (type("Numpy", (xp.frameworks.Adapter,), {"name": "numpy"})(), ValueError, "'numpy'; accepted: any but cupy, "),
    ],
    ids=["class", "no name", "name of ours"],
)
def test_errors(adapter: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        xp.frameworks.register(adapter)


def test_the_guide(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    assert len(example.splitlines()) <= 35
    adapter = example[example.index("class FrameAdapter") :]
    assert len(adapter.strip().splitlines()) <= 30
    exec(example, {})
    assert capsys.readouterr().out == "Frame [2. 3.]\n"
