"""Names that other libraries have: errors that name the right call."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np
import pytest

import xpops as xp
from xpops.core.elsewhere import CUPY, FFT, FUNCTIONS, LINALG, METHODS, NUMPY, RANDOM
from xpops.testing import to_numpy

POSITIVE = np.array([[4.0, 1.5, 0.5], [1.5, 5.0, 0.25], [0.5, 0.25, 6.0]])
NAMES: dict[str, Any] = {
    "xp": xp, "axis": 0, "axes": (1, 0), "axis1": 0, "axis2": 1, "bins": 4, "destination": 1, "device": "cpu",
    "dtype": xp.float32, "high": 3.0, "k": 2, "low": 1.0, "n": 3, "percent": 30.0, "repeats": 2, "shape": (3, 3),
    "source": 0, "start": 0, "stop": 2, "tolerance": 0.1, "value": 7.0, "z": xp.asarray(POSITIVE),
}  # fmt: skip
INTEGERS = ("bincount", "bitwise_not", "invert", "left_shift", "right_shift")
VECTORS = ("cross", "dot", "inner", "vdot", "outer", "bincount")
# Functions of NumPy whose arguments are not those of our call, or whose result has another form.
OTHER_FORMS = {
    "allclose", "array_equal", "column_stack", "concatenate", "diagonal",
    "histogram", "hsplit", "hstack", "identity", "outer", "percentile", "row_stack", "split", "swapaxes", "transpose",
    "vstack",
}  # fmt: skip


def operands(name: str) -> dict[str, Any]:
    if name in INTEGERS:
        x, y = np.array([3, 1, 2]), np.array([1, 2, 1])
    elif name in VECTORS:
        x, y = POSITIVE[0], POSITIVE[1]
    else:
        x, y = POSITIVE / 8 if name.startswith("arc") and name != "arccosh" else POSITIVE, POSITIVE[::-1] / 8
    if name == "arccosh":
        x = x + 1
    return {"x": x, "y": y}


def called(name: str, call: str) -> Any:
    """The value of a call that an error names."""
    given = {key: xp.asarray(value) for key, value in operands(name).items()}
    indices = xp.asarray([[0, 1, 2]] * 3) if "along" in call or "scatter" in call else xp.asarray([0, 1, 2])
    mask = xp.asarray(POSITIVE > 1)
    for part in call.replace('"cuda"', '"cpu"').split(" for s = ")[0].split(", or "):
        part = re.sub(r",? of .*", "", part)
        values = {**NAMES, **given, "indices": indices, "mask": mask, "s": given["x"]}
        found = eval(part, values)
    return found


@pytest.mark.parametrize(
    ("name", "call"),
    [*FUNCTIONS.items(), *METHODS.items(), *LINALG.items(), *FFT.items(), *CUPY.items(), *RANDOM.items()],
)
def test_the_calls_work(name: str, call: str) -> None:
    called(name, call)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")
@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) & set(dir(np)) - OTHER_FORMS))
def test_the_calls_are_what_numpy_computes(name: str) -> None:
    given = operands(name)
    count = 2 if re.search(r"\by\b", FUNCTIONS[name]) else 1
    arguments = list(given.values())[:count]
    if name == "arctan2":
        arguments.reverse()
    options = {"axis": 0} if name in ("cumprod", "cumsum") else {}
    wanted = getattr(np, name)(*arguments, **options)
    np.testing.assert_allclose(to_numpy(called(name, FUNCTIONS[name])), wanted, rtol=1e-12)


def test_names_of_cupy_and_of_the_global_generator() -> None:
    with pytest.raises(AttributeError, match=r"^module 'xpops.numpy' has no attribute 'asnumpy'; use x.to_numpy\(\)$"):
        xp.numpy.asnumpy  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'xpops.numpy.random' has no .* 'rand'; use xp.numpy.random.def"):
        xp.numpy.random.rand  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'xpops.numpy' has no attribute 'fish'$"):
        xp.numpy.fish  # noqa: B018


def test_the_errors() -> None:
    with pytest.raises(
        AttributeError, match=r"^module 'xpops' has no attribute 'cumsum'; use xp.cumulative_sum\(x, ax"
    ):
        xp.cumsum  # noqa: B018
    with pytest.raises(
        AttributeError, match=r"^'Array' object has no attribute 'unsqueeze'; use xp.expand_dims\(x, axis"
    ):
        xp.ones(3).unsqueeze(0)
    with pytest.raises(
        AttributeError, match=r"^module 'xpops.linalg' has no attribute 'norm'; use xp.linalg.vector_norm"
    ):
        xp.linalg.norm  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'xpops.fft' has no attribute 'fft2'; use xp.fft.fftn\(x, axes="):
        xp.fft.fft2  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'xpops' has no attribute 'gradient'; use xp.numpy.gradient$"):
        xp.gradient  # noqa: B018
    for module in (xp, xp.linalg, xp.fft):
        with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
            module.nothing  # noqa: B018


def test_names_that_are_not_there_are_not_there() -> None:
    x = xp.ones(3)
    for name in {**FUNCTIONS, **METHODS}:
        assert (name in dir(x)) == hasattr(x, name)
        assert hasattr(xp, name) == (name in xp.__all__)
    assert {name for name in FUNCTIONS if hasattr(x, name)} == {
        "copy", "cumprod", "cumsum", "diagonal", "dot", "ravel", "swapaxes", "trace", "transpose",
    }  # fmt: skip
    assert not any(hasattr(x, name) for name in METHODS)
    assert getattr(x, "unsqueeze", 5) == 5
    assert "sum" in dir(x)
    assert (pickle.loads(pickle.dumps(x)) == x).all()


def test_the_names_that_only_numpy_has() -> None:
    assert set(NUMPY) == set(xp.numpy.__all__) - set(xp.__all__) - set(FUNCTIONS)
    assert list(NUMPY) == sorted(NUMPY)


def test_no_name_that_exists_is_in_the_tables() -> None:
    assert not set(FUNCTIONS) & set(xp.__all__)
    assert not set(LINALG) & set(xp.linalg.__all__)
    assert not set(FFT) & set(xp.fft.__all__)
