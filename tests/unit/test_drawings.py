"""The pictures of the architecture show the packages that there are, and are those that the script draws."""

from __future__ import annotations

import importlib.util
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.unit.test_architecture import ORDER, ROOT
from tests.unit.test_speed_page import plots


@pytest.fixture(scope="module")
def drawings() -> Any:
    spec = importlib.util.spec_from_file_location("docs_drawings", ROOT / "docs" / "drawings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_layers_are_those_of_the_imports(drawings: Any) -> None:
    names = [name.partition("/")[0] for boxes in drawings.LAYERS for name, _ in boxes]
    assert tuple(dict.fromkeys(names)) == ORDER


def test_the_pictures_are_those_of_the_script(drawings: Any) -> None:
    pictures = drawings.pictures()
    others = {f"{name}.svg" for name in plots().DRAWN}
    assert {path.name for path in drawings.PICTURES.iterdir()} == pictures.keys() | others
    for name, text in pictures.items():
        assert (drawings.PICTURES / name).read_text() == text, "python docs/drawings.py draws it anew"
        ElementTree.fromstring(text)


def test_words_fit_their_boxes(drawings: Any) -> None:
    for words in (*drawings.FIRST, *drawings.LATER):
        assert all(len(line) <= 17 for line in drawings.broken(words)), words
