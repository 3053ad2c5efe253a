"""The cache of compiled kernels. NVRTC needs no GPU."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from xpops.core.errors import CompileError
from xpops.engine.cuda.runtime import cache, headers
from xpops.engine.cuda.runtime.headers import headers_of

ROOT = Path(__file__).resolve().parents[2]
SOURCE = 'extern "C" __global__ void xpops_kernel(int* x) { *x = 1; }\n'


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache for this test."""
    yield from use(tmp_path / "cache", monkeypatch)


def use(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XPOPS_CACHE_DIR", str(path))
    disk = cache.disk  # a test may replace it
    disk.cache_clear()
    yield path
    disk.cache_clear()


def compiled(source: str = SOURCE) -> int:
    """How many kernels a call compiles."""
    before = cache.compilations
    assert cache.cubin_for("test", source, 90).startswith(b"\x7fELF")
    return cache.compilations - before


def entries(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file() and path.stat().st_size > 500]


AXES = {
    "schema": ("SCHEMA", -1),
    "options": ("options_for", lambda capability, headers, options: ("-lineinfo",)),
    "version of NVRTC": ("nvrtc_version", lambda: "99.0"),
}
NONE = headers_of("")


@pytest.mark.parametrize("axis", AXES)
def test_the_key_holds_every_axis(axis: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.key_of(SOURCE, NONE, 90)
    assert cache.key_of(SOURCE, NONE, 90) == before
    monkeypatch.setattr(cache, *AXES[axis])
    assert cache.key_of(SOURCE, NONE, 90) != before


def test_the_key_holds_source_headers_and_architecture() -> None:
    other = NONE._replace(digest="other")
    given = ((SOURCE, NONE, 90), (SOURCE + " ", NONE, 90), (SOURCE, other, 90), (SOURCE, NONE, 80))
    assert len({cache.key_of(*each) for each in given}) == 4


def test_the_key_holds_what_else_is_asked_of_the_compiler() -> None:
    """The key contains options and the names of templates, because a cubin for other names lacks the kernel."""
    keys = [
        cache.key_of(SOURCE, NONE, 90, options, expressions)
        for options in ((), ("-DN=1",), ("-DN=2",))
        for expressions in ((), ("f<1>",), ("f<2>",), ("f<1>", "f<2>"))
    ]
    assert len(set(keys)) == len(keys)


def test_a_cubin_has_the_names_that_were_asked_for(directory: Path) -> None:
    source = "template <int kN> __global__ void set(int* x) { *x = kN; }\n"
    one, two = (cache.cubin_for("test", source, 90, (), (f"set<{n}>",)) for n in (1, 2))
    assert (b"_Z3setILi1EEvPi" in one, b"_Z3setILi1EEvPi" in two) == (True, False)
    assert b"_Z3setILi2EEvPi" in two


def test_the_key_holds_no_path(tmp_path: Path) -> None:
    moved = NONE._replace(directories=(tmp_path,))
    assert any(str(tmp_path) in option for option in cache.options_for(90, moved))
    assert cache.key_of(SOURCE, moved, 90) == cache.key_of(SOURCE, NONE, 90)
    assert cache.key_of(SOURCE, NONE, 90, (f"-I{tmp_path}",)) == cache.key_of(SOURCE, NONE, 90)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of headers for this test."""
    monkeypatch.setattr(headers, "include_directory", lambda: tmp_path)
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Forget what a new process would not know."""
    headers._own_headers.cache_clear()
    headers._read_once.cache_clear()


def digest(source: str) -> str:
    forget()
    return headers_of(source).digest


def test_the_digest_holds_what_is_included(folder: Path) -> None:
    (folder / "deep").mkdir()
    seen = [digest("#include <a.cuh>\n")]
    for name, text in [
        ("a.cuh", ""),
        ("a.cuh", "int"),
        ("a.cuh", '#pragma once\n#  include "deep/b.cuh"\n#include <a.cuh>\n'),
        ("deep/b.cuh", "x"),
        ("deep/b.cuh", "y"),
    ]:
        (folder / name).write_text(text)
        seen.append(digest("#include <a.cuh>\n"))
    assert len(set(seen)) == len(seen)
    assert digest("#include <deep/b.cuh>\n") not in seen
    assert digest("int x;\n") not in seen


def test_the_digest_holds_what_comments_hide(folder: Path) -> None:
    (folder / "a.cuh").write_text("1")
    sources = ("/* c */ #include <a.cuh>\n", "/* a\nb */ #include <a.cuh>\n", f'#include "{folder}/a.cuh"\n')
    before = [digest(source) for source in sources]
    (folder / "a.cuh").write_text("2")
    assert not set(before) & {digest(source) for source in sources}


def test_what_depends_on_other_files_is_not_complete(folder: Path) -> None:
    for source in ("#include_next <a.cuh>\n", '#if __has_include("a.cuh")\n#endif\n', "#include NAME\n"):
        assert not headers_of(source).complete


def test_the_digest_holds_which_header_includes_which(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    given = tmp_path_factory.mktemp("given")
    for name in ("x", "y"):
        (given / name).mkdir()
        (given / name / "a.h").write_text(f'#include "c.h" // {name}\n')
    options, found = (f"-I{given}",), []
    for numbers in ("12", "21"):
        for name, number in zip("xy", numbers, strict=True):
            (given / name / "c.h").write_text(number)
        found.append(headers_of('#include "x/a.h"\n#include "y/a.h"\n', options).digest)
    assert found[0] != found[1]


def test_headers_beside_the_program(tmp_path: Path, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that compiles keeps the working directory in which it started."""
    source = '#include "beside.h"\nextern "C" __global__ void f(int* x) { *x = N; }'
    found = []
    for number in (11, 12, 11):
        folder = tmp_path / str(number)
        folder.mkdir(exist_ok=True)
        (folder / "beside.h").write_text(f"#define N {number}\n")
        monkeypatch.chdir(folder)
        found.append(cache.cubin_for("f", source, 90))
    assert found[0] == found[2] != found[1]


def test_options_are_kept_apart() -> None:
    one, two = ("-DA=1 -DB=2",), ("-DA=1", "-DB=2")
    assert cache.key_of("", headers_of("", one), 90, one) != cache.key_of("", headers_of("", two), 90, two)


def test_the_digest_holds_nothing_else(folder: Path) -> None:
    (folder / "a.cuh").write_text("int")
    before = digest("#include <a.cuh>\nint x;\n")
    (folder / "b.cuh").write_text("int")
    assert digest("#include <a.cuh>\nint y;\n") == before


def test_the_second_time_comes_from_the_disk(directory: Path) -> None:
    assert (compiled(), compiled()) == (1, 0)
    assert len(entries(directory)) == 1
    cache.disk.cache_clear()  # as in a new process
    assert compiled() == 0


def test_what_began_is_not_compiled_again(directory: Path) -> None:
    before = cache.compilations
    cache.begin_cubin("test", SOURCE, 90)
    assert compiled() + compiled() <= 1
    cache.begin_cubin("test", SOURCE, 90)
    assert compiled() == 0
    assert cache.compilations == before + 1


def test_kernels_that_begin_together_are_compiled_together(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meeting = threading.Barrier(3)

    def compile_cubin(name: str, *arguments: Any) -> bytes:
        meeting.wait(30)
        return b"\x7fELF" + name.encode()

    monkeypatch.setattr(cache, "compile_cubin", compile_cubin)
    sources = {f"number {number}": f"{SOURCE}// {number}\n" for number in range(3)}
    for name, source in sources.items():
        cache.begin_cubin(name, source, 90)
    for name, source in sources.items():
        assert cache.cubin_for(name, source, 90) == b"\x7fELF" + name.encode()


def test_what_began_and_fails_is_an_error_of_its_own_call(directory: Path) -> None:
    wrong = SOURCE + "unknown x;"
    for _ in range(2):
        cache.begin_cubin("test", wrong, 90)
        with pytest.raises(CompileError, match="unknown"):
            cache.cubin_for("test", wrong, 90)


def test_nothing_begins_without_a_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    before, uses = cache.compilations, use(tmp_path / "file" / "cache", monkeypatch)
    next(uses)
    with pytest.warns(UserWarning, match="kernels are not kept on disk"):
        cache.begin_cubin("test", SOURCE, 90)
    assert compiled() == 1
    assert cache.compilations == before + 1
    next(uses, None)


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped", "foreign"])
def test_a_damaged_entry_is_a_miss_and_is_replaced(damage: str, directory: Path) -> None:
    good = cache.cubin_for("test", SOURCE, 90)
    (path,) = entries(directory)
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {
            "truncated": data[:middle],
            "empty": b"",
            "flipped": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "foreign": b"nothing of ours " * 100,
        }[damage]
    )
    before = cache.compilations
    assert cache.cubin_for("test", SOURCE, 90) == good
    assert cache.compilations == before + 1
    assert compiled() == 0


def test_a_directory_that_cannot_be_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    for _ in use(tmp_path / "file" / "cache", monkeypatch):
        with pytest.warns(UserWarning, match="xpops: kernels are not kept on disk: .*file/cache: Not a directory"):
            assert compiled() == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert compiled() == 1


def test_a_write_that_fails_costs_nothing_but_the_entry(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def get(self, key: bytes) -> None:
            return None

        def __setitem__(self, key: bytes, value: bytes) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "disk", Full)
    with pytest.warns(UserWarning, match="a kernel could not be kept on disk: No space left"):
        assert compiled() == 1


def test_a_new_directory_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = os.umask(0)
    try:
        for path in use(tmp_path / "above" / "cache", monkeypatch):
            assert compiled() == 1
            assert path.stat().st_mode & 0o777 == 0o700
            cache.disk.cache_clear()
            assert compiled() == 0  # files inside may have any modes
    finally:
        os.umask(before)


def refused(directory: Path, named: Path) -> None:
    """Check that a forged entry in `directory` is not loaded, and that one warning names `named`."""
    cache.disk.cache_clear()
    found = named.stat()
    said = (
        f"not kept on disk: {named} belongs to user {found.st_uid} and has mode {found.st_mode & 0o7777:04o}; accepted"
    )
    with pytest.warns(UserWarning, match=said) as caught:
        assert (compiled(), compiled()) == (1, 1)
    assert len(caught) == 1


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702], ids=oct)
def test_a_directory_that_others_can_write_is_ignored(mode: int, directory: Path) -> None:
    assert compiled() == 1
    directory.chmod(mode)
    refused(directory, directory)


@pytest.mark.parametrize("inside", ["entries", "entries/*"])
def test_folders_that_others_can_reach_and_write_are_ignored(inside: str, directory: Path) -> None:
    assert compiled() == 1
    directory.chmod(0o755)
    (folder,) = directory.glob(inside)
    folder.chmod(0o777)
    refused(directory, folder)


def test_a_directory_of_another_user_is_ignored(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled() == 1
    if os.geteuid() == 0:
        os.chown(directory, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    refused(directory, directory)


def test_a_directory_of_root_is_trusted(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs to be root")
    assert compiled() == 1
    directory.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    cache.disk.cache_clear()
    assert compiled() == 0


def test_what_does_not_compile_is_not_kept(directory: Path) -> None:
    for _ in range(2):
        with pytest.raises(CompileError):
            cache.cubin_for("broken", "int main( {", 90)
    assert entries(directory) == []


def test_one_thread_makes_a_value_while_the_others_wait() -> None:
    once, made, barrier = cache.Once(), [], threading.Barrier(8)

    def make() -> object:
        time.sleep(0.02)
        made.append(object())
        return made[-1]

    def work(_: int) -> Any:
        barrier.wait()
        return once.get("key", make)

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(work, range(8)))
    assert len(made) == 1
    assert all(result is made[0] for result in results)


def test_different_keys_are_made_at_the_same_time() -> None:
    once, both = cache.Once(), threading.Barrier(2, timeout=10)
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(lambda key: once.get(key, lambda: (both.wait(), key)[1]), "ab")) == ["a", "b"]


def test_a_failure_is_passed_on_and_tried_again() -> None:
    once, answers = cache.Once(), iter([None, 7])

    def make() -> int:
        answer = next(answers)
        if answer is None:
            raise ValueError("not yet")
        return answer

    with pytest.raises(ValueError, match="not yet"):
        once.get("key", make)
    assert (once.get("key", make), once.get("key", make)) == (7, 7)


PROGRAM = """
from hashlib import sha256
from xpops.engine.cuda.runtime import cache
source = 'extern "C" __global__ void xpops_kernel(int* x) {{ *x = {}; }}'
cubins = [cache.cubin_for("storm", source.format(i), 90) for i in range(6)]
print(sha256(b"".join(cubins)).hexdigest(), cache.compilations)
"""


def test_many_processes_on_one_cold_directory(tmp_path: Path) -> None:
    environment = {**os.environ, "XPOPS_CACHE_DIR": str(tmp_path / "shared"), "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-c", PROGRAM]
    running = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    printed = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * 8, [error for _, error in printed]
    assert [error for _, error in printed] == [""] * 8
    assert len({out.split()[0] for out, _ in printed}) == 1
    last = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert last.stdout.split() == [printed[0][0].split()[0], "0"]


# Kernels that include CUDA's headers. Prints a digest of their cubins, the requests to compile, and the kernels.
WITH_CUDA_HEADERS = """
from hashlib import sha256
import numpy as np
import xpops as xp
from xpops.engine.cuda.runtime import cache
from xpops.engine.cuda.runtime.compiler import Compilers

asked, compile_request = [], Compilers.compile
Compilers.compile = lambda self, request: asked.append(request.name) or compile_request(self, request)
halves = "#include <cuda_fp16.h>\\n#include <cuda_bf16.h>\\n"
raw = halves + "__global__ void raw(half* x, nv_bfloat16* y) { atomicAdd(x, __hmul(x[1], __float2half(y[0]))); }"
each = xp.kernel.ElementwiseKernel("T x", "T y", "y = __half2float(__float2half(x))", "each", preamble=halves)
total = xp.kernel.ReductionKernel("T x", "T y", "__half2float(x)", "a + b", "y = a", "0", "total", preamble=halves)
x = np.ones(100, np.float32)
made = [xp.kernel.RawKernel(raw, "raw").compile(90), each.compile(90, x), *total.compile(90, x)]
print(sha256(b"".join(each.cubin for each in made)).hexdigest(), len(asked), cache.compilations, len(made))
"""


def test_a_second_process_compiles_nothing_that_includes_cuda_headers(tmp_path: Path) -> None:
    environment = {**os.environ, "XPOPS_CACHE_DIR": str(tmp_path / "shared"), "CUDA_VISIBLE_DEVICES": ""}
    found = []
    for _ in range(3):
        command = [sys.executable, "-c", WITH_CUDA_HEADERS]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        found.append(done.stdout.split())
    digest, *counts = found[0]
    assert counts == ["3", "3", "3"]
    assert found[1:] == [[digest, "0", "0", "3"]] * 2


def test_the_key_of_a_source_with_cuda_headers_holds_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies of CUDA's headers elsewhere give the same key, and a change in a header that they include another one."""
    source = "#include <cuda_fp16.h>\n"
    found = headers_of(source)
    assert found.complete
    assert {"cuda_fp16.h", "vector_types.h"} <= found.names
    wanted = cache.key_of(source, found, 90)
    assert cache.key_of(source, headers_of(source), 90) == wanted
    copies = []
    for number, directory in enumerate(headers.cuda_directories()):
        copies.append(tmp_path / str(number))
        shutil.copytree(directory, copies[-1], copy_function=os.symlink)
    monkeypatch.setattr(headers, "cuda_directories", lambda: tuple(copies))
    moved = headers_of(source)
    assert moved.complete
    assert cache.key_of(source, moved, 90) == wanted
    (changed,) = (copy / "vector_types.h" for copy in copies if (copy / "vector_types.h").exists())
    text = changed.read_text()
    changed.unlink()
    changed.write_text(text + "\n")
    forget()
    assert cache.key_of(source, headers_of(source), 90) != wanted
    forget()
