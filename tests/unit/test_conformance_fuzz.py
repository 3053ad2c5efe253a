"""The fuzzer of programs: what it draws, that it finds planted faults, and that it shortens them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xpops as xp
from conformance import reporting
from conformance.fuzz import __main__ as fuzz
from conformance.fuzz import errors, program, report
from conformance.fuzz.actions import Call, Write
from conformance.fuzz.forms import SHAPES, Form, Function, Spec, common
from conformance.fuzz.machine import Machine, Mismatch, homes_on
from conformance.fuzz.process import Process
from conformance.fuzz.program import FUNCTIONS, draw_pool, draw_program
from conformance.fuzz.shrinking import shrink
from conformance.fuzz.values import BFLOAT16, INTEGERS, wide_dtype
from conformance.references import reference_of
from xpops.ops.activation import ACTIVATIONS
from xpops.ops.elementwise import OPERATORS
from xpops.ops.operator import Operator
from xpops.testing import LAYOUTS, Framework, draw_values
from xpops.testing.frameworks import NumPy

FLOAT32 = np.dtype("float32")


@pytest.fixture(scope="module")
def places() -> dict[str, Framework]:
    return homes_on("cpu")


def kinds_of_faults(seed: int, count: int, places: dict[str, Framework]) -> set[str]:
    """Of the first programs of a seed."""
    pool, found = draw_pool(seed, 400, "cpu"), set()
    for number in range(count):
        try:
            draw_program(seed, number, pool, places).run(places)
        except Mismatch as error:
            found.add(error.kind)
    return found


def test_some_programs_run(places: dict[str, Framework]) -> None:
    assert not kinds_of_faults(Random().randrange(10**6), 60, places)


def test_a_warning_of_numpy_is_no_fault(places: dict[str, Framework]) -> None:
    """Which warns of the variance of one number."""
    function = next(each for each in FUNCTIONS if each.name == "var")
    form = Form(function, (Spec(FLOAT32, (1,)),), {"axis": None, "keepdims": False, "correction": 1})
    machine = Machine(places, False)
    Call(form, ("own",), ("",), (None,), "", "", (0,)).run(machine)
    machine.finish()


def test_a_program_follows_from_its_seed_and_number(places: dict[str, Framework]) -> None:
    shown = [draw_program(3, number, draw_pool(3, 50, "cpu"), places).show() for number in (5, 5, 6)]
    assert shown[0] == shown[1] != shown[2]


def test_every_function_and_layout_is_drawn() -> None:
    forms = [form for seed in range(8) for group in draw_pool(seed, 400, "cpu") for form in group]
    assert {form.function.name for form in forms} == {function.name for function in FUNCTIONS}
    assert {each.layout for form in forms for each in form.operands if isinstance(each, Spec)} == set(LAYOUTS)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_are_views_of_the_shape_that_is_wanted(layout: str) -> None:
    for shape in SHAPES:
        view = LAYOUTS[layout](shape)
        base = np.arange(np.prod(view.base, dtype=int)).reshape(view.base)
        x = NumPy("cpu").view(base, view)
        assert x.shape == shape
        assert x.size == 0 or np.shares_memory(x, base)
    x = NumPy("cpu").view(np.zeros(LAYOUTS[layout]((4, 6)).base), LAYOUTS[layout]((4, 6)))
    assert (x.strides == (48, 8)) == (layout in ("contiguous", "shifted"))


def test_every_framework_holds_what_it_was_given(places: dict[str, Framework]) -> None:
    rng = np.random.default_rng(0)
    for home in places.values():
        for dtype in home.dtypes:
            host = draw_values(rng, dtype, (3, 4), "finite")
            found = home.host(home.make(host))
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, host)


def test_domains() -> None:
    rng = np.random.default_rng(0)
    for dtype in INTEGERS:
        assert (draw_values(rng, dtype, (500,), "nonzero") != 0).all()
        assert (draw_values(rng, dtype, (500,), "shift") < 8 * dtype.itemsize).all()
    assert (draw_values(rng, FLOAT32, (500,), "positive") > 0).all()
    assert wide_dtype(BFLOAT16) == np.float64


# Faults that are planted.


def plant(name: str, function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a function in the place of xpops' own, and let programs call that one only."""
    monkeypatch.setattr(program, "FUNCTIONS", [each for each in FUNCTIONS if each.name == name])
    monkeypatch.setattr(xp, name, function)


