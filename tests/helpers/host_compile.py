"""Compiles device functions with a host C++ compiler and calls them on NumPy buffers, to test them without a GPU.

>>> sine = functor("Sin", "trigonometric", 1, "float64")  # doctest: +SKIP
>>> sine(np.zeros(3))  # doctest: +SKIP
array([0., 0., 0.])
"""

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

# The environment variable that names the folder of compiled files.
SHARED = "XPOPS_TESTS_COMPILED"
NATIVE = Path(__file__).resolve().parents[2] / "native"
COMPILER = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("clang++")
# No contraction: the headers call fma where they need it, as on the device.
FLAGS = ["-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-Wall", "-Wno-unused-parameter", f"-I{NATIVE}"]

PRELUDE = """
using namespace xpops;
#define ELEMENTWISE1(symbol, F, A, R) extern "C" void symbol(const A* a, R* r, long n) {\\
  for (long i = 0; i < n; ++i) r[i] = F(a[i]); }
#define ELEMENTWISE2(symbol, F, A, B, R) extern "C" void symbol(const A* a, const B* b, R* r, long n) {\\
  for (long i = 0; i < n; ++i) r[i] = F(a[i], b[i]); }
#define ELEMENTWISE3(symbol, F, A, B, C, R) extern "C" void symbol(const A* a, const B* b, const C* c, R* r, long n) {\\
  for (long i = 0; i < n; ++i) r[i] = F(a[i], b[i], c[i]); }
"""


@functools.cache
def _temporary() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="xpops-host-")


def _folder() -> Path:
    """The folder of compiled files: `tests/conftest.py` makes one for all processes of a run."""
    return Path(os.environ.get(SHARED) or _temporary().name)


def build(source: str, *flags: str, first: str = "") -> ctypes.CDLL:
    """A shared object compiled from C++ source, once for all processes. The lines `first` are compiled beforehand."""
    if first:
        header = _compile_header(first, flags)
        source, flags = f'#include "{header.name}"\n{source}', (*flags, f"-I{header.parent}")
    library = _folder() / f"{_digest(source, flags)}.so"
    if not library.exists():
        code = library.with_suffix(f".{_own_name()}.cpp")
        code.write_text(source)
        _compile(code, library, flags)
    return ctypes.CDLL(str(library))


def _compile_header(text: str, flags: tuple[str, ...]) -> Path:
    """A header whose compiled form is beside it, where g++ finds it if the flags are the same."""
    folder = _folder() / _digest(text, flags)
    header = folder / "first.hpp"
    if not (compiled := folder / "first.hpp.gch").exists():
        folder.mkdir(exist_ok=True)
        written = folder / _own_name()
        written.write_text(text)
        written.rename(header)
        _compile(header, compiled, flags, "-x", "c++-header")
    return header


def _compile(code: Path, result: Path, flags: tuple[str, ...], *language: str) -> None:
    """Other processes find the result only when it is complete."""
    if COMPILER is None:
        raise RuntimeError("no C++ compiler found; set CXX")
    aside = result.with_suffix(f".{_own_name()}.tmp")
    command = [COMPILER, *FLAGS, *language, str(code), "-o", str(aside), *flags]  # libraries come after the code
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    aside.rename(result)


def _digest(source: str, flags: tuple[str, ...]) -> str:
    return hashlib.sha256((source + " ".join(flags)).encode()).hexdigest()[:16]


def _own_name() -> str:
    """A name that no other thread of any process of this run has."""
    return f"{os.getpid()}-{threading.get_ident()}"


def build_all(sources: dict[str, str]) -> dict[str, ctypes.CDLL]:
    """Compile several libraries in parallel."""
    _folder()  # before the threads start: they must not make two
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return dict(zip(sources, pool.map(build, sources.values()), strict=True))


def call(library: ctypes.CDLL, symbol: str, result: np.dtype, *arrays: np.ndarray) -> np.ndarray:
    """Call an ELEMENTWISE symbol on contiguous arrays of one shape."""
    arrays = [np.ascontiguousarray(a) for a in np.broadcast_arrays(*arrays)]
    out = np.empty(arrays[0].shape, result)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)]
    getattr(library, symbol)(*pointers, ctypes.c_long(out.size))
    return out
