"""Files that repeat what pyproject.toml says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import xpops

ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / ".github" / "conda" / "recipe.yaml").read_text()


def test_the_recipe_for_conda_has_the_version_and_the_dependencies() -> None:
    assert f'version: "{xpops.__version__}"' in RECIPE
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for dependency in project["dependencies"]:
        requirement, _, marker = dependency.partition(";")
        if "3.14" in marker and ">=" in marker:  # conda has NumPy for it already
            continue
        name, bounds = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()  # type: ignore[union-attr]
        assert f"- {name.removeprefix('nvidia-')} {bounds}\n" in RECIPE, dependency
    assert f"<{project['requires-python'].removeprefix('>=')}" in RECIPE


def test_the_workflows_name_every_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions = [found[1] for each in project["classifiers"] if (found := re.search(r":: Python :: (3\.\d+)$", each))]
    assert versions
    for name in ("check", "release"):
        text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
        assert [version for version in versions if version not in text] == []
