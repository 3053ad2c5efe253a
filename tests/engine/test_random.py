"""The random generator on every device: its numbers, laws and state, and arguments for which it raises."""

from __future__ import annotations

import copy
import json
import math
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xpops as xp
from tests.helpers import philox
from tests.helpers.devices import DEVICES
from xpops.core import config

Generator = xp.random.Generator
FLOATS = [xp.float16, xp.bfloat16, xp.float32, xp.float64]
INTEGERS = [xp.int8, xp.int16, xp.int32, xp.int64, xp.uint8, xp.uint16, xp.uint32, xp.uint64]
MANY = 200_003
SEED = 20261


def host(x: Any) -> Any:
    return x.to_numpy()


def distance(sample: Any, cumulative: Any) -> float:
    """The Kolmogorov-Smirnov statistic times the root of the size: above 1.95 in one of a thousand samples."""
    below = np.asarray(cumulative(np.sort(sample.astype(np.float64))))
    steps = np.arange(sample.size + 1) / sample.size
    return float(np.sqrt(sample.size) * max((steps[1:] - below).max(), (below - steps[:-1]).max()))


def surprise(counts: Any, expected: Any) -> float:
    """How many standard deviations chi-square is above its mean."""
    freedom = counts.size - 1
    return float((((counts - expected) ** 2 / expected).sum() - freedom) / math.sqrt(2 * freedom))


# Numbers


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**200 + 17])
def test_uniform_is_what_philox_says(device: Any, dtype: Any, seed: int) -> None:
    x = Generator(seed).uniform(size=(3, 7), dtype=dtype, device=device)
    assert (x.shape, x.dtype, x.device) == ((3, 7), dtype, device)
    wanted = philox.uniforms(philox.words_of(seed, (), 0, 11), dtype)
    assert host(x).reshape(-1).astype(np.float64).tolist() == wanted[:21]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_are_what_philox_says(device: Any, dtype: Any) -> None:
    bounds = np.iinfo(dtype)
    lowest, highest = int(bounds.min), int(bounds.max)
    for low, high in ((lowest, highest), (0, 6), (highest - 1, highest), (highest, highest), (lowest, lowest + 99)):
        x = Generator(SEED).integers(low, high, size=9, dtype=dtype, endpoint=True, device=device)
        assert x.dtype == dtype
        wanted = philox.integers(philox.words_of(SEED, (), 0, 5), low, high - low + 1, wide=False)
        assert host(x).tolist() == wanted[:9]


@pytest.mark.parametrize(("low", "high"), [(0, 2**32 + 1), (-5, 2**63 - 7), (-(2**63), 2**63 - 1)])
def test_wide_integers_are_what_philox_says(device: Any, low: int, high: int) -> None:
    x = Generator(SEED).integers(low, high, size=9, device=device)
    assert host(x).tolist() == philox.integers(philox.words_of(SEED, (), 0, 9), low, high - low, wide=True)


def test_integers_are_the_same_in_every_dtype(device: Any) -> None:
    drawn = [host(Generator(3).integers(100, size=50, dtype=dtype, device=device)) for dtype in INTEGERS]
    assert all((each == drawn[0]).all() for each in drawn)


