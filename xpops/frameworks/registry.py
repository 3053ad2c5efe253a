"""The adapters by type of array, and the registration of others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module

import numpy as np

from xpops.core.devices import Device
from xpops.core.errors import describe
from xpops.engine.caches import other_caches
from xpops.engine.cuda.runtime import streams
from xpops.frameworks.adapter import Adapter
from xpops.plan.cache import BoundedDict

# The root module of a framework's classes -> the framework. ``xpops.frameworks.<framework>`` has the adapter.
_FRAMEWORKS = {"numpy": "numpy", "torch": "torch", "cupy": "cupy", "jax": "jax", "jaxlib": "jax"}
# Functions that `register` calls: they forget what depends on the adapter of a class.
forgetters: list[Callable[[], None]] = []
# The root modules of other libraries whose arrays have a namespace of their own, but are no wrappers.
_PLAIN = ("xpops", "array_api_strict", "dpctl", "dpnp", "mlx")


_RESERVED = {*_FRAMEWORKS.values(), "dlpack", "wrapper"}
# The newest first. The tuple is replaced as a whole: another thread may be reading it.
_registered: tuple[Adapter, ...] = ()


def register(adapter: Adapter) -> None:
    """Register an adapter: functions then take the framework's arrays, and return results as such arrays.

    Parameters
    ----------
    adapter : Adapter
        Replaces a registered adapter of the same name, and takes precedence over the adapters of xpops.

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
        raise TypeError(f"register: adapter is {describe(adapter)}; accepted: an xpops.frameworks.Adapter")
    name = getattr(adapter, "name", None)
    if not isinstance(name, str):
        raise TypeError(f"register: adapter.name is {name!r}; accepted: a str")
    if name in _RESERVED:
        raise ValueError(f"register: adapter.name is {name!r}; accepted: any but {', '.join(sorted(_RESERVED))}")
    _registered = (adapter, *(each for each in _registered if each.name != name))
    _known = BoundedDict(1024)  # after `_registered`: a new dict must not get entries of the old tuple
    for forget in forgetters:
        forget()


def _imported() -> list[Adapter]:
    """The adapters of the frameworks that this process has imported."""
    ours = sorted(set(_FRAMEWORKS.values()) & set(sys.modules))
    return [*_registered, *(import_module(f"xpops.frameworks.{framework}").ADAPTER for framework in ours)]


@contextmanager
def join_recording(device: Device, stream: int) -> Iterator[list[object]]:
    """A context in which every framework works on a stream that is recorded; see `Adapter.recording`.

    The value is the memory that the frameworks use there. It must exist as long as the graph.
    """
    with ExitStack() as contexts:
        yield [contexts.enter_context(adapter.recording(device, stream)) for adapter in _imported()]


def _release_caches() -> None:
    for adapter in _imported():
        with suppress(Exception):  # the caller reports that memory ran out; no other error must hide that
            adapter.release_cache()


def _await_torch(index: int) -> int:
    """The current stream before torch is imported. Replaces itself by torch's own function once torch is imported."""
    if not hasattr(sys.modules.get("torch"), "cuda"):
        return streams.LEGACY_DEFAULT
    try:
        import_module("xpops.frameworks.torch").follow_captures()
    except Exception:  # torch is too old or broken: the error is raised when a tensor is passed
        streams.framework_stream = streams.no_framework
    return streams.framework_stream(index)


other_caches.append(_release_caches)
streams.framework_stream = _await_torch
_known: BoundedDict[type, Adapter | None] = BoundedDict(1024)


def adapter_of(cls: type) -> Adapter | None:
    """The adapter of arrays of type `cls`; None if they are no arrays.

    Wrappers have an adapter that refuses them. Wrappers are masked arrays, subclasses of ndarray that override
    functions, and other types with ``__array_namespace__``, unless their library is known to have plain arrays.

    Imports no framework: if the caller has an array of it, the framework is imported already.

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
    """Whether arrays of type `cls` are wrappers, which functions refuse: they mean more than their memory."""
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
