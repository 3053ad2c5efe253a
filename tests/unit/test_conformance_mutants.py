"""Mutants: the possible changes, that drawing is fair and repeatable, and verdicts on a package of two functions."""

from __future__ import annotations

import itertools
import json
import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import coverage
import pytest

from conformance.mutants import __main__ as runner
from conformance.mutants import coverage_map, covering, gpu_tests, ranking, results, run, trial
from conformance.mutants.coverage_map import CoverageMap, Record
from conformance.mutants.draw import candidates, compiles, draw
from conformance.mutants.header_source import HeaderSource
from conformance.mutants.mutant import Mutant
from conformance.mutants.tree import Workshop
from conformance.mutants.trial import Batch, Bench, Verdict

MODULE = '''"""Adds 1 and 2."""

from __future__ import annotations

LIMIT: int = 7


def capped(x: tuple[int, int] | None, y: int = 0) -> int:
    """The sum, LIMIT - 1 at most."""
    if x is None:
        raise ValueError(f"x is {1 + 1}")  # 3 < 4
    return min(sum(x) + y, LIMIT)


def unused(x: int) -> int:
    return x - 1
'''
TESTS = """
from package.numbers import capped, unused

def test_small():
    assert capped((1, 2), 3) == 6

def test_capped():
    assert capped((5, 6)) == 7

def test_nothing():
    unused(3)
"""
HEADER = """// a + b: a comment
#define TWICE(x) (x + 1)
#pragma once
namespace xpops {
static_assert(1 < 2, "a - b");
template <class T, int kCount = 3>
struct Sum {
  /* x - y
     z - 1 */
  T operator()(const T& x, T y) const { return x - y; }
};
void kernel(int64 size) {
  for (int64 i = 0; i < size; ++i) {
    if (i > 2 && i < size) out[i] = x[i] * kernel::two<int>(i, size);
    __syncthreads();
    const Foo<int> z = half ? floor(x) : f(x, y);
  }
}
}  // namespace xpops
"""


def changed(file: str, text: str) -> dict[int, dict[str, set[str]]]:
    """The changed lines, by line and kind of change."""
    return {
        line: {kind: {mutant.after.strip() for mutant in mutants} for kind, mutants in kinds.items()}
        for line, kinds in candidates(file, text).by_line.items()
    }


def python(line: str) -> dict[str, set[str]]:
    """The changes of a line in a function."""
    return changed("xpops/a.py", f"def f():\n    {line}\n").get(2, {})


def header(line: str) -> dict[str, set[str]]:
    return changed("native/a.cuh", f"void f() {{\n  {line}\n}}\n").get(2, {})


def test_python_is_changed_where_it_runs() -> None:
    """There are no changes in docstrings, annotations, comments, messages and imports."""
    found = changed("xpops/a.py", MODULE)
    assert set(found) == {5, 8, 10, 11, 12, 16}
    assert found[5] == {"off by one": {"LIMIT: int = 8", "LIMIT: int = 6"}}
    assert set(found[8]) == {"off by one"}
    assert found[11] == {"dropped statement": {"pass  # 3 < 4"}}
    assert candidates("xpops/a.py", MODULE).code_lines == 8


@pytest.mark.parametrize(
    ("line", "kind", "after"),
    [
        ("return a < b", "wrong comparison", "return a <= b"),
        ("return (a) not in b", "wrong comparison", "return (a) in b"),
        ("return a is not b", "wrong comparison", "return a is b"),
        ("return a - b", "swapped operands", "return b - a"),
        ("return (a + b) // c", "swapped operands", "return c // (a + b)"),
        ("return a // b", "wrong rounding", "return -(-a // b)"),
        ("return math.ceil(a)", "wrong rounding", "return math.floor(a)"),
        ("return a + b", "dropped term", "return b"),
        ("return a and b and c", "dropped term", "return (a and c)"),
        ("return a or b", "wrong operator", "return a and b"),
        ("if a:", "negated condition", "if not (a):"),
        ("if a:", "dropped guard", "if False:"),
        ("if a:", "dropped condition", "if True:"),
        ("return [x for x in y if x]", "dropped condition", "return [x for x in y if True]"),
        ("return f(a, b)", "swapped arguments", "return f(b, a)"),
        ("return f(a, axis=b)", "dropped argument", "return f(a)"),
        ("return abs(a)", "dropped call", "return a"),
        ("wait(a)", "dropped call", "pass"),
        ("a.b = c", "dropped statement", "pass"),
        ("raise", "dropped statement", "pass"),
        ("return a", "dropped result", "return None"),
        ("return x[1:]", "off by one", "return x[2:]"),
        ("return x[a:b]", "dropped bound", "return x[a:]"),
        ("return len(x)", "off by one", "return (len(x) - 1)"),
        ("return np.int64(a)", "wrong width", "return np.int32(a)"),
        ('return x.view("uint64")', "wrong width", 'return x.view("uint32")'),
        ("return launch(stream, a)", "wrong stream", "return launch(0, a)"),
        ("return max(a, b)", "wrong function", "return min(a, b)"),
        ("return f(True)", "wrong truth value", "return f(False)"),
        ("return not a", "dropped negation", "return a"),
    ],
)
def test_changes_of_python(line: str, kind: str, after: str) -> None:
    assert after in python(line + (" pass" if line.endswith(":") else ""))[kind] or after + " pass" in python(
        line + " pass"
    ).get(kind, ())


