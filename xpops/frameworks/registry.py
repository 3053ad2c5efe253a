"""Which adapter a type has."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module

import numpy as np

from xpops.engine import other_caches
from xpops.engine.cuda import streams
from xpops.frameworks.adapter import Adapter
from xpops.plan.cache import BoundedDict

# The root module of a framework's classes -> the framework. The module of its name beside this one has the adapter.
_FRAMEWORKS = {"numpy": "numpy", "torch": "torch", "cupy": "cupy", "jax": "jax", "jaxlib": "jax"}
# The root modules of other libraries whose arrays have a namespace of their own and are nothing but memory.
_PLAIN = ("xpops", "array_api_strict", "dpctl", "dpnp", "mlx")


def _release_caches() -> None:
    for framework in sorted(set(_FRAMEWORKS.values()) & set(sys.modules)):
        with suppress(Exception):  # the error to report is that memory ran out
            import_module(f"xpops.frameworks.{framework}").ADAPTER.release_cache()


def _await_torch(index: int) -> int:
    """Once torch is there, have its own function take the place of this one."""
    if not hasattr(sys.modules.get("torch"), "cuda"):
        return streams.LEGACY_DEFAULT
    try:
        import_module("xpops.frameworks.torch").follow_captures()
    except Exception:  # a torch too old, or a broken one: it says so where its tensors come in
        streams.framework_stream = streams.no_framework
    return streams.framework_stream(index)


other_caches.append(_release_caches)
streams.framework_stream = _await_torch
_known: BoundedDict[type, Adapter | None] = BoundedDict(1024)


def adapter_of(cls: type) -> Adapter | None:
    """The adapter of arrays of type `cls`; None if they are no arrays.

    Wrappers have one that refuses them: masked arrays, subclasses of ndarray with functions of their own, and whatever
    else has the ``__array_namespace__`` of a library that is not known to hold plain memory.

    Imports no framework: one whose arrays the caller has is imported already.

    Examples
    --------
    >>> import numpy as np
    >>> adapter_of(np.ndarray).name, adapter_of(list)
    ('numpy', None)
    """
    try:
        return _known[cls]
    except KeyError:
        found = _known[cls] = _find(cls)
        return found


def is_wrapper(cls: type) -> bool:
    """Whether arrays of type `cls` are more than their memory, so that functions refuse them."""
    adapter = adapter_of(cls)
    return adapter is not None and adapter.name == "wrapper"


def _find(cls: type) -> Adapter | None:
    for base in cls.__mro__:
        framework = _FRAMEWORKS.get(base.__module__.partition(".")[0])
        if framework in sys.modules:
            module = import_module(f"xpops.frameworks.{framework}")
            if module.is_array_type(cls):
                adapter: Adapter = module.ADAPTER
                return adapter
    plain = issubclass(cls, np.generic) or cls.__module__.partition(".")[0] in _PLAIN
    if hasattr(cls, "__array_namespace__") and not plain:
        from xpops.frameworks.wrapper import ADAPTER as WRAPPER

        return WRAPPER
    if hasattr(cls, "__dlpack__") or hasattr(cls, "__cuda_array_interface__"):
        from xpops.frameworks.dlpack import ADAPTER

        return ADAPTER
    return None
