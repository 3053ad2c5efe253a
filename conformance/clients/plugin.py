"""A pytest plugin that runs a client's own tests with xpops as the namespace. ``XPOPS_CLIENT`` names the client."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from fnmatch import fnmatchcase
from types import ModuleType
from typing import Any

import pytest

import xpops
from conformance.clients.left_out import LEFT_OUT

CLIENT = os.environ.get("XPOPS_CLIENT", "")
# A module variable, because the permission ends when the object is deleted.
_ALLOWED = xpops.allow_host_copies()


class Library:
    """A value for array-api-extra's fixture `library`, in place of one of its backends."""

    modname = "xpops"

    def like(self, *others: Any) -> bool:
        """Whether this library is among `others`: never."""
        return False


# For each client, the fixture that chooses the namespace, and its value for xpops.
FIXTURES: dict[str, tuple[str, Any]] = {"array-api-extra": ("library", Library()), "scipy": ("xp", xpops)}


def pytest_configure() -> None:
    """Allow host copies, because clients' tests compare on the host without asking for permission.

    Not so scikit-learn's: where NumPy can convert an array on a GPU, they mix such arrays with NumPy's.
    """
    if CLIENT == "scikit-learn":
        _patch_scikit_learn()
    else:
        _ALLOWED.__enter__()
    if CLIENT == "dask":
        _stand_in_for_cupy()


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: Any) -> None:
    """Parametrize the client's fixture with xpops only."""
    fixture, value = FIXTURES.get(CLIENT, ("", None))
    if fixture in metafunc.fixturenames:
        namespace = pytest.param(value, id="xpops")
        metafunc.definition.add_marker(pytest.mark.parametrize(fixture, [namespace], indirect=True))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what `LEFT_OUT` names. Let SciPy's marks for NumPy only, and for the CPU only, apply to xpops, too."""
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
    """Replace the generator from which the tests take their namespaces at collection, and a conversion of theirs.

    `_convert_to_numpy` knows how to copy the arrays of some libraries to the host, and calls NumPy for others.
    """
    from sklearn.utils import _array_api  # type: ignore[import-not-found]

    convert = _array_api._convert_to_numpy

    def combinations(*args: Any, **options: Any) -> Any:
        yield "xpops", None, "float64"
        yield "xpops", None, "float32"

    def on_host(array: Any, xp: Any) -> Any:
        return array.to_numpy() if isinstance(array, xpops.Array) else convert(array, xp)

    patched: Callable[..., Any] = combinations
    _array_api.yield_namespace_device_dtype_combinations = patched
    _array_api._convert_to_numpy = on_host


def _stand_in_for_cupy() -> None:
    """Let ``import cupy`` import `xpops.numpy`, and Dask's backend "cupy" be ours."""
    import dask.array.utils
    from dask.array.backends import array_creation_dispatch

    import xpops.dask
    import xpops.numpy

    cupy: Any = ModuleType("cupy")
    vars(cupy).update(vars(xpops.numpy), random=xpops.random, __version__="13.0", __path__=[])
    cupy.asanyarray, cupy.asnumpy = xpops.numpy.asarray, _on_host
    sys.modules["cupy"] = cupy
    sys.modules["cupyx"] = None  # type: ignore[assignment]  # it imports a CuPy that is installed
    array_creation_dispatch.register_backend("cupy", xpops.dask.Backend())
    dask.array.utils.normalize_to_array = _on_host  # Dask's tests compare on the host


def _on_host(x: Any) -> Any:
    return x.to_numpy() if isinstance(x, xpops.Array) else x
