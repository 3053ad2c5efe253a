"""Real functors on the host: all special cases that the standard lists."""

import numpy as np
import pytest
from functor_table import FLOATS
from functors import run
from host_compile import COMPILER
from real_cases import BINARY, UNARY, operands, right, rows

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # the references meet NaN and overflow on purpose
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("name", "row"), [*rows(UNARY), *rows(BINARY)])
def test_bullet(name, row, dtype):
    hosts = operands(row, np.dtype(dtype))
    got = run("".join(word.capitalize() for word in name.split("_")), *hosts)
    ok = right(row, got, hosts)
    assert ok.all(), [(*(host[~ok][:5] for host in hosts), got[~ok][:5])]