def test_a_second_call_that_is_wrong_is_found(places: dict[str, Framework], monkeypatch: pytest.MonkeyPatch) -> None:
    plain, calls = xp.square, set()

    def square(x: Any, out: Any = None) -> Any:
        is_first = x.shape not in calls
        calls.add(x.shape)
        return plain(x, out=out) if is_first else plain(plain(x), out=out)

    plant("square", square, monkeypatch)
    assert kinds_of_faults(0, 10, places) == {"square is wrong"}


def test_out_that_is_not_returned_is_found(places: dict[str, Framework], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = xp.negative
    plant("negative", lambda x, out=None: plain(x), monkeypatch)
    assert kinds_of_faults(0, 20, places) == {"does not return out"}


def test_a_float_as_axis_that_passes_is_found(places: dict[str, Framework], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = xp.sort
    plant("sort", lambda x, *, axis, descending: plain(x, axis=int(axis), descending=descending), monkeypatch)
    assert kinds_of_faults(0, 20, places) == {"sort accepts a float as axis"}


def test_a_result_of_another_framework_is_found(places: dict[str, Framework], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = xp.negative
    plant("negative", lambda x, out=None: plain(x, out=out) if out is not None else xp.asarray(plain(x)), monkeypatch)
    assert "negative returns Array" in kinds_of_faults(0, 20, places)


def leaf_calls(name: str) -> tuple[Call, Machine]:
    """A call of a torch tensor that requires grad."""
    pytest.importorskip("torch")
    form = Form(next(each for each in FUNCTIONS if each.name == name), (Spec(FLOAT32, (6,)),), {})
    return Call(form, ("torch",), ("leaf",), (None,), "", "", (0,)), Machine(homes_on("cpu"), False)


def test_a_lost_gradient_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    call, machine = leaf_calls("negative")
    call.run(machine)
    plain = xp.negative
    monkeypatch.setattr(xp, "negative", lambda x: plain(x).detach())
    with pytest.raises(Mismatch, match="negative loses gradients"):
        call.run(machine)


def test_a_gradient_where_none_should_be_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    call, machine = leaf_calls("unique_values")
    call.run(machine)
    monkeypatch.setattr(xp, "unique_values", lambda x: x)
    with pytest.raises(Mismatch, match="unique_values accepts a tensor that requires grad"):
        call.run(machine)


def negation(seed: int) -> Call:
    form = Form(next(each for each in FUNCTIONS if each.name == "negative"), (Spec(FLOAT32, (6,)),), {})
    return Call(form, ("own",), ("",), (None,), "", "", (seed,))


@pytest.mark.parametrize("is_deferred", [False, True])
def test_memory_that_somebody_overwrites_is_found(places: dict[str, Framework], is_deferred: bool) -> None:
    machine = Machine(places, is_deferred)
    negation(0).run(machine)
    negation(1).run(machine)
    operand = machine.variables[0]
    operand.value[...] = 17
    with pytest.raises(Mismatch, match="an array has changed"):
        machine.finish()


def test_views_are_written_with_their_bases(places: dict[str, Framework]) -> None:
    machine = Machine(places, False)
    negation(0).run(machine)
    machine.keep(machine.variables[0][(slice(1, 3, 1),)])
    Write(2, None).run(machine)
    assert machine.variables[0].value.tolist()[1:3] == [3.0, 3.0]
    machine.finish()


@pytest.mark.parametrize(
    ("got", "exact", "bound", "wrong"),
    [
        (np.float32([1, 2]), np.array([1.0, 2]), None, False),
        (np.float32([1, 2]), np.array([1.0, 3]), None, True),
        (np.float64([1, 2]), np.array([1.0, 2]), None, True),
        (np.float32([[1, 2]]), np.array([1.0, 2]), None, True),
        (np.float32([np.nan]), np.array([np.nan]), None, False),
        (np.float32([np.nan]), np.array([1.0]), errors.ulps(), True),
        (np.float32([np.inf]), np.array([1e39]), errors.ulps(), False),
        (np.float32([np.inf]), np.array([1e38]), errors.ulps(), True),
        (np.float32([1 + 2**-20]), np.array([1.0]), errors.ulps(8), False),
        (np.float32([1 + 2**-19]), np.array([1.0]), errors.ulps(8), True),
    ],
)
def test_what_differs(got: Any, exact: Any, bound: Any, wrong: bool) -> None:
    allowed = bound and (lambda each: bound([], each, FLOAT32, {}))
    assert (errors.disagreement(got, exact, FLOAT32, allowed) is not None) == wrong


def test_parameters_by_their_places() -> None:
    function = Function("take", lambda random, dtype: ((), {}), (FLOAT32,), np.take, common, positional=("indices",))
    x = xp.asarray([1.0, 2.0], device="cpu")
    assert function(x, indices=xp.asarray([1], device="cpu"), axis=0).tolist() == [2.0]


def test_references_take_integers_of_two_dtypes() -> None:
    """NumPy's `power` refuses negative exponents of integers, and a row's function takes operands of one dtype."""
    (power,) = (function for function in FUNCTIONS if function.name == "pow")
    found = power.oracle(np.asarray([2, 1, 3], np.uint8), np.asarray([-1, -2, 2], np.int32))
    np.testing.assert_array_equal(found, [0, 1, 9])


@pytest.mark.parametrize("op", [*OPERATORS.values(), *ACTIVATIONS.values()], ids=str)
def test_references_of_deviating_functions_are_others(op: Operator) -> None:
    """A fault in a function that is its own reference would be invisible on the CPU."""
    assert reference_of(op).__module__ not in ("xpops.ops.activation", "xpops.ops.circular", "xpops.ops.functions")


def test_parameters_are_drawn() -> None:
    (softplus,) = (function for function in FUNCTIONS if function.name == "nn.softplus")
    drawn = [softplus.draw(Random(seed), FLOAT32)[1] for seed in range(50)]
    assert {each.get("beta") for each in drawn} == {None, 0.5, 1.0, 2.0}
    assert softplus.oracle(np.asarray([0.0]), beta=2.0) == pytest.approx(np.log(2) / 2)


# Shortening, processes, reports.


def test_shrink() -> None:
    for wanted in ([3], [0, 19], [4, 5, 6], [1, 7, 13]):
        tried: list[list[int]] = []

        def fails(numbers: list[int], wanted: list[int] = wanted, tried: list[list[int]] = tried) -> bool:
            tried.append(numbers)
            return set(wanted) <= set(numbers)

        assert shrink(20, fails) == wanted
        assert all(a < b for each in tried for a, b in pairwise(each))


def options(**named: Any) -> SimpleNamespace:
    return SimpleNamespace(**{"device": "cpu", "seed": 1, "kernels": 20, "jobs": 1, "seconds": 0.5, **named})


def test_a_process_answers_and_its_end_is_a_fault() -> None:
    process = Process(options(), 0, 1)
    assert process.ask(4)["actions"] == len(draw_program(1, 4, draw_pool(1, 20, "cpu"), homes_on("cpu")).actions)
    process._child.kill()
    outcome = process.ask(5)
    assert (outcome["number"], outcome["kind"]) == (5, "the process ended")
    assert process.has_ended
    process.close()


def test_a_run_writes_a_report_and_the_next_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "REPORTS", tmp_path)
    command = ["--device", "cpu", "--seconds", "0.3", "--seed", "8", "--kernels", "10", "-j", "1"]
    for _ in range(2):
        assert fuzz.main(command) == 0
        assert capsys.readouterr().out.startswith("conformance.fuzz: seed 8\n")
    (run,) = json.loads((tmp_path / "fuzz-cpu.json").read_text())["runs"]
    assert run["programs"] > 1
    assert fuzz.main([*command, "--seed", "9"]) == 0
    found = json.loads((tmp_path / "fuzz-cpu.json").read_text())
    assert [each["seed"] for each in found["runs"]] == [8, 9]
    assert found["programs"] == sum(each["programs"] for each in found["runs"])
    assert report.programs_done("cpu", found["fingerprint"], 8, 10) == run["programs"]
    assert report.programs_done("cpu", "other code", 8, 10) == 0


def test_one_program_or_some_of_its_actions(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--device", "cpu", "--seed", "1", "--kernels", "20", "--program", "4", "--actions", "0"]) == 0
    assert "no fault" in capsys.readouterr().out


@pytest.mark.skipif(reporting.available("cuda"), reason="there is a GPU")
def test_without_the_device_nothing_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--device", "cuda"]) == 2
    assert "no cuda device" in capsys.readouterr().out


def test_kernels_are_compiled_by_calls_of_every_form(
    places: dict[str, Framework], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``out=`` too, if there is such a parameter."""
    plain, calls = xp.negative, list[bool]()

    def negative(x: Any, out: Any = None) -> Any:
        calls.append(out is not None)
        return plain(x, out=out)

    plant("negative", negative, monkeypatch)
    (group,) = draw_pool(0, 1, "cpu")
    program.warm_up(group, places)
    assert calls == [False, True] * len(group)