@pytest.mark.parametrize(
    "line",
    [
        "import a",
        'print("int64", 1)',
        "warnings.warn(f(1))",
        "T = TypeVar('T', bound=f(1))",
        "x: Literal[1]",
        '"int64"',
        "x = f'{1 + 1}'",
    ],
)
def test_what_stays_in_python(line: str) -> None:
    assert set(python(line)) <= {"dropped call"}


def test_text_of_the_command_line_stays() -> None:
    text = "def f(x):\n    return x['int64']\n"
    assert "wrong width" in changed("xpops/a.py", text)[2]
    assert "wrong width" not in changed("xpops/cli/a.py", text)[2]


def test_what_does_not_compile_is_no_mutant() -> None:
    text = "def f(x):\n    return x\n"
    assert compiles(Mutant("a.py", 2, "", "    return x", "    return None"), text)
    assert not compiles(Mutant("a.py", 2, "", "    return x", "    return ("), text)
    assert not compiles(Mutant("a.py", 2, "", "    return x", "    return (x)"), text)


def test_headers_are_changed_where_they_run() -> None:
    """There are no changes in comments, strings, preprocessor lines, static_assert and template parameters."""
    found = changed("native/a.cuh", HEADER)
    assert set(found) == {10, 13, 14, 15, 16, 12}
    assert set(found[12]) == {"wrong width"}
    assert set(found[10]) == {"wrong operator", "dropped term", "swapped operands"}
    assert found[15] == {"dropped synchronisation": {";"}}
    assert HeaderSource(HEADER).structs() == {"Sum": range(7, 12)}


@pytest.mark.parametrize(
    ("line", "kind", "after"),
    [
        ("if (a < b) return;", "wrong comparison", "if (a <= b) return;"),
        ("if (a < b) return;", "negated condition", "if (!(a < b)) return;"),
        ("if (a < b) return;", "dropped guard", "if (false) return;"),
        ("if (a < b) return;", "dropped condition", "if (true) return;"),
        ("if (a < b) return;", "dropped statement", "if (a < b) ;"),
        ("while (f(x)) g();", "negated condition", "while (!(f(x))) g();"),
        ("x = a + b * c;", "dropped term", "x = a;"),
        ("x = a + b * c;", "dropped term", "x = a + b;"),
        ("x = a - b[i - 1];", "swapped operands", "x = b[i - 1] - a;"),
        ("x = (a + b) / c;", "swapped operands", "x = c / (a + b);"),
        ("x = a && b;", "wrong operator", "x = a || b;"),
        ("x += a;", "wrong operator", "x -= a;"),
        ("x += a;", "dropped statement", ";"),
        ("*x = a;", "dropped statement", ";"),
        ("x[i + 1].at(2) = a;", "dropped statement", ";"),
        ("a.store(b, c);", "dropped statement", ";"),
        ("a.store(b, c);", "swapped arguments", "a.store(c, b);"),
        ("x = f<A, 2>(b + c);", "dropped call", "x = (b + c);"),
        ("x = a ? b : f(c, d);", "swapped branches", "x = a ? f(c, d) : b;"),
        ("x = 0xffu;", "off by one", "x = 0x100u;"),
        ("int64 x = a;", "wrong width", "int32 x = a;"),
        ("x = floor(a);", "wrong rounding", "x = ceil(a);"),
        ("x = __fadd_rn(a, b);", "wrong rounding", "x = __fadd_rz(a, b);"),
        ("x = max(a, b);", "wrong function", "x = min(a, b);"),
        ("x = !a;", "dropped negation", "x = a;"),
        ("f<true>(a);", "wrong truth value", "f<false>(a);"),
        ("__threadfence();", "dropped synchronisation", ";"),
    ],
)
def test_changes_of_headers(line: str, kind: str, after: str) -> None:
    assert after in header(line)[kind]