def test_halves_are_normals_rounded(device: Any) -> None:
    x = host(Generator(3).normal(size=99, dtype=xp.float32, device=device))
    for dtype in FLOATS[:2]:
        assert (host(Generator(3).normal(size=99, dtype=dtype, device=device)) == x.astype(dtype)).all()


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64], ids=str)
def test_normal_and_exponential_by_other_functions(device: Any, dtype: Any) -> None:
    """Against Box and Muller's formulas in double with NumPy, in units in the float's last place."""
    words = philox.words_of(SEED, (4,), 0, 500)
    drawn = np.array(words if dtype == xp.float32 else philox.pairs(words), np.float64)
    bits = 32 if dtype == xp.float32 else 64
    generator = Generator(SEED).spawn(5)[4]
    count = 4 if dtype == xp.float32 else 2
    x = host(generator.normal(size=500 * count, dtype=dtype, device=device)).astype(np.float64).reshape(-1, 2)
    first, second = drawn.reshape(-1, 2).T
    radius = np.sqrt(-2 * np.log((first + 0.5) / 2.0**bits))
    turn = second / 2.0**bits * 2
    angle = np.pi * (turn % 1 - (turn % 1 >= 0.5) + (turn >= 1))
    wanted = np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)
    assert np.abs(x - wanted).max() < 10 * np.finfo(dtype).eps * max(1, radius.max())
    generator.state = {"seed": SEED, "path": [4], "children": 0, "position": 0}
    x = host(generator.exponential(2.0, size=500 * count, dtype=dtype, device=device))
    np.testing.assert_allclose(x, -2 * np.log((drawn + 0.5) / 2.0**bits), rtol=1e-5 if bits == 32 else 1e-12)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_devices_agree_to_the_last_bit(device: Any, dtype: Any) -> None:
    here, there = Generator(SEED), Generator(SEED)
    for size in (0, 1, 5, 1000, 100_001):
        for name, parameters in (("uniform", (-2.0, 3.3)), ("normal", (1.0, 0.7)), ("exponential", (0.3,))):
            x = getattr(here, name)(*parameters, size=size, dtype=dtype, device=device)
            y = getattr(there, name)(*parameters, size=size, dtype=dtype, device="cpu")
            assert host(x).tobytes() == host(y).tobytes(), (name, size)
    for x, y in (
        (here.bernoulli(0.3, 1001, device=device), there.bernoulli(0.3, 1001, device="cpu")),
        (here.permutation(5000, device=device), there.permutation(5000, device="cpu")),
        (here.choice(99, 50, replace=False, device=device), there.choice(99, 50, replace=False, device="cpu")),
    ):
        assert (host(x) == host(y)).all()
    assert here.state == there.state


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.sampled_from(DEVICES), st.sampled_from(FLOATS))
def test_drawing_in_pieces_of_whole_counters(counters: list[int], device: Any, dtype: Any) -> None:
    count = 2 if dtype == xp.float64 else 4
    for name in ("uniform", "normal", "exponential"):
        generator = Generator(8)
        pieces = [host(getattr(generator, name)(size=n * count, dtype=dtype, device=device)) for n in counters]
        whole = getattr(Generator(8), name)(size=sum(counters) * count, dtype=dtype, device=device)
        assert np.concatenate(pieces).tobytes() == host(whole).tobytes()


def test_a_started_counter_is_used_up(device: Any) -> None:
    generator = Generator(8)
    first, second = (host(generator.uniform(size=n, dtype=xp.float32, device=device)) for n in (10, 20))
    whole = host(Generator(8).uniform(size=32, dtype=xp.float32, device=device))
    assert (np.concatenate((first, second)) == np.concatenate((whole[:10], whole[12:]))).all()


