"""The command that compiles what documents print, on a document of our own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from conformance.sources import __main__ as sources
from conformance.sources import trial
from conformance.sources.documents import blocks_of, by_name, declarations_of, definitions_of, name_of
from conformance.sources.example import COUNT, Change, Example, driver, numbers

DOCUMENT = """# Doubling

Not code: `struct Wrong {};`

```cpp
// Twice, "as printed" {
template <typename T, int N = (2 > 1)>
struct Twice {
  DEVICE T operator()(T x) const { return x + x; }  // }
};
namespace own { namespace deeper {
constexpr int kTwo = 2;
}}
__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
```

```cpp
struct Twice;
int main() { return "}"[0]; }
```
"""
TWICE = Example(
    "Twice",
    ("own::kTwo", "Twice"),
    lambda each: 2 * each["x"],
    changes=(Change("#define DEVICE __device__"), Change("own::kTwo * x", "x + x")),
    driver=driver("out[i] = Twice<T>()(x[i]);"),
    types=("float", "double"),
)
COPY = Example(
    "copy",
    ("copy",),
    lambda each: each["x"],
    kernel="copy",
    types=("",),
    call=lambda kernel, x, y, out: kernel(1, COUNT, (x, out)),
)
OUTCOME = "compiled" if trial.gpu() is None else "ran"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "doubling.en.md").write_text(DOCUMENT)
    monkeypatch.setattr(sources, "TABLES", {"doubling": ((TWICE, COPY), {"main": "code for the host"})})
    monkeypatch.setattr(sources, "TITLES", ("Doubling",))
    monkeypatch.setattr(sources, "REPORTS", tmp_path)
    monkeypatch.setattr(sources, "PAGE", tmp_path / "printed.md")
    monkeypatch.setattr(trial, "CAPABILITIES", (80, 120))
    return tmp_path


def test_definitions(folder: Path) -> None:
    found = definitions_of(folder)
    assert [each.name for each in found] == ["Twice", "kTwo", "copy", "Twice#2", "main"]
    assert {each.document for each in found} == {"doubling"}
    assert found[1].text == "constexpr int kTwo = 2;"
    assert found[0].text.startswith("template <typename T, int N = (2 > 1)>\nstruct Twice {")
    assert found[0].text.endswith("// }\n};")


def test_pages_copied_from_a_browser() -> None:
    lines = ("  ", "#define TWO\\_LINES(x) \\  ", "  x  ", "\\_\\_device\\_\\_ int f(int x) { return x; }  ")
    text = "\n".join(("A sentence.", *lines, "", "More.", ""))
    (block,) = blocks_of(text)
    found = list(declarations_of(block))
    assert found == ["#define TWO_LINES(x) \\\n  x", "__device__ int f(int x) { return x; }"]
    assert [name_of(each) for each in found] == ["TWO_LINES", "f"]


def test_a_definition_in_no_table_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sources.main(["--documents", str(folder)]) == 1
    assert "in no table: doubling: Twice#2\n" in capsys.readouterr().out


def test_the_page_and_the_report(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sources.TABLES["doubling"][1], "Twice#2", "declared only")
    assert sources.main(["--documents", str(folder), "--only", "copy"]) == 0
    assert not (folder / "printed.md").exists()
    assert sources.main(["--documents", str(folder)]) == 0
    page = (folder / "printed.md").read_text()
    assert f"| Twice | `#define DEVICE __device__`<br>`x + x` becomes `own::kTwo * x` | {OUTCOME} |" in page
    assert f"| copy | nothing | {OUTCOME} |" in page
    assert "- `Twice#2`: declared only" in page
    report = json.loads((folder / "sources.json").read_text())
    assert report["examples"]["doubling"][0]["outcome"] == OUTCOME
    assert "operator()" not in page + json.dumps(report)


def test_faults_are_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = {name: text for (_, name), text in by_name(definitions_of(folder)).items()}
    result = trial.tried(TWICE._replace(changes=()), printed)
    assert result.outcome.startswith("does not compile: ")
    assert "DEVICE" in result.outcome
    missing = trial.tried(COPY._replace(kernel="other"), printed)
    assert missing.outcome == "failed: ValueError: other: there is no kernel 'other'; accepted: copy"
    monkeypatch.setattr(sources, "TABLES", {"doubling": ((COPY._replace(kernel="other"), TWICE), {"main": "a host's"})})
    assert sources.main(["--documents", str(folder)]) == 1
    page = (folder / "printed.md").read_text()
    assert "| copy | nothing | failed: ValueError: other" in page
    assert "| Twice |" in page


def test_arrays_of_examples() -> None:
    arrays = numbers(x=(COUNT,), y=(2, 3), out=(4,))
    assert arrays["x"].min() >= 1
    np.testing.assert_array_equal(arrays["out"], np.zeros(4))
    np.testing.assert_array_equal(arrays["y"], numbers(x=(COUNT,), y=(2, 3), out=(4,))["y"])
