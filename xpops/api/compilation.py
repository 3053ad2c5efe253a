"""The functions that torch's compiler takes: it puts their calls into its programs, and does not look into them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec
from itertools import chain, product
from types import ModuleType
from typing import Any
from weakref import WeakSet

_COMPILER = "torch._dynamo"
_NAMESPACES = ("xpops", "xpops.nn", "xpops.linalg", "xpops.fft", "xpops.special")
# Functions of these namespaces that take no tensors, return other things, or read values. The compiler calls them
# between two programs.
_LEFT_OUT = {
    "__array_namespace_info__", "allow_host_copies", "arange", "asarray", "broadcast_arrays", "broadcast_shapes",
    "can_cast", "default_device", "empty", "empty_like", "eye", "fftfreq", "finfo", "from_dlpack", "full", "full_like",
    "fuse", "get_include", "graph", "iinfo", "isdtype", "linspace", "meshgrid", "ones", "ones_like", "result_type",
    "rfftfreq", "set_default_device", "stream", "zeros", "zeros_like",
}  # fmt: skip
# Functions of namespaces that are imported later, fused functions, and kernels of users.
_made: WeakSet[Callable[..., Any]] = WeakSet()
_is_allowed = False


def offer(function: Callable[..., Any]) -> None:
    """Let torch's compiler take a function that a user made."""
    if _is_allowed:
        _allow([function])
    else:
        _made.add(function)


def offer_all(namespace: str) -> None:
    """Let torch's compiler take the functions of a namespace that was just imported."""
    for function in functions_of(sys.modules[namespace]):
        offer(function)


def functions_of(namespace: ModuleType) -> list[Callable[..., Any]]:
    """The public functions of ours in a namespace that the compiler takes."""
    spaces = map(sys.modules.get, _NAMESPACES)
    left_out = {id(getattr(space, name, None)) for space, name in product(spaces, _LEFT_OUT)}
    public = [x for x in map(vars(namespace).get, namespace.__all__) if callable(x) and id(x) not in left_out]
    return [x for x in public if not isinstance(x, type) and x.__module__.startswith("xpops")]


def _allow(functions: Sequence[Callable[..., Any]]) -> None:
    import_module("xpops.frameworks.torch_dynamo").allow(functions)


def _allow_all() -> None:
    """Tell the compiler, which was just imported, of all functions."""
    global _is_allowed
    with suppress(ImportError, AttributeError):  # torch is too old: its compiler ends programs before our calls
        import_module("xpops.frameworks.torch_dynamo").skip("xpops")
        _is_allowed = True
        _allow([*chain.from_iterable(map(functions_of, map(import_module, _NAMESPACES))), *_made])


class _Waiter:
    """Waits for the import of torch's compiler, which takes a second or two: nobody else should pay for it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _COMPILER:
            return None
        from importlib.util import find_spec  # torch has imported it; `import xpops` alone need not

        sys.meta_path.remove(self)
        found = find_spec(fullname)
        if found is not None and found.loader is not None:
            execute = found.loader.exec_module

            def execute_and_allow(module: ModuleType) -> None:
                execute(module)
                _allow_all()

            found.loader.exec_module = execute_and_allow  # type: ignore[method-assign]
        return found


def await_compiler() -> None:
    """Tell torch's compiler of the functions, now if it is imported already, else as soon as it is."""
    if _COMPILER in sys.modules:
        _allow_all()
    else:
        sys.meta_path.insert(0, _Waiter())