# Laws


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64], ids=str)
def test_laws_of_real_numbers(device: Any, dtype: Any) -> None:
    generator, options = Generator(SEED), {"size": MANY, "dtype": dtype, "device": device}
    uniform = host(generator.uniform(**options))
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert distance(uniform, lambda x: x) < 1.95
    assert distance(host(generator.uniform(-3, 5, **options)), lambda x: (x + 3) / 8) < 1.95
    normal = host(generator.normal(**options))
    law = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))
    assert distance(normal, law) < 1.95
    for half in (normal[0::2], normal[1::2], normal[: MANY // 2]):
        assert distance(half, law) < 1.95
    assert distance((host(generator.normal(3, 0.1, **options)) - 3) * 10, law) < 1.95
    assert distance(host(generator.exponential(2, **options)), lambda x: -np.expm1(-x / 2)) < 1.95


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_uniform_is_never_one(device: Any, dtype: Any) -> None:
    x = host(Generator(5).uniform(size=1 << 20, dtype=dtype, device=device)).astype(np.float64)
    assert x.max() < 1
    assert abs(x.mean() - 0.5) < 0.005


@pytest.mark.parametrize("count", [2, 3, 10, 1000, 2**40 + 1])
def test_integers_are_equally_likely(device: Any, count: int) -> None:
    x = host(Generator(SEED).integers(count, size=MANY, device=device))
    bins = min(count, 1000)
    counts = np.bincount((x.astype(object) * bins // count).astype(np.int64), minlength=bins)
    assert surprise(counts, MANY / bins) < 4
    assert counts.size == bins


@pytest.mark.parametrize("p", [0.0, 1e-3, 0.25, 0.9, 1.0])
def test_bernoulli_and_dropout(device: Any, p: float) -> None:
    drawn = Generator(SEED).bernoulli(p, (MANY,), device=device)
    assert drawn.dtype == xp.bool
    found = int(host(drawn).sum())
    assert abs(found - p * MANY) <= 4 * math.sqrt(p * (1 - p) * MANY)
    kept = Generator(SEED).dropout_mask((MANY,), p, device=device)
    other = Generator(SEED).bernoulli(1 - p, MANY, device=device)
    assert (host(kept) == host(other)).all()
    assert set(np.unique(host(drawn).view(np.uint8))) <= {0, 1}


def test_streams_have_nothing_to_do_with_each_other(device: Any) -> None:
    parent = Generator(SEED)
    streams = [parent, *parent.spawn(3), Generator(SEED + 1)]
    streams += streams[1].spawn(2)
    drawn = np.stack([host(each.normal(size=MANY, device=device)) for each in streams])
    correlations = np.corrcoef(drawn)[np.triu_indices(len(streams), 1)]
    assert np.abs(correlations).max() < 4 / math.sqrt(MANY)
    lagged = [np.corrcoef(each[:-lag], each[lag:])[0, 1] for each in drawn for lag in (1, 2, 3, 4, 8)]
    assert np.abs(lagged).max() < 4 / math.sqrt(MANY)


# State


def test_state_goes_back(device: Any) -> None:
    generator = Generator(2**70).spawn(2)[1]
    generator.uniform(size=13, device=device)
    generator.spawn(1)
    saved = generator.state
    assert saved == {"seed": 2**70, "path": (1,), "children": 1, "position": 7}
    copies = [pickle.loads(pickle.dumps(generator)), copy.deepcopy(generator), Generator(0)]
    copies[2].state = json.loads(json.dumps(saved))
    first = host(generator.normal(size=9, device=device))
    for each in copies:
        assert each.state == saved
        assert (host(each.normal(size=9, device=device)) == first).all()
        assert each.spawn(1)[0].state == {"seed": 2**70, "path": (1, 1), "children": 0, "position": 0}
    generator.state = saved
    assert (host(generator.normal(size=9, device=device)) == first).all()
    assert repr(generator) == f"Generator({2**70}, path=(1,), position=12)"


def test_spawned_streams_do_not_depend_on_what_was_drawn(device: Any) -> None:
    first, second = Generator(4), Generator(4)
    second.uniform(size=100, device=device)
    children = [*first.spawn(2), *first.spawn(1)], second.spawn(3)
    for one, other in zip(*children, strict=True):
        assert one.state == other.state
        assert (host(one.uniform(size=5, device=device)) == host(other.uniform(size=5, device=device))).all()


def test_without_a_seed() -> None:
    first, second = Generator(), Generator()
    assert first.state["seed"] != second.state["seed"]
    again = Generator(first.state["seed"])
    assert (host(first.uniform(size=4)) == host(again.uniform(size=4))).all()


def test_no_two_threads_get_the_same_numbers() -> None:
    generator, drawn = Generator(1), []

    def draw() -> None:
        drawn.extend(host(generator.integers(2**63 - 1, size=2, device="cpu")).tolist() for _ in range(200))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({tuple(each) for each in drawn}) == 800
    assert generator.state["position"] == 1600


# Permutations and choices


@pytest.mark.parametrize("length", [0, 1, 2, 17, 5000])
def test_permutation_of_integers(device: Any, length: int) -> None:
    x = Generator(6).permutation(length, device=device)
    assert (x.dtype, x.device) == (xp.int64, device)
    assert sorted(host(x).tolist()) == list(range(length))


def test_orders_are_equally_likely(device: Any) -> None:
    generator = Generator(SEED)
    order = np.stack([host(generator.permutation(4, device=device)) for _ in range(2400)])
    _, counts = np.unique(order @ [64, 16, 4, 1], return_counts=True)
    assert counts.size == 24
    assert surprise(counts, 100) < 4


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_slices_stay_whole(device: Any, axis: int) -> None:
    values = np.arange(60.0).reshape(4, 5, 3)
    for view in (xp.asarray(values, device=device), xp.asarray(values[:, ::-1], device=device)):
        order = host(Generator(6).permutation(values.shape[axis], device=device))
        wanted = np.take(host(view), order, axis)
        assert (host(Generator(6).permutation(view, axis)) == wanted).all()
        target = xp.asarray(host(view), device=device, copy=True)
        assert Generator(6).shuffle(target, axis) is None
        assert (host(target) == wanted).all()


def test_shuffling_a_view(device: Any) -> None:
    base = xp.asarray(np.arange(24).reshape(4, 6), device=device, copy=True)
    Generator(6).shuffle(base[::2, 1:4], axis=1)
    order = host(Generator(6).permutation(3, device=device))
    wanted = np.arange(24).reshape(4, 6)
    wanted[::2, 1:4] = wanted[::2, 1:4][:, order]
    assert (host(base) == wanted).all()


def test_arrays_of_numpy_and_torch() -> None:
    order = host(Generator(6).permutation(7, device="cpu"))
    x = np.arange(7) * 2
    assert isinstance(Generator(6).permutation(x), np.ndarray)
    assert (Generator(6).permutation(x) == order * 2).all()
    Generator(6).shuffle(x)
    assert (x == order * 2).all()
    torch = pytest.importorskip("torch")
    t = torch.arange(7) * 2
    moved = Generator(6).permutation(t)
    assert isinstance(moved, torch.Tensor)
    assert isinstance(Generator(6).choice(t, 3), torch.Tensor)
    Generator(6).shuffle(t)
    assert torch.equal(t, moved)
    assert t.tolist() == (order * 2).tolist()


def test_shuffling_a_tensor_on_a_gpu(cuda_torch: Any) -> None:
    t = cuda_torch.arange(1000, device="cuda")
    moved = Generator(6).permutation(t)
    Generator(6).shuffle(t)
    assert moved.is_cuda
    assert cuda_torch.equal(t, moved)
    assert sorted(t.tolist()) == list(range(1000))


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("p", [None, [0.5, 0.25, 0.25, 0.0]])
def test_choices_follow_their_weights(device: Any, replace: bool, p: Any) -> None:
    generator, weights = Generator(SEED), np.array(p or [0.25] * 4)
    if replace:
        drawn = host(generator.choice(4, MANY, p=p, device=device))
    else:
        chosen = [host(generator.choice(4, 2, replace=False, p=p, device=device)) for _ in range(2000)]
        assert all(each[0] != each[1] for each in chosen)
        drawn = np.array([each[0] for each in chosen])
        if p is not None:  # the second draw, given the first
            second = np.array([each[1] for each in chosen if each[0] == 0])
            assert surprise(np.bincount(second, minlength=4)[1:3], second.size / 2) < 4
    counts = np.bincount(drawn, minlength=4)
    possible = weights > 0
    assert (counts[~possible] == 0).all()
    assert surprise(counts[possible], drawn.size * weights[possible]) < 4


def test_choices_from_arrays(device: Any) -> None:
    values = np.arange(12.0).reshape(3, 4)
    x = xp.asarray(values, device=device)
    where = host(Generator(6).choice(4, (2, 5), device=device))
    found = Generator(6).choice(x, (2, 5), axis=1)
    assert found.shape == (3, 2, 5)
    assert (host(found) == values[:, where]).all()
    assert Generator(6).choice(x).shape == (4,)
    assert host(Generator(6).choice(x, 3, replace=False)).tolist() != []
    assert Generator(6).choice(0, 0, device=device).shape == (0,)
    assert Generator(6).choice(5, (0, 2), p=[1] * 5, device=device).shape == (0, 2)
    assert Generator(6).choice(5, 5, replace=False, p=xp.asarray([3] * 5, device=device), device=device).shape == (5,)


def test_one_number_has_no_axes(device: Any) -> None:
    generator = Generator(1)
    for x in (
        generator.uniform(device=device),
        generator.normal(device=device),
        generator.exponential(device=device),
        generator.integers(9, device=device),
        generator.bernoulli(device=device),
        generator.choice(9, device=device),
    ):
        assert x.shape == ()
        assert x.device == device
    assert generator.state["position"] == 6


def test_the_default_device() -> None:
    assert Generator(1).uniform(size=2).device == xp.default_device()
    assert Generator(1).permutation(2).device == xp.default_device()


# Errors

REFUSED = [
    (lambda g: Generator(-1), ValueError, r"^Generator: seed is -1; accepted: integers from 0 on$"),
    (lambda g: Generator(1.5), TypeError, r"^Generator: seed is 1.5; accepted: integers"),
    (lambda g: g.spawn(-1), ValueError, r"^spawn: n is -1; accepted: integers from 0 on$"),
    (lambda g: g.uniform(size=-1), ValueError, r"^uniform: size is \(-1,\); accepted: lengths of 0"),
    (lambda g: g.uniform(size="a"), TypeError, r"^uniform: size is 'a'; accepted"),
    (lambda g: g.uniform(1, 0), ValueError, r"^uniform: high is 0; accepted: finite numbers from 1.0 on$"),
    (lambda g: g.uniform(math.inf), ValueError, r"^uniform: low is inf; accepted: finite numbers$"),
    (lambda g: g.uniform(-1e308, 1e308), ValueError, r"^uniform: range is inf; accepted for dtype float64: up to"),
    (
        lambda g: g.uniform(0, 1e39, dtype=xp.float16),
        ValueError,
        r"^uniform: high is 1e\+39; accepted for dtype float16",
    ),
    (lambda g: g.uniform(dtype=xp.int32), TypeError, r"^uniform: dtype is int32; accepted: float16, "),
    (lambda g: g.uniform(dtype=xp.complex64), TypeError, r"^uniform: dtype is complex64; accepted: float16, "),
    (lambda g: g.uniform(device="tpu"), ValueError, r"^uniform: device is 'tpu'; accepted: cpu"),
    (lambda g: g.normal("a"), TypeError, r"^normal: loc is 'a'; accepted: a real scalar$"),
    (lambda g: g.normal(0, -1), ValueError, r"^normal: scale is -1; accepted: finite numbers from 0 on$"),
    (lambda g: g.normal(0, math.nan), ValueError, r"^normal: scale is nan; accepted: finite numbers from 0 on$"),
    (lambda g: g.exponential(-1), ValueError, r"^exponential: scale is -1; accepted"),
    (lambda g: g.integers(1.5), TypeError, r"^integers: high is 1.5; accepted: an integer$"),
    (
        lambda g: g.integers(3, 3),
        ValueError,
        r"^integers: the range \[3, 3\) is empty; accepted: at least one integer$",
    ),
    (lambda g: g.integers(3, 2, endpoint=True), ValueError, r"^integers: the range \[3, 2\] is empty"),
    (
        lambda g: g.integers(300, dtype=xp.uint8),
        OverflowError,
        r"the range is 0 to 299, which uint8 cannot hold; accept",
    ),
    (lambda g: g.integers(9, dtype=xp.float32), TypeError, r"^integers: dtype is float32; accepted: int8, "),
    (lambda g: g.bernoulli(1.5), ValueError, r"^bernoulli: p is 1.5; accepted: 0 to 1$"),
    (lambda g: g.dropout_mask(3, -0.5), ValueError, r"^dropout_mask: p is -0.5; accepted: 0 to 1$"),
    (lambda g: g.dropout_mask(None), TypeError, r"^dropout_mask: shape is None; accepted"),
    (lambda g: g.permutation(-1), ValueError, r"^permutation: x is -1; accepted: 0 and more, and arrays$"),
    (lambda g: g.permutation("a"), TypeError, r"^permutation: x is 'a'; accepted: an integer or an array$"),
    (lambda g: g.permutation(xp.asarray(1)), ValueError, r"^permutation: x has no axes; accepted: one axis or more$"),
    (lambda g: g.permutation(xp.zeros(3), 1), IndexError, r"permutation"),
    (lambda g: g.shuffle([1, 2]), TypeError, r"^shuffle: x is a list; accepted: an array$"),
    (lambda g: g.shuffle(xp.asarray(1)), ValueError, r"^shuffle: x has no axes"),
    (
        lambda g: g.choice(0),
        ValueError,
        r"^choice: size is \(\), a has 0 elements; accepted with replacement: up to 0$",
    ),
    (lambda g: g.choice(3, 4, replace=False), ValueError, r"a has 3 elements; accepted without replacement: up to 3$"),
    (lambda g: g.choice(3, p=[1, 2], device="cpu"), ValueError, r"^choice: p has shape \(2,\); accepted: \(3,\)"),
    (lambda g: g.choice(2, p=[1, -1], device="cpu"), ValueError, r"^choice: p holds a weight that is negative"),
    (lambda g: g.choice(2, p=[1, math.nan], device="cpu"), ValueError, r"^choice: p holds a weight that is negative"),
    (
        lambda g: g.choice(2, p=[0, 0], device="cpu"),
        ValueError,
        r"^choice: p has 0 weights above 0; accepted: 1 or more$",
    ),
    (
        lambda g: g.choice(2, 2, False, [0, 1], device="cpu"),
        ValueError,
        r"p has 1 weights above 0; accepted: 2 or more$",
    ),
    (lambda g: g.choice(2, p=[1j, 1], device="cpu"), TypeError, r"^choice: p has dtype complex128; accepted: real"),
]


@pytest.mark.parametrize(("refused", "kind", "text"), REFUSED, ids=range(len(REFUSED)))
def test_refusals(refused: Any, kind: type[Exception], text: str) -> None:
    generator = Generator(1)
    with pytest.raises(kind, match=text):
        refused(generator)
    assert generator.state["position"] == 0


@pytest.mark.parametrize(
    ("state", "kind", "text"),
    [
        (3, TypeError, r"^Generator: state is 3; accepted: a dict of children, path, position, seed$"),
        ({"seed": 1}, TypeError, r"accepted: a dict of children, path, position, seed$"),
        ({"seed": 1, "path": 3, "children": 0, "position": 0}, TypeError, r"^Generator: path of state is 3; accepted"),
        ({"seed": 1, "path": [-3], "children": 0, "position": 0}, ValueError, r"^Generator: path of state is -3;"),
        ({"seed": 1, "path": (), "children": 0, "position": 0.5}, TypeError, r"^Generator: position of state is 0.5;"),
    ],
)
def test_states_that_are_none(state: Any, kind: type[Exception], text: str) -> None:
    generator = Generator(1)
    before = generator.state
    with pytest.raises(kind, match=text):
        generator.state = state
    assert generator.state == before


def test_what_cannot_be_written() -> None:
    fixed = np.arange(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match=r"^shuffle: x is read-only; accepted: a writable array$"):
        Generator(1).shuffle(fixed)
    repeated = np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,))
    with pytest.raises(ValueError, match=r"^shuffle: x may have several elements at one address; accepted: an array"):
        Generator(1).shuffle(repeated)


def test_where_things_are(cuda: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, p = xp.zeros(3, device=cuda), xp.ones(3, device="cpu")
    with pytest.raises(ValueError, match=r"^permutation: device is 'cpu', x is on cuda:0; move it first$"):
        Generator(1).permutation(x, device="cpu")
    with pytest.raises(ValueError, match=r"^choice: a is on cuda:0 and p on cpu; move one with p.to_device"):
        Generator(1).choice(x, p=p)
    assert Generator(1).choice(x, p=[1, 2, 3]).device == cuda
    monkeypatch.setattr(config, "debug", True)
    with pytest.raises(ValueError, match="negative"):
        Generator(1).choice(x, p=[1, 2, -3])
