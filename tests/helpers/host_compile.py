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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

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
def _folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="xpops-host-")


def build(source: str, *flags: str) -> ctypes.CDLL:
    """A shared object compiled from C++ source, at most once in this process."""
    if COMPILER is None:
        raise RuntimeError("no C++ compiler found; set CXX")
    digest = hashlib.sha256((source + " ".join(flags)).encode()).hexdigest()[:16]
    library = Path(_folder().name) / f"{digest}.so"
    if not library.exists():
        code = library.with_suffix(".cpp")
        code.write_text(source)
        aside = library.with_suffix(".tmp")
        command = [COMPILER, *FLAGS, str(code), "-o", str(aside), *flags]  # libraries come after the code
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
        aside.rename(library)
    return ctypes.CDLL(str(library))


def build_all(sources: dict[str, str]) -> dict[str, ctypes.CDLL]:
    """Compile several libraries in parallel."""
    _folder()  # before the threads start, because functools.cache may run it twice
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return dict(zip(sources, pool.map(build, sources.values()), strict=True))


def call(library: ctypes.CDLL, symbol: str, result: np.dtype, *arrays: np.ndarray) -> np.ndarray:
    """Call an ELEMENTWISE symbol on contiguous arrays of one shape."""
    arrays = [np.ascontiguousarray(a) for a in np.broadcast_arrays(*arrays)]
    out = np.empty(arrays[0].shape, result)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*arrays, out)]
    getattr(library, symbol)(*pointers, ctypes.c_long(out.size))
    return out
