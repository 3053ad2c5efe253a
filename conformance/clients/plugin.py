"""A pytest plugin: xpops where a client's own tests take an array namespace. ``XPOPS_CLIENT`` names the client."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import pytest

import xpops
from conformance.clients.left_out import LEFT_OUT

CLIENT = os.environ.get("XPOPS_CLIENT", "")
# Kept: the permission ends with it.
_ALLOWED = xpops.allow_host_copies()


class Library:
    """What array-api-extra's fixture `library` takes for one of its backends."""

    modname = "xpops"

    def like(self, *others: Any) -> bool:
        """Whether it is the same library as one of `others`, which it never is."""
        return False


# The fixture that chooses the namespace, and what it is to choose.
FIXTURES: dict[str, tuple[str, Any]] = {"array-api-extra": ("library", Library()), "scipy": ("xp", xpops)}


def pytest_configure() -> None:
    """Clients' tests compare on the host, and ask for no permission."""
    _ALLOWED.__enter__()
    if CLIENT == "scikit-learn":
        _patch_scikit_learn()


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: Any) -> None:
    """Parametrize the client's fixture with xpops alone."""
    fixture, value = FIXTURES.get(CLIENT, ("", None))
    if fixture in metafunc.fixturenames:
        namespace = pytest.param(value, id="xpops")
        metafunc.definition.add_marker(pytest.mark.parametrize(fixture, [namespace], indirect=True))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what `LEFT_OUT` names, and let SciPy's tests for NumPy or for the CPU only say so to xpops too."""
    kept = [item for item in items if not _left_out(item)]
    config.hook.pytest_deselected(items=[item for item in items if _left_out(item)])
    items[:] = kept
    conftest: Any = sys.modules.get("scipy.conftest")
    if conftest is not None:
        conftest.xp_known_backends.add("xpops")
        if xpops.default_device() != "cpu":
            conftest.xp_skip_cpu_only_backends.add("xpops")


def _left_out(item: Any) -> bool:
    patterns = LEFT_OUT.get(CLIENT, {})
    name = f"{item.module.__name__}::{item.nodeid.partition('::')[2]}"
    fixtures = [f"fixture {each}" for each in getattr(item, "fixturenames", ())]
    return any(fnmatchcase(name, pattern) or pattern in fixtures for pattern in patterns)


def _patch_scikit_learn() -> None:
    """The tests take their namespaces from this generator when they are collected."""
    from sklearn.utils import _array_api  # type: ignore[import-not-found]

    def combinations(*args: Any, **options: Any) -> Any:
        yield "xpops", None, "float64"
        yield "xpops", None, "float32"

    patched: Callable[..., Any] = combinations
    _array_api.yield_namespace_device_dtype_combinations = patched
