"""Plans of binary searches. No device."""

import pytest

from xpops.engine.cuda.tuning import tuning_of
from xpops.plan.search import plan_search, tree_levels

POLICY = tuning_of(90).search


@pytest.mark.parametrize("fan_bits", [2, 3, 4])
@pytest.mark.parametrize("top", [16, 4096])
def test_levels(top, fan_bits):
    fan = 1 << fan_bits
    for length in [0, 1, top - 1, top, top + 1, fan * top, fan * (top + 1) - 1, fan * (top + 1), 10**6, 2**33 + 1]:
        levels = tree_levels(length, top, fan_bits)
        counts = [length // fan**level for level in range(len(levels) + 1)]
        assert counts[-1] <= top
        assert all(count > top for count in counts[:-1])
        for below, count in zip(levels, counts[1:], strict=True):
            assert below % fan == 0
            assert below // fan == count // fan + 1, "a node for each place in the level above"


def test_what_is_worth_a_tree():
    least = POLICY.least
    assert plan_search(2**20, least, 4, 132, POLICY).levels == 0, "reading x1 would cost more"
    assert plan_search(2**20, 2**16, 4, 132, POLICY).levels == 3
    assert plan_search(4096, least, 4, 132, POLICY)[:3] == (4096, 0, 0), "fits shared memory"
    assert plan_search(4096, least - 1, 4, 132, POLICY).top == 0
    assert plan_search(4096, least, 8, 132, POLICY).levels == 1
    assert plan_search(0, least, 4, 132, POLICY).levels == 0


def test_few_searches_spread():
    assert plan_search(100, 2**17, 4, 132, POLICY)[3:] == (1, 512)
    assert plan_search(100, 2**18, 4, 132, POLICY)[3:] == (4, 256)
    assert plan_search(100, 2**40, 8, 132, POLICY)[3:] == (2, 528)


def test_arrays_that_shared_memory_holds_whole():
    many = 5282 * 4 * 132
    assert plan_search(5282, many, 8, 132, POLICY)[:2] == (6144, 0)
    assert plan_search(5282, many - 1, 8, 132, POLICY)[:2] == (2048, 1), "loading it would take longer"
    assert plan_search(6144, 2**26, 8, 132, POLICY)[:2] == (6144, 0)
    assert plan_search(6145, 2**26, 8, 132, POLICY)[:2] == (2048, 1)
    assert plan_search(2048, 2**26, 8, 132, POLICY)[:2] == (2048, 0)
