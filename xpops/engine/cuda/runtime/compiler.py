"""Compiler processes, and the wait for them. Ctrl-C can interrupt the wait at any moment without harm."""

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
from xpops.engine.cuda.runtime import nvrtc
from xpops.engine.cuda.runtime.nvrtc import Answer, Request

# Seconds after which a compilation counts as hanging. The largest CUTLASS kernels take minutes.
TIME_LIMIT = 900.0
# Seconds that a process has to end by itself before it is killed.
PATIENCE = 1.0


class CompilerError(Exception):
    """A compiler process ended, or did not answer in time."""


class Compiler:
    """One compiler process. It handles one request at a time.

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
        # The process gets its own session, because the terminal's Ctrl-C goes to a whole group of processes.
        self._process = subprocess.Popen(
            [*python_command(), nvrtc.__file__, str(library)],
            env=python_environment(),
            cwd=Path(nvrtc.__file__).parent,  # where no header is, since NVRTC looks for headers in quotes there
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
            If there is no answer. Then the process has been closed.
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
        """End the process. If it waits for requests, it ends by itself when its input closes."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # closing fails if unflushed data cannot be written
                    pipe.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def python_command() -> list[str]:
    """The command that starts another Python; use it with `python_environment`.

    -P keeps two directories off the module path: the current one, which may hold any files, and that of `nvrtc`, whose
    modules could hide others of the same names.
    """
    return [sys.executable, "-P"]


def python_environment() -> dict[str, str]:
    """An environment in which another Python finds the same modules, except those of the current directory."""
    return {**config.environment(), "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def is_python(executable: str | None) -> bool:
    """Whether `executable` is a Python interpreter. In a frozen or embedding program it is the program, or None."""
    return re.fullmatch(r"(python|pypy)[\d.]*[a-z]?(\.exe)?", Path(executable or "").name.lower()) is not None


def _has_answer(pipe: IO[bytes], seconds: float) -> bool:
    """Whether the pipe has data to read before the time is over."""
    poll = select.poll()  # select takes no descriptors above 1023
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


class Compilers:
    """A pool of compiler processes, one for each concurrent compilation."""

    def __init__(self) -> None:
        self._idle: list[Compiler] = []
        self._all: set[Compiler] = set()

    def compile(self, request: Request) -> Answer:
        """The answer of an idle or new compiler process. If none can be started, compile in this process.

        Raises
        ------
        CompilerError
            If the process ends while it compiles, or does not answer in time.
        """
        with suppress(IndexError, CompilerError):  # an idle process may have ended
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
        """End all compiler processes."""
        self._idle.clear()
        while self._all:
            self._all.pop().close()


class Work:
    """A task on its own thread, and the threads that wait for it.

    An exception that ends a wait, such as KeyboardInterrupt, does not stop the task. Python's own futures and threads
    are not safe here: if the exception comes at a bad moment, they release a condition variable that they do not hold.

    Parameters
    ----------
    work : callable
        The task. Every waiting thread gets its result or its exception.
    then : callable
        Called after the task.
    """

    def __init__(self, work: Callable[[], bytes], then: Callable[[], object]) -> None:
        self._work, self._then = work, then
        self._result: bytes | BaseException | None = None
        self._waiting: list[_thread.LockType] = []
        self._claim = _thread.allocate_lock()

    def start(self) -> None:
        """Start the thread, unless it runs or has run. Any waiting thread may call this."""
        if not self._claim.locked():
            _thread.start_new_thread(self._run, ())

    def result(self) -> bytes:
        """Wait for the end of the task, then return its result or raise its exception."""
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
        if not self._claim.acquire(blocking=False):  # two waiting threads called `start` at once
            return
        try:
            self._result = self._work()
        except BaseException as error:
            self._result = error
        self._then()
        while self._waiting:
            self._waiting.pop().release()


class Background:
    """Tasks on threads: for each key one task at a time, however many threads wait for it."""

    def __init__(self) -> None:
        self._under_way: dict[bytes, Work] = {}

    def run(self, key: bytes, work: Callable[[], bytes]) -> bytes:
        """Wait for the task of `key`, and return its result or raise its exception. Start `work` if none is running.

        Everyone who waits starts the task: an interrupt may end the first caller before it does.
        """
        found = self._task(key, work)
        found.start()
        return found.result()

    def begin(self, key: bytes, work: Callable[[], bytes]) -> None:
        """Start the task of `key`, and do not wait."""
        self._task(key, work).start()

    def _task(self, key: bytes, work: Callable[[], bytes]) -> Work:
        found = self._under_way.get(key)
        return found or self._under_way.setdefault(key, Work(work, lambda: self._under_way.pop(key, None)))


compilers, background = Compilers(), Background()
atexit.register(lambda: compilers.close())
# The parent's compiler processes and threads. A forked child must neither use nor end them.
_inherited: list[object] = []


def _after_fork() -> None:
    global compilers, background
    _inherited.append(compilers)
    compilers, background = Compilers(), Background()


os.register_at_fork(after_in_child=_after_fork)
