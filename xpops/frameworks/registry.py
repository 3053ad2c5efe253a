"""Which adapter a type has, and adapters from outside."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module

import numpy as np

from xpops.core.errors import described
from xpops.engine import other_caches
from xpops.engine.cuda import streams
from xpops.frameworks.adapter import Adapter
from xpops.plan.cache import BoundedDict

# The root module of a framework's classes -> the framework. The module of its name beside this one has the adapter.
_FRAMEWORKS = {"numpy": "numpy", "torch": "torch", "cupy": "cupy", "jax": "jax", "jaxlib": "jax"}
# The root modules of other libraries whose arrays have a namespace of their own and are nothing but memory.
_PLAIN = ("xpops", "array_api_strict", "dpctl", "dpnp", "mlx")


_RESERVED = {*_FRAMEWORKS.values(), "dlpack", "wrapper"}
# The newest first. Replaced whole, never changed: another thread may be looking.
_registered: tuple[Adapter, ...] = ()


def register(adapter: Adapter) -> None:
    """Have functions take a framework's arrays from now on, and return their results as such arrays.

    Parameters
    ----------
    adapter : Adapter
        Takes the place of one of the same name, and is asked before the adapters of xpops.

    Raises
    ------
    TypeError
        If it is no adapter, or its name is no string.
    ValueError
        If it has the name of an adapter of xpops.

    Examples
    --------
    >>> class Frame:
    ...     def __init__(self, x):
    ...         self.x = x
    ...     def __dlpack__(self, **options):
    ...         return self.x.__dlpack__(**options)
    ...     def __dlpack_device__(self):
    ...         return self.x.__dlpack_device__()
    >>> class FrameAdapter(xp.frameworks.DLPackAdapter):
    ...     name = "frame"
    ...     def is_array_type(self, cls):
    ...         return issubclass(cls, Frame)
    ...     def export(self, array):
    ...         return Frame(array)
    >>> xp.frameworks.register(FrameAdapter())
    >>> type(xp.add(Frame(xp.ones(3)), 1)).__name__
    'Frame'
    """
    global _known, _registered
    if not isinstance(adapter, Adapter):
        raise TypeError(f"register: adapter is {described(adapter)}; accepted: an xpops.frameworks.Adapter")
    name = getattr(adapter, "name", None)
    if not isinstance(name, str):
        raise TypeError(f"register: adapter.name is {name!r}; accepted: a str")
    if name in _RESERVED:
        raise ValueError(f"register: adapter.name is {name!r}; accepted: any but {', '.join(sorted(_RESERVED))}")
    _registered = (adapter, *(each for each in _registered if each.name != name))
    _known = BoundedDict(1024)  # after `_registered`, so that no new entry is of the old one


def _release_caches() -> None:
    ours = sorted(set(_FRAMEWORKS.values()) & set(sys.modules))
    for adapter in (*_registered, *(import_module(f"xpops.frameworks.{framework}").ADAPTER for framework in ours)):
        with suppress(Exception):  # the error to report is that memory ran out
            adapter.release_cache()


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
    known = _known
    try:
        return known[cls]
    except KeyError:
        found = known[cls] = _find(cls)
        return found


def is_wrapper(cls: type) -> bool:
    """Whether arrays of type `cls` are more than their memory, so that functions refuse them."""
    adapter = adapter_of(cls)
    return adapter is not None and adapter.name == "wrapper"


def _find(cls: type) -> Adapter | None:
    for registered in _registered:
        if registered.is_array_type(cls):
            return registered
    for base in cls.__mro__:
        framework = _FRAMEWORKS.get(base.__module__.partition(".")[0])
        if framework in sys.modules:
            adapter: Adapter = import_module(f"xpops.frameworks.{framework}").ADAPTER
            if adapter.is_array_type(cls):
                return adapter
    plain = issubclass(cls, np.generic) or cls.__module__.partition(".")[0] in _PLAIN
    if hasattr(cls, "__array_namespace__") and not plain:
        from xpops.frameworks.wrapper import ADAPTER as WRAPPER

        return WRAPPER
    if hasattr(cls, "__dlpack__") or hasattr(cls, "__cuda_array_interface__"):
        from xpops.frameworks.dlpack import ADAPTER

        return ADAPTER
    return None
