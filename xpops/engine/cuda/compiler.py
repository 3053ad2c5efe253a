"""Processes that compile, and the wait for them, which Ctrl-C ends at any moment without harm."""

from __future__ import annotations

import _thread
import atexit
import os
import pickle
import re
import select
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from xpops.core import config
from xpops.engine.cuda import nvrtc
from xpops.engine.cuda.nvrtc import Answer, Request

# Seconds after which a compilation counts as hanging. The largest of CUTLASS take minutes.
TIME_LIMIT = 900.0
# Seconds that a process has to end by itself.
PATIENCE = 1.0


class CompilerError(Exception):
    """A process that compiles ended, or did not answer in time."""


class Compiler:
    """One process that compiles, for one request at a time.

    Raises
    ------
    OSError
        If no process can be started.
    """

    def __init__(self) -> None:
        if not is_python(sys.executable):
            raise OSError(f"{sys.executable} is no Python")
        from cuda.pathfinder import load_nvidia_dynamic_lib

        library = load_nvidia_dynamic_lib("nvrtc").abs_path
        # A session of its own: the terminal's Ctrl-C goes to a whole group of processes.
        self._process = subprocess.Popen(
            [*python_command(), nvrtc.__file__, str(library)],
            env=python_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._process.stdout is not None
        if self._process.stdout.read(len(nvrtc.READY)) != nvrtc.READY:
            self.close()
            raise OSError(f"the process that compiles did not start: status {self._process.returncode}")

    def compile(self, request: Request) -> Answer:
        """The answer to a request.

        Raises
        ------
        CompilerError
            If there is none. The process is of no more use.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            pickle.dump(tuple(request), stdin)
            stdin.flush()
            if not _has_answer(stdout, TIME_LIMIT):
                raise CompilerError(f"NVRTC did not answer within {TIME_LIMIT:.0f} s")
            return Answer(*pickle.load(stdout))
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.close()
            raise CompilerError(f"the process that compiles ended with status {self._process.returncode}") from None
        except CompilerError:
            self.close()
            raise

    def close(self) -> None:
        """End the process, which does so by itself if it waits for requests."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not flushed goes nowhere
                    pipe.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def python_command() -> list[str]:
    """How another Python is started, with `python_environment`.

    -P: the current directory may hold anything, and beside `nvrtc` lie modules called as those of the standard library.
    """
    return [sys.executable, "-P"]


def python_environment() -> dict[str, str]:
    """The environment in which another Python finds the modules that this one finds, less the current directory's."""
    return {**config.environment(), "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def is_python(executable: str | None) -> bool:
    """Whether `executable` runs Python programs: in a frozen or embedding one it may be that program, or nothing."""
    return re.fullmatch(r"(python|pypy)[\d.]*[a-z]?(\.exe)?", Path(executable or "").name.lower()) is not None


def _has_answer(pipe: IO[bytes], seconds: float) -> bool:
    """Whether there is something to read before the time is over."""
    poll = select.poll()  # select takes no descriptors above 1023
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


class Compilers:
    """As many processes as there are compilations at a time."""

    def __init__(self) -> None:
        self._idle: list[Compiler] = []
        self._all: set[Compiler] = set()

    def compile(self, request: Request) -> Answer:
        """The answer to a request, from a process that waits or a new one; from this one where none can be started.

        Raises
        ------
        CompilerError
            If the process ends while it compiles, or does not answer in time.
        """
        with suppress(IndexError, CompilerError):  # one that waited may have ended
            return self._ask(self._idle.pop(), request)
        try:
            compiler = Compiler()
        except OSError:
            return nvrtc.compile_here(request)
        self._all.add(compiler)
        return self._ask(compiler, request)

    def _ask(self, compiler: Compiler, request: Request) -> Answer:
        try:
            answer = compiler.compile(request)
        except CompilerError:
            self._all.discard(compiler)
            raise
        self._idle.append(compiler)
        return answer

    def close(self) -> None:
        """End them all."""
        self._idle.clear()
        while self._all:
            self._all.pop().close()


class Work:
    """What a thread of its own does, and those who wait for it.

    An exception that ends a wait, such as KeyboardInterrupt, leaves the work going on. Python's own futures and threads
    do not survive one at any moment: their condition variables are then released without being held.

    Parameters
    ----------
    work : callable
        Its result is what waits get, and so is its error.
    then : callable
        Called at the end.
    """

    def __init__(self, work: Callable[[], bytes], then: Callable[[], object]) -> None:
        self._work, self._then = work, then
        self._result: bytes | BaseException | None = None
        self._waiting: list[_thread.LockType] = []

    def start(self) -> None:
        """Start the thread."""
        _thread.start_new_thread(self._run, ())

    def result(self) -> bytes:
        """Wait for the end, and return the result or raise the error."""
        turn = _thread.allocate_lock()
        turn.acquire()
        self._waiting.append(turn)
        if self._result is None:
            turn.acquire()
        if isinstance(self._result, BaseException):
            raise self._result
        assert self._result is not None
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:
            self._result = error
        self._then()
        while self._waiting:
            self._waiting.pop().release()


class Background:
    """Work on threads, done once for each key however many wait for it."""

    def __init__(self) -> None:
        self._under_way: dict[bytes, Work] = {}

    def run(self, key: bytes, work: Callable[[], bytes]) -> bytes:
        """What `work` returns or raises, or what is under way for `key` does."""
        found = self._under_way.get(key)
        if found is None:
            mine = Work(work, lambda: self._under_way.pop(key, None))
            try:
                found = self._under_way.setdefault(key, mine)
                if found is mine:
                    mine.start()
            except BaseException:  # an interrupt: if it came before the start, nobody is to wait for it
                mine.start()
                raise
        return found.result()


compilers, background = Compilers(), Background()
atexit.register(lambda: compilers.close())
# The parent's processes and threads, which must not be used, nor ended, by its forked children.
_inherited: list[object] = []


def _after_fork() -> None:
    global compilers, background
    _inherited.append(compilers)
    compilers, background = Compilers(), Background()


os.register_at_fork(after_in_child=_after_fork)
