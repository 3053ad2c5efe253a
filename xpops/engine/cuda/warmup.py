"""Compile kernels ahead of use: the core kernels at import, many more by ``python -m xpops warmup``."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from hashlib import sha256

from xpops.core import config
from xpops.core import dtypes as dt
from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.core.layouts import Layout, layout_of
from xpops.core.progress import tell_if_slow
from xpops.engine.cuda.kernels.elementwise import planned
from xpops.engine.cuda.runtime.cache import SCHEMA, cubin_for, disk
from xpops.engine.cuda.runtime.compiler import is_python, python_command, python_environment
from xpops.engine.cuda.runtime.driver import visible_gpus
from xpops.engine.cuda.runtime.headers import headers_of
from xpops.ops.elementwise import IDENTITY, OPERATORS
from xpops.ops.operator import Operator
from xpops.plan.result import result_layout
from xpops.plan.signature import Operand, signature_of

CORE_OPERATORS = ("add", "subtract", "multiply", "divide", "less", "equal", "negative", "exp", "sqrt", "tanh")
_LENGTH = 1 << 20
# The most seconds that an import waits. One core needs some 3 s; a compilation twenty times as long hangs.
_TIME_LIMIT = 60.0
_GPU = Device("cuda")

Source = tuple[str, str]


def _vector(dtype: DType) -> Layout:
    return layout_of(dtype, (_LENGTH,), None, _GPU)


def _source(op: Operator, operands: tuple[Operand, ...], capability: int, out: DType | None = None) -> Source:
    signature = signature_of(op, operands, out)
    if not signature.shape:
        signature = signature._replace(shape=(_LENGTH,))
    layout = result_layout(signature, operands, _GPU)
    return op.name, planned(op, signature, operands, layout, capability)[1].source


def core_sources(capability: int) -> list[Source]:
    """The kernels that nearly every program calls: contiguous float32, with an array or a scalar, copies and fills."""
    x = _vector(dt.float32)
    sources = []
    for op in (OPERATORS[name] for name in CORE_OPERATORS):
        operands: list[tuple[Operand, ...]] = [(x,)] if op.arity == 1 else [(x, x), (x, float)]
        sources += [_source(op, each, capability) for each in operands]
    for dtype, scalar in ((dt.float32, float), (dt.int64, int), (dt.bool, bool)):
        sources += [
            _source(IDENTITY, (scalar,), capability, dtype),
            _source(IDENTITY, (_vector(dtype),), capability, dtype),
        ]
    return sources


def all_sources(capability: int) -> Iterator[Source]:
    """Every operator on contiguous arrays of every dtype it takes, and every cast."""
    for op in OPERATORS.values():
        for dtype in dt.INFO:
            if op is IDENTITY:
                yield from (_source(op, (_vector(dtype),), capability, out) for out in dt.INFO if _castable(dtype, out))
            elif dtype in dt.CATEGORIES[op.accepts]:
                condition = (_vector(dt.bool),) * op.condition
                yield _source(op, condition + (_vector(dtype),) * (op.arity - op.condition), capability)


def _castable(dtype: DType, out: DType) -> bool:
    return dtype.kind != "c" or out.kind == "c"


def compile_all(sources: list[Source], capability: int, progress: Callable[[int, int], None] | None = None) -> None:
    """Compile every source that is not in the disk cache, in parallel.

    Raises
    ------
    CompileError
        The first error of a source that does not compile.
    """
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        waiting = [pool.submit(cubin_for, name, source, capability) for name, source in sources]
        for done, future in enumerate(as_completed(waiting), 1):
            future.result()
            if progress is not None:
                progress(done, len(sources))


def prepare_core(capability: int) -> None:
    """Compile the core kernels."""
    compile_all(core_sources(capability), capability)


def prepare_once() -> None:
    """Compile the core kernels of every visible GPU to the disk cache. Creates no CUDA context, never fails the import.

    NVRTC initialises the driver, and after that no forked child could use the GPU. So a child process compiles. The
    compilation is tried once; kernels that are missing afterwards are compiled at first use.
    """
    if not config.prepare:
        return
    capabilities = {gpu.capability for gpu in visible_gpus() if gpu.usable}
    store = disk() if capabilities and is_python(sys.executable) else None
    if store is None:
        return
    with suppress(OSError):  # a full or read-only disk could not store the kernels
        wanted = [capability for capability in capabilities if store.get(_mark(capability)) is None]
        for capability in wanted:
            store[_mark(capability)] = b"tried"
        if wanted:
            _prepare_in_child(wanted)


def _prepare_in_child(capabilities: list[int]) -> None:
    program = f"from xpops.engine.cuda.warmup import prepare_core\nfor each in {capabilities}: prepare_core(each)"
    try:
        with tell_if_slow("xpops: compiling the core kernels, once for this machine"):
            done = subprocess.run(
                [*python_command(), "-c", program],
                env={**python_environment(), "XPOPS_PREPARE": "0"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_TIME_LIMIT,
            )
    except subprocess.TimeoutExpired:
        reason = f"it took more than {_TIME_LIMIT:.0f} s"
    else:
        if done.returncode == 0:
            return
        reason = done.stderr.strip().rpartition("\n")[2] or f"exit status {done.returncode}"
    warnings.warn(
        f"xpops: the core kernels could not be prepared: {reason}; kernels are compiled at first use, or ahead by "
        "python -m xpops warmup",
        stacklevel=4,
    )


def _mark(capability: int) -> bytes:
    """The key of the entry that marks the core kernels as tried. A warm import reads no other entry."""
    sources = core_sources(capability)
    digest = sha256(repr((SCHEMA, sources)).encode()).hexdigest()
    headers = "\n".join(source for _, source in sources)
    return f"core {capability} {digest} {headers_of(headers).digest}".encode()
