"""``python -m conformance.sources --documents FOLDER``: compiles and runs the code that the five documents print.

Takes every definition of C++ out of the documents, changes what the tables beside this file say, and compiles it for
every architecture through `xpops.kernel`. On a machine with a GPU each kernel also runs, on torch tensors, and its
result is compared with NumPy's. Writes ``docs/sources/printed.md`` and a report, without the documents' text.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from conformance.fingerprint import ROOT, fingerprint
from conformance.reporting import REPORTS, heading
from conformance.sources import oneflow, paddle, pytorch
from conformance.sources.documents import Definition, by_name, definitions_of
from conformance.sources.example import Example
from conformance.sources.trial import Result, gpu, tried

# The examples of each document, by the beginning of its name, and why the other definitions are left out.
TABLES: dict[str, tuple[tuple[Example, ...], dict[str, str]]] = {
    "oneflow-elementwise-notes": (oneflow.ELEMENTWISE, oneflow.LEFT_OUT_ELEMENTWISE),
    "oneflow-fastatomicadd-upsample": (oneflow.ATOMICS, {}),
    "paddle-kernel-primitive-api": (paddle.EXAMPLES, paddle.LEFT_OUT),
    "pytorch-custom-cuda-matmul": (pytorch.MATMUL, pytorch.LEFT_OUT),
}
TITLES = (
    "OneFlow's elementwise template",
    "FastAtomicAdd, UpsampleNearest2D",
    "Paddle's kernel primitives",
    "PyTorch matmul",
)
PAGE = ROOT / "docs" / "sources" / "printed.md"


def main(arguments: list[str]) -> int:
    """Compile, run, write; returns 1 if an example failed or a definition is in no table."""
    parser = argparse.ArgumentParser("python -m conformance.sources", description="Compiles the documents' code.")
    parser.add_argument("--documents", type=Path, required=True, help="the folder of the documents")
    parser.add_argument("--only", default="", help="examples whose name contains this; writes nothing")
    options = parser.parse_args(arguments)
    definitions = definitions_of(options.documents)
    missing = forgotten(definitions)
    for each in missing:
        print(f"in no table: {each.document}: {each.name}")
    printed = by_name(definitions)
    results: dict[str, list[Result]] = {}
    for document, (examples, _) in TABLES.items():
        texts = {name: text for (where, name), text in printed.items() if where == document}
        results[document] = [tried(each, texts) for each in examples if options.only in each.name]
        for result in results[document]:
            print(f"{document}: {result.name}: {result.outcome}", flush=True)
    failed = [each for found in results.values() for each in found if each.outcome not in ("compiled", "ran")]
    if not options.only:
        write(results, gpu() is not None)
    return 1 if failed or missing else 0


def forgotten(definitions: list[Definition]) -> list[Definition]:
    """The definitions that no example takes and no table leaves out."""
    return [
        each
        for each in definitions
        if each.document in TABLES
        and each.name not in TABLES[each.document][1]
        and each.name
        not in {name.rpartition("::")[2] for example in TABLES[each.document][0] for name in example.takes}
    ]


def write(results: dict[str, list[Result]], ran: bool) -> None:
    """Write the page and the report."""
    found = {
        document: [{"name": each.name, "changes": each.changes, "outcome": each.outcome} for each in examples]
        for document, examples in results.items()
    }
    report = {**heading("cuda" if ran else "cpu"), "ran": ran, "examples": found, "fingerprint": fingerprint()}
    (REPORTS / "sources.json").write_text(json.dumps(report, indent=1) + "\n")
    PAGE.write_text(page(results, ran))


def page(results: dict[str, list[Result]], ran: bool) -> str:
    """The table of all examples."""
    how = "compiled for every architecture and run on a GPU" if ran else "compiled for every architecture"
    lines = [
        "# The documents' code, as printed",
        "",
        f"`python -m conformance.sources` wrote this page. Each row was {how}, through",
        "`xpops.kernel`. Definitions that need each other share a row.",
    ]
    for (document, examples), title in zip(results.items(), TITLES, strict=True):
        lines += ["", f"## {title}", "", "| Printed | What changes | Result |", "|---|---|---|"]
        for each in examples:
            changes = "<br>".join(map(_cell, each.changes)) or "nothing"
            lines.append(f"| {each.name} | {changes} | {_cell(each.outcome)} |")
        left = TABLES[document][1]
        if left:
            lines += ["", "Left out:", ""]
            for reason in dict.fromkeys(left.values()):
                names = ", ".join(
                    f"`{name}`" for name, why in left.items() if why == reason and not name.startswith(("#", "))"))
                )
                lines.append(f"- {names or 'directives'}: {reason}")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """The text of a cell of a table, which is one line."""
    return text.replace("\n", " ").replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
