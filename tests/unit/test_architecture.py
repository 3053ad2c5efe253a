"""Tests the rules of the repository by reading its source."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from xpops.ops.elementwise import INTERNAL, OPERATORS
from xpops.ops.reduction import REDUCTIONS
from xpops.ops.scan import SCANS
from xpops.ops.special import SPECIAL

ROOT = Path(__file__).parents[2]
# Imports run from left to right only.
ORDER = (
    "dask",
    "zarr",
    "cli",
    "testing",
    "numpy",
    "api",
    "arrays",
    "dlpack",
    "dispatch",
    "frameworks",
    "engine",
    "plan",
    "ops",
    "core",
)
# Within engine/cuda: a folder or module imports only those with a higher number.
CUDA_ORDER = {
    "preparation": -1,
    "engine": 0,
    "warmup": 0,
    "fused": 1,
    "user": 1,
    "libraries": 2,
    "kernels": 3,
    "tuning": 4,
    "runtime": 5,
}
NATIVE_ORDER = ("names", "kps", "kernels", "user", "block", "memory", "index", "math", "core")
MODULES = sorted(path.relative_to(ROOT) for path in (ROOT / "xpops").rglob("*.py"))
HEADERS = sorted(path.relative_to(ROOT) for path in (ROOT / "native").rglob("*.cuh"))


def module_of(path):
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


NAMES = {module_of(path) for path in MODULES}


def imported(path):
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def layer(name):
    return name.split("/")[1].removesuffix(".py") if "/" in name else name


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_run_down(path):
    here = path.parts[1].removesuffix(".py")
    if here not in ORDER:  # xpops/__init__.py and xpops/__main__.py, which may import everything
        return
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "xpops" and len(parts) > 1 and parts[1] in ORDER:
            assert ORDER.index(parts[1]) >= ORDER.index(here), f"{path} imports {name}"


def imported_modules(path):
    """The modules of xpops that a file imports, including imports in functions and for type checkers."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in NAMES)
        elif isinstance(node, ast.ImportFrom):
            found = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from found & NAMES
            if found - NAMES and node.module in NAMES:  # names that the module itself defines
                yield node.module


def test_no_module_imports_itself_in_a_circle():
    try:
        TopologicalSorter({module_of(path): set(imported_modules(path)) for path in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@pytest.mark.parametrize("path", [path for path in MODULES if path.parts[:3] == ("xpops", "engine", "cuda")], ids=str)
def test_rooms_of_the_cuda_engine(path):
    here = path.parts[3].removesuffix(".py")
    for name in imported(path):
        there = name.removeprefix("xpops.engine.cuda.").partition(".")[0]
        if name.startswith("xpops.engine.cuda.") and there != here:
            assert CUDA_ORDER[there] > CUDA_ORDER[here], f"{path} imports {name}"


@pytest.mark.parametrize("path", HEADERS, ids=str)
def test_headers_include_downwards(path):
    here = path.parts[2].removesuffix(".cuh")  # kps.cuh belongs to the layer of its folder
    for name in re.findall(r'#include [<"]xpops/(\w+)/', (ROOT / path).read_text()):
        assert NATIVE_ORDER.index(name) >= NATIVE_ORDER.index(here), f"{path} includes {name}"
        assert (here, name) != ("kps", "kernels"), f"{path} includes {name}: they stand side by side"
        if name == "user":  # our own kernels are compiled without what users' code has
            assert "user" in path.parts, f"{path} includes {name}"


# A folder with more files is hard to read.
MOST_FILES = 25
MOST_LINES = 300
FOLDERS = sorted({path.parent for path in (*MODULES, *HEADERS)})


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_folders_are_small(folder):
    files = [path for path in (*MODULES, *HEADERS) if path.parent == folder]
    assert len(files) <= MOST_FILES


@pytest.mark.parametrize("path", [*MODULES, *HEADERS], ids=str)
def test_files_are_short(path):
    lines = (ROOT / path).read_text().splitlines()
    assert sum(not re.fullmatch(r' {4}"\w+",', line) for line in lines) <= MOST_LINES  # lists of names do not count


def test_only_config_reads_the_environment():
    readers = {path.as_posix() for path in MODULES if re.search(r"os\.(environ|getenv)", (ROOT / path).read_text())}
    # CUDA_VISIBLE_DEVICES is the driver's variable, not ours.
    assert readers <= {"xpops/core/config.py", "xpops/engine/cuda/runtime/driver.py"}


@pytest.mark.parametrize("op", [*OPERATORS.values(), *SPECIAL.values()], ids=lambda op: op.name)
def test_a_row_has_its_functor_and_its_function(op):
    header = (ROOT / "native/xpops/math" / f"{op.header}.cuh").read_text()
    assert re.search(rf"\bstruct {op.functor}\b", header) or f"({op.functor}," in header, "no functor"
    if op not in INTERNAL:
        import xpops

        assert callable(getattr(xpops.special, op.public) if op.name in SPECIAL else getattr(xpops, op.name)), "no def"


@pytest.mark.parametrize(
    ("op", "header"),
    [*((op, op.header) for op in REDUCTIONS.values()), *((op, "scan") for op in SCANS.values())],
    ids=str,
)
def test_a_reduction_or_scan_has_its_functor_and_its_function(op, header):
    assert re.search(rf"\bstruct {op.functor}\b", (ROOT / f"native/xpops/math/{header}.cuh").read_text()), "no functor"
    import xpops

    assert callable(getattr(xpops, op.name, None) or getattr(xpops.nn, op.name)), "no def"


# Errors of these calls may be ignored: they release something, or the call is repeated.
UNCHECKED = {"cuEventDestroy", "cuEventSynchronize", "cuThreadExchangeStreamCaptureMode"}


@pytest.mark.parametrize("path", sorted((ROOT / "xpops").rglob("*.py")), ids=lambda path: path.stem)
def test_errors_of_the_driver_are_looked_at(path):
    """Each call must be an argument of `check`, or its result must be unpacked."""
    tree = ast.parse(path.read_text())
    parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and re.match(r"driver\.cu[A-Z]", ast.unparse(call.func)):
            parent = parents[call]
            is_checked = isinstance(parent, ast.Call) and ast.unparse(parent.func) == "check"
            is_taken_apart = isinstance(parent, ast.Subscript | ast.Assign)
            assert is_checked or is_taken_apart or call.func.attr in UNCHECKED, ast.unparse(parent)
