"""Ctrl-C during compilation: it takes effect at once, harms nothing, and the compilation still finishes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from xpops.core.errors import CompileError
from xpops.engine.cuda.runtime import compiler, nvrtc
from xpops.engine.cuda.runtime.compile import compile_cubin
from xpops.engine.cuda.runtime.nvrtc import Answer, Request

ROOT = Path(__file__).parents[2]
SOURCE = 'extern "C" __global__ void xpops_kernel(float* p) { p[0] = %d; }'


def run(program: str, folder: Path) -> str:
    """Run a program that is interrupted, with an empty cache. It must end with status 0. Returns its output."""
    head = f"""
        import os, random, signal, threading, time
        os.environ["XPOPS_CACHE_DIR"] = {str(folder)!r}
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's jobs in the background ignore it
        from xpops.engine.cuda.runtime import cache

        def interrupt(after):
            time.sleep(after)
            os.kill(os.getpid(), signal.SIGINT)

        SOURCE = {SOURCE!r}
    """
    text = textwrap.dedent(head) + textwrap.dedent(program)
    command = [sys.executable, "-X", "faulthandler", "-c", text]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_interrupt_is_answered_at_once_and_the_work_goes_on(tmp_path: Path) -> None:
    """The compiler waits for a file, so that it is still running."""
    printed = run(
        """
        import tempfile
        from xpops.engine.cuda.runtime import compiler
        held = threading.Event()
        plain = compiler.Compilers.compile

        def compile(self, request):
            held.wait()
            return plain(self, request)

        compiler.Compilers.compile = compile
        threading.Thread(target=interrupt, args=(0.5,)).start()
        start = time.monotonic()
        try:
            cache.cubin_for("held", SOURCE % 1, 90)
        except KeyboardInterrupt:
            print("answered", time.monotonic() - start < 5)
        held.set()
        print(cache.cubin_for("held", SOURCE % 1, 90)[:4] == b"\\x7fELF", cache.compilations)
        """,
        tmp_path,
    )
    assert printed.split() == ["answered", "True", "True", "1"]


def test_a_storm_of_interrupts(tmp_path: Path) -> None:
    """In the same process, NVRTC (at least up to 13.0) would exit, or corrupt the heap.

    The handler raises only during calls, because the program's other lines do not handle interrupts.
    """
    printed = run(
        """
        done, interrupts, is_calling, ended = 0, 0, False, threading.Event()

        def raise_in_a_call(*arguments):
            global interrupts, is_calling
            if is_calling:
                interrupts, is_calling = interrupts + 1, False
                raise KeyboardInterrupt

        def storm():
            while not ended.is_set():
                interrupt(random.expovariate(200))

        signal.signal(signal.SIGINT, raise_in_a_call)
        expected = [cache.cubin_for("storm", SOURCE % number, 90) for number in (0, 1)]
        thread = threading.Thread(target=storm)
        thread.start()
        first = time.monotonic()
        while time.monotonic() < first + 6 or (done < 6 or interrupts < 50) and time.monotonic() < first + 60:
            try:
                is_calling = True
                assert cache.cubin_for("storm", SOURCE % (done + 2), 90)
                is_calling = False
                done += 1
            except KeyboardInterrupt:
                pass
        ended.set()
        thread.join()
        same = expected == [cache.cubin_for("storm", SOURCE % number, 90) for number in (0, 1)]
        print(done >= 6, interrupts >= 50, same, cache.compilations >= done)
        """,
        tmp_path,
    )
    assert printed.split() == ["True"] * 4


@pytest.fixture
def compilers() -> Iterator[compiler.Compilers]:
    made = compiler.Compilers()
    yield made
    made.close()
    assert not made._all


def test_a_compiler_that_dies_is_replaced(compilers: compiler.Compilers) -> None:
    options = ("--gpu-architecture=sm_90",)
    first = compilers.compile(Request("first", SOURCE % 1, options, ()))
    (one,) = compilers._idle
    one._process.kill()
    one._process.wait()
    assert compilers.compile(Request("first", SOURCE % 1, options, ())) == first
    assert compilers._idle != [one]


def test_a_compiler_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "TIME_LIMIT", 0.0)
    with pytest.raises(CompileError, match="NVRTC did not answer within 0 s"):
        compile_cubin("hanging", SOURCE % 77, 90)
    monkeypatch.undo()
    assert compile_cubin("hanging", SOURCE % 77, 90)


def test_where_no_process_can_be_started_this_one_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **named: Any) -> Any:
        raise PermissionError("no processes here")

    monkeypatch.setattr(compiler.subprocess, "Popen", refuse)
    answer = compiler.Compilers().compile(Request("here", SOURCE % 5, ("--gpu-architecture=sm_90",), ()))
    assert answer.log is None
    assert answer.binary.startswith(b"\x7fELF")


def test_both_ways_of_compiling_agree(compilers: compiler.Compilers) -> None:
    source = "template <class T> __global__ void scale(T* p) { p[0] *= 2; }"
    for options in (("--gpu-architecture=sm_90",), ("--gpu-architecture=compute_90",), ("--gpu-architecture=sm_1",)):
        request = Request("both", source, options, ("scale<float>", "scale<int>"))
        answer = compilers.compile(request)
        assert answer == nvrtc.compile_here(request)
        assert isinstance(answer, Answer)


def test_an_error_reaches_everyone_who_waits() -> None:
    background = compiler.Background()

    def work() -> bytes:
        raise CompileError("name", (), "source", "log")

    for _ in range(2):
        with pytest.raises(CompileError, match="log"):
            background.run(b"key", work)
    assert background.run(b"key", lambda: b"made") == b"made"
    assert not background._under_way


def test_an_interrupt_of_the_start_leaves_one_task(monkeypatch: pytest.MonkeyPatch) -> None:
    background, held, runs = compiler.Background(), threading.Event(), []
    plain = compiler.Work.start

    def work() -> bytes:
        runs.append(True)
        held.wait()
        return b"made"

    def interrupted(task: compiler.Work) -> None:
        monkeypatch.setattr(compiler.Work, "start", plain)
        plain(task)
        raise KeyboardInterrupt

    monkeypatch.setattr(compiler.Work, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        background.run(b"key", work)
    threading.Timer(0.2, held.set).start()
    assert background.run(b"key", work) == b"made"
    assert len(runs) == 1
    assert not background._under_way


def test_a_task_that_an_interrupt_kept_from_its_start_is_started_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    background, plain = compiler.Background(), compiler.Work.start

    def interrupted(task: compiler.Work) -> None:
        monkeypatch.setattr(compiler.Work, "start", plain)
        raise KeyboardInterrupt

    monkeypatch.setattr(compiler.Work, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        background.run(b"key", lambda: b"made")
    assert background.run(b"key", lambda: b"made") == b"made"
    assert not background._under_way


def test_many_open_files_are_no_hindrance() -> None:
    """``select`` accepts no file descriptor above 1023."""
    text = """
        import resource
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
        files = [open(os.devnull) for _ in range(1100)]
        print(cache.cubin_for("many", SOURCE % 3, 90)[:4] == b"\\x7fELF")
        """
    with tempfile.TemporaryDirectory() as folder:
        assert run(text, Path(folder)).split() == ["True"]


@pytest.mark.parametrize("executable", [None, "", "/bin/true", "/opt/program"])
def test_a_program_that_embeds_python_compiles_itself(executable: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    answer = compiler.Compilers().compile(Request("embedded", SOURCE % 6, ("--gpu-architecture=sm_90",), ()))
    assert answer.binary.startswith(b"\x7fELF")


def test_a_python_without_the_bindings_is_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilers: compiler.Compilers
) -> None:
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "__init__.py").write_text("raise ImportError('broken')")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "path", [str(tmp_path), *sys.path])
        with pytest.raises(OSError, match="did not start: status 1"):
            compiler.Compiler()
    answer = compilers.compile(Request("whole", SOURCE % 6, ("--gpu-architecture=sm_90",), ()))
    assert answer.log is None