@pytest.mark.parametrize(
    "line", ["Foo<A> x;", "return (&x)[i];", "const T& a = b;", "T* x = y;", "int f(int a, int b);"]
)
def test_declarations_stay(line: str) -> None:
    assert header(line) == {}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with a module, a header and tests."""
    files = {
        "xpops/numbers.py": MODULE,
        "xpops/more.py": "from xpops.numbers import capped\n\n\ndef f(x):\n    return capped(x) + 1\n",
        "native/xpops/math/sum.cuh": HEADER,
        "native/xpops/kernels/total.cuh": "#include <xpops/math/sum.cuh>\n",
        "tests/test_numbers.py": TESTS.replace("package", "xpops"),
        "tests/helpers/emulator.hpp": "#define __device__\n",
        "xpops/__init__.py": "",
        ".git/config": "",
    }
    for name, text in files.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(text)
    return tmp_path / "root"


def test_drawing_goes_by_seed_and_source(tree: Path) -> None:
    first, again = (list(draw(tree, 3, "fingerprint")) for _ in range(2))
    assert first == again
    assert first != list(draw(tree, 4, "fingerprint"))
    assert first != list(draw(tree, 3, "another"))


def test_drawing_takes_every_line_once_and_files_by_their_code(tree: Path) -> None:
    drawn = [list(draw(tree, seed, "")) for seed in range(60)]
    everywhere = {file: candidates(file, (tree / file).read_text()) for file in {m.file for m in drawn[0]}}
    lines = {(file, line) for file, found in everywhere.items() for line in found.by_line}
    assert all(len(each) == len(lines) for each in drawn)
    assert {(mutant.file, mutant.line) for mutant in drawn[0]} == lines
    first = Counter(each[0].file for each in drawn)
    assert set(first) == set(everywhere)
    assert first["xpops/more.py"] == min(first.values())


def test_a_mutant_changes_its_line_only(tree: Path) -> None:
    for mutant in itertools.islice(draw(tree, 1, ""), 5):
        before = (tree / mutant.file).read_text().split("\n")
        after = mutant.changed("\n".join(before)).split("\n")
        assert [i for i, (x, y) in enumerate(zip(before, after, strict=True), 1) if x != y] == [mutant.line]
    with pytest.raises(ValueError, match=r"xpops/more.py:5 is not 'x'"):
        Mutant("xpops/more.py", 5, "", "x", "y").apply(tree)


def mutant_of(tree: Path, file: str, line: int, before: str, after: str) -> Mutant:
    text = (tree / file).read_text().split("\n")[line - 1]
    assert before in text
    return Mutant(file, line, "planted", text, text.replace(before, after))


@pytest.fixture
def bench(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench for mutants of the small repository, which contains pytest's plugin and what it needs."""
    monkeypatch.setenv("XPOPS_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    ours = Path(runner.__file__).parents[2]
    shutil.copytree(ours / "conformance", tree / "conformance")
    (tree / "xpops/plan").mkdir()
    (tree / "xpops/plan/cache.py").write_text((ours / "xpops/plan/cache.py").read_text())
    return Bench(Workshop(tree, tmp_path / "work", tmp_path / "objects", limited=True))


FILE = "tests/test_numbers.py"
ALL = Batch([FILE], [f"{FILE}::test_{name}" for name in ("small", "capped", "nothing")], {}, [])


def test_killed_and_survived(tree: Path, bench: Bench) -> None:
    """A test that also fails without the mutant does not kill it."""
    template = bench._workshop.template / FILE
    template.write_text(template.read_text() + "\ndef test_wrong():\n    assert False\n")
    every = ALL._replace(chosen=[f"{FILE}::test_wrong", *(ALL.chosen or ())])
    survivor = mutant_of(tree, "xpops/numbers.py", 16, "x - 1", "x + 1")
    assert bench.try_mutant(survivor, [every]) == Verdict("survived")
    assert bench.unsound == {f"{FILE}::test_wrong"}
    bench.sound.add(f"{FILE}::test_small")
    killed = mutant_of(tree, "xpops/numbers.py", 12, "+ y", "- y")
    assert bench.try_mutant(killed, [every]) == Verdict("killed", f"{FILE}::test_small", "fails")
    assert (tree / "xpops/numbers.py").read_text() == MODULE


def test_a_mutant_that_hangs_is_killed(tree: Path, bench: Bench) -> None:
    bench.sound.add(f"{FILE}::test_nothing")
    hanging = mutant_of(tree, "xpops/numbers.py", 16, "return x - 1", "while True: pass")
    one_second = [ALL._replace(seconds=dict.fromkeys(ALL.chosen or (), (1 - trial.LEAST) / trial.TIMES))]
    assert bench.try_mutant(hanging, one_second) == Verdict("killed", f"{FILE}::test_nothing", "hangs")


def test_a_mutant_that_cannot_be_imported_is_killed(tree: Path, bench: Bench) -> None:
    bench.sound.add(FILE)
    broken = mutant_of(tree, "xpops/numbers.py", 5, "7", "1 / 0")
    assert bench.try_mutant(broken, [ALL]) == Verdict("killed", FILE, "fails")


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("a/xpops/math/sum.cuh:10:3: error: no x", "invalid"),
        ("sum.cuh(10): error: no x", "invalid"),
        ("1 != 2", "killed"),
    ],
)
def test_a_header_that_a_compiler_refuses_is_invalid(
    text: str, status: str, tree: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = [
        {"test": "a.py::test", "outcome": "failed", "text": text},
        {"test": None, "outcome": "end", "status": 1, "text": ""},
    ]
    monkeypatch.setattr(bench, "_run", lambda tree, tests: account)
    monkeypatch.setattr(bench, "_compiles", lambda mutant: True)
    bench.sound.add("a.py::test")
    mutant = mutant_of(tree, "native/xpops/math/sum.cuh", 10, "x - y", "y - x")
    assert bench.try_mutant(mutant, [ALL]).status == status


@pytest.mark.parametrize(("after", "status"), [("y - x", "survived"), ("x -", "invalid")])
def test_compilers_take_the_header_alone(after: str, status: str, tree: Path, bench: Bench) -> None:
    pytest.importorskip("cuda.bindings.nvrtc")
    text = "struct Sub {\n  template <class T> __device__ T operator()(T x, T y) const { return x - y; }\n};\n"
    for root in (tree, bench._workshop.template):
        (root / "native/xpops/math/sum.cuh").write_text(text)
    assert bench.try_mutant(mutant_of(tree, "native/xpops/math/sum.cuh", 2, "x - y", after), []).status == status


@pytest.mark.parametrize(
    ("account", "verdict"),
    [
        ([("a", "started"), ("a", "ended")], Verdict("survived")),
        ([("a", "started"), ("a", "failed"), ("a", "ended")], Verdict("killed", "a", "fails")),
        ([("a", "started"), ("a", "ended"), ("b", "started")], Verdict("killed", "b", "crashes")),
    ],
)
def test_judging(account: list[tuple[str, str]], verdict: Verdict) -> None:
    entries: list[dict[str, Any]] = [{"test": test, "outcome": outcome, "text": ""} for test, outcome in account]
    status = -11 if verdict.how == "crashes" else int(verdict.status == "killed")
    assert trial._judge([*entries, {"outcome": "end", "status": status, "text": ""}])[0] == verdict


def test_pytest_that_fails_without_a_mutant_is_no_verdict(
    tree: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant, statuses = mutant_of(tree, "xpops/numbers.py", 12, "+ y", "- y"), [3, 0, 3, 3]
    monkeypatch.setattr(
        bench, "_run", lambda tree, tests: [{"outcome": "end", "status": statuses.pop(0), "text": "INTERNALERROR"}]
    )
    assert bench.try_mutant(mutant, [ALL]) == Verdict("killed", None, "stops pytest")
    with pytest.raises(RuntimeError, match="pytest fails without a mutant:\nINTERNALERROR"):
        bench.try_mutant(mutant, [ALL])


class Known(CoverageMap):
    """A fixed map of tests."""

    def __init__(self, tests: dict[str, Record], lines: dict[str, dict[int, set[str]]]) -> None:
        self.tests, self._lines = tests, lines

    def imported(self, file: str) -> set[int]:
        return {5, 8, 15}


def record(seconds: float = 0.1, *headers: str) -> Record:
    return Record("passed", seconds, list(headers), [])


def test_the_tests_of_a_line(tree: Path) -> None:
    known = Known({}, {"xpops/numbers.py": {10: {"a", "b"}, 12: {"a"}}, "xpops/more.py": {5: {"c"}}})
    for line, tests in {10: {"a", "b"}, 12: {"a"}, 8: {"a", "b"}, 5: {"a", "b"}, 16: set()}.items():
        assert covering.covering(Mutant("xpops/numbers.py", line, "", "", ""), tree, known) == tests, line
    known = Known({}, {"xpops/numbers.py": {}, "xpops/more.py": {5: {"c"}}})
    assert covering.covering(Mutant("xpops/numbers.py", 5, "", "", ""), tree, known) == {"c"}


def test_the_tests_of_a_header(tree: Path) -> None:
    tests = {
        "t::direct": record(0.1, "xpops/math/sum.cuh"),
        "t::through": record(0.1, "xpops/kernels/total.cuh"),
        "t::none": record(),
        "t::failed": record(0.1, "xpops/math/sum.cuh")._replace(outcome="failed"),
        "tests/unit/test_architecture.py::a": record(0.1, "xpops/math/sum.cuh"),
    }
    mutant = Mutant("native/xpops/math/sum.cuh", 10, "", "", "")
    assert covering.covering(mutant, tree, Known(tests, {})) == {"t::direct", "t::through"}
    assert covering.struct_at(tree, mutant) == "Sum"
    assert ranking.ranked(mutant, ["t::through", "t::direct"], tree, Known(tests, {})) == ["t::direct", "t::through"]


def test_the_nearest_tests_come_first_and_one_of_each_function(tree: Path) -> None:
    names = ["t/test_all.py::test_x", "t/test_numbers.py::test_y[1]", "t/test_numbers.py::test_y[2]"]
    known = Known({name: record(i + 1.0) for i, name in enumerate(names)}, {})
    mutant = mutant_of(tree, "xpops/numbers.py", 12, "+", "-")
    assert ranking.ranked(mutant, names, tree, known) == [names[1], names[0], names[2]]
    known = Known({name: record(30.0) for name in names}, {})
    stages = ranking.staged(mutant, set(names), tree, known)
    assert (stages.first, stages.then, stages.covering) == (names[1:2], [names[0], names[2]], 3)


def test_the_map_is_brought_up_to_date(tree: Path, tmp_path: Path) -> None:
    """The lines of a changed module are removed, and the files of tests that ran them run again."""

    def recorded(name: str, lines: dict[str, dict[str, list[int]]]) -> Path:
        """Write what a worker records: test -> module -> lines."""
        (tmp_path / name).mkdir()
        data = coverage.CoverageData(str(tmp_path / name / "lines.gw0"))
        for test, modules in lines.items():
            data.set_context(test)
            data.add_lines(modules)
        data.write()
        entries = [{"test": test, **record()._asdict()} for test in lines if test]
        (tmp_path / name / "tests.gw0").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        return tmp_path / name

    kept, more, numbers = tmp_path / "map", "xpops/more.py", "xpops/numbers.py"
    kept.mkdir()
    first = recorded("first", {"": {more: [1]}, f"{FILE}::a": {more: [5], numbers: [12]}, "tests/b.py::b": {more: [5]}})
    tests = coverage_map.merge(first, kept, set())
    (kept / "tests.json").write_text(json.dumps({"tests": tests}))
    known = CoverageMap(kept)
    assert (known.lines(more), known.imported(more)) == ({1: set(), 5: {f"{FILE}::a", "tests/b.py::b"}}, {1})
    assert coverage_map.files_to_run(tree, {numbers}, known) == [FILE]
    assert coverage_map.files_to_run(tree, {"tests/b.py"}, known) == []
    coverage_map.merge(recorded("second", {f"{FILE}::a": {numbers: [16]}}), kept, {numbers})
    known = CoverageMap(kept)
    assert (known.lines(numbers), set(known.lines(more))) == ({16: {f"{FILE}::a"}}, {1, 5})


def test_tests_of_the_same_family_run_on_a_gpu(tree: Path) -> None:
    for name in ("engine/test_sums.py", "engine/test_totals_large.py", "interop/test_more.py"):
        (tree / "tests" / name).parent.mkdir(exist_ok=True)
        (tree / "tests" / name).touch()
    for file, names in {
        "native/xpops/math/sum.cuh": ["engine/test_sums.py", "engine/test_totals_large.py"],
        "native/xpops/kernels/total.cuh": ["engine/test_totals_large.py"],
        "xpops/numbers.py": ["engine/test_sums.py", "engine/test_totals_large.py", "interop/test_more.py"],
    }.items():
        wanted = [f"tests/{name}" for name in names]
        assert gpu_tests.related_files(Mutant(file, 1, "", "", ""), tree) == wanted, file


def test_reports_of_a_source_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, mutant = tmp_path / "report.json", Mutant("a.py", 3, "off by one", "  x = 1", "  x = 2")
    first = results.Results(path, "cpu", "one")
    first.add(1, mutant, Verdict("killed", "t", "fails"), {"covering": 4}, 0.26)
    first.add(1, mutant._replace(line=4), Verdict("survived"), {}, 1)
    second = results.Results(path, "cpu", "one")
    second.add(2, mutant, Verdict("invalid"), {}, 1)
    assert second.get(1, mutant) == {
        "seed": 1, **mutant._asdict(), "tests": {"covering": 4},
        "status": "killed", "test": "t", "how": "fails", "seconds": 0.3,
    }  # fmt: skip
    report = json.loads(path.read_text())
    assert report["seeds"]["1"] == {"killed": 1, "survived": 1, "equivalent": 0, "invalid": 0, "share_killed": 0.5}
    assert report["all"] == {"killed": 1, "survived": 1, "equivalent": 0, "invalid": 1, "share_killed": 0.5}
    entry = {"file": "a.py", "operator": "off by one", "before": "x = 1", "after": "x = 2", "reason": "not read"}
    monkeypatch.setattr(results, "equivalents", lambda: {results._place(entry): "not read"})
    second.write()
    report = json.loads(path.read_text())
    assert [each.get("reason") for each in report["mutants"]] == [None, "not read", None]
    assert report["all"] == {"killed": 1, "survived": 0, "equivalent": 1, "invalid": 1, "share_killed": 1.0}
    assert results.load(path, "another") == []


def test_the_reasons_of_equivalent_mutants_belong_to_lines_that_are_there() -> None:
    for file, _, before, after in results.equivalents():
        assert before != after
        lines = {line.strip() for line in (results.EQUIVALENT.parents[2] / file).read_text().splitlines()}
        assert before in lines, f"{file} has no line {before!r}"


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Invalid mutants are replaced by the next ones."""
    tried = []

    class FakeBench(Bench):
        def __init__(self) -> None:
            pass

        def try_mutant(self, mutant: Mutant, stages: list[Batch]) -> Verdict:
            tried.append(mutant.line)
            return Verdict("invalid" if mutant.line == 2 else "survived")

    def go(count: int) -> list[int]:
        report = results.Results(tmp_path / "report.json", "cpu", "one")
        drawn = (Mutant("a.py", line, "planted", "x", "y") for line in range(1, 9))
        done = run.Run(FakeBench(), report, lambda mutant: run.Choice([], {}), 1).try_drawn(5, drawn, count)
        return [entry["line"] for entry in done]

    assert go(2) == [1, 2, 3]
    assert go(3) == [1, 2, 3, 4]
    assert tried == [1, 2, 3, 4]
    assert "survived   a.py:4 planted\n           - x\n           + y\n" in capsys.readouterr().out


def test_a_run_without_a_device_or_coverage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner, "available", lambda device: device == "cpu")
    monkeypatch.setattr(runner, "find_spec", lambda name: None)
    assert runner.main(["--device", "cuda"]) == runner.main([]) == 2
    assert capsys.readouterr().out == (
        "conformance.mutants: no cuda device here\n"
        "conformance.mutants: coverage.py is not installed; pip install -e '.[test]'\n"
    )


def test_tests_that_read_the_source_run_last(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The map does not contain these tests, because they run no line."""
    monkeypatch.setattr(run, "covering", lambda *given: set())
    monkeypatch.setattr(
        run, "staged", lambda *given: SimpleNamespace(first=["tests/test_numbers.py::a"], then=[], covering=1)
    )
    known: Any = SimpleNamespace(tests={"tests/test_numbers.py::a": SimpleNamespace(seconds=1.0)})
    mutant = mutant_of(tree, "native/xpops/math/sum.cuh", 10, "x - y", "y - x")
    assert [stage.files for stage in run.choice(mutant, tree, known).stages] == [["tests/test_numbers.py"]]
    (tree / run.READS_THE_SOURCE).parent.mkdir(parents=True)
    (tree / run.READS_THE_SOURCE).write_text("")
    *_, last = run.choice(mutant, tree, known).stages
    assert (last.files, last.chosen) == ([run.READS_THE_SOURCE], None)
