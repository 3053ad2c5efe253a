"""The steady state: a call like an earlier one finds its launch, allocates, and launches, without planning.

A launch is remembered under the way (the operator or plan, with its parameters) and what each operand is: the layout of
an xpops array, a framework's `Known` layout, or the type of a scalar. So arrays of any framework have one mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

from xpops.core.compiled import compiled
from xpops.core.layouts import Layout
from xpops.core.promotion import SCALAR_TYPES
from xpops.dispatch.calls import PLAN_LIMIT
from xpops.dispatch.operands import Operands
from xpops.dispatch.tensor import Tensor
from xpops.engine import engine_of
from xpops.engine.program import Data, Kernel
from xpops.engine.protocol import Engine
from xpops.frameworks.adapter import Adapter, Known, is_inherited
from xpops.frameworks.differentiable import Record
from xpops.frameworks.registry import forgetters
from xpops.plan.cache import BoundedDict
from xpops.plan.strides.overlap import SafeDistance, safe_distance

# A launch takes the operands' data, and returns a new array or a tuple of them.
Launch = Callable[..., Any]
# A write takes `out`, its data and the operands' data. It returns False, and writes nothing, if `out` is read-only or
# partly overlaps an operand.
Write = Callable[..., bool]

# The most results of a launch of the compiled core.
_MOST = 16
# The class of results. `xpops.arrays` sets it: this package must not import that one.
array_class: type[Any] = Tensor
# (way, layout or scalar type, ...) -> launch.
launches: BoundedDict[tuple[Any, ...], Launch] = BoundedDict(PLAN_LIMIT)
# (way, layout of out, layout or scalar type, ...) -> write.
writes: BoundedDict[tuple[Any, ...], Write] = BoundedDict(PLAN_LIMIT)
# (way of a view, class, shape or layout) -> (function, *arguments): the view is ``function(x, *arguments)``.
shows: BoundedDict[tuple[Any, ...], tuple[Any, ...]] = BoundedDict(PLAN_LIMIT)
# What a framework's array is in a key -> function of the array and its data: it returns an array on the same memory.
adopters: BoundedDict[Known, Callable[[Any, Data], Any]] = BoundedDict(PLAN_LIMIT)
# The classes of other frameworks' arrays with remembered views.
viewed: set[type] = set()
# Class -> function that takes an operand of exactly this class. It returns what the operand is in a key, and its data.
readers: dict[type, Callable[[Any], tuple[Any, Data]]] = {
    kind: partial(lambda k, x: (k, x), kind) for kind in SCALAR_TYPES
}


def set_array_class(cls: type[Any]) -> None:
    """Make `cls`, a subclass of `Tensor`, the class of results."""
    global array_class
    array_class = cls
    readers[cls] = lambda x: (x._layout, x._data)
    if compiled is not None:
        compiled.configure(launches, writes, shows, adopters, readers, viewed, cls, Layout, Record)


def _forget_frameworks() -> None:
    """Forget the classes of frameworks: an adapter was registered, which may take some of them."""
    for cls in {*readers} - {*SCALAR_TYPES, array_class}:
        readers.pop(cls, None)
    viewed.clear()
    forget_views()
    if compiled is not None:
        compiled.forget_tensors()


forgetters.append(_forget_frameworks)


def forget_views() -> None:
    """Forget how views are made."""
    shows.clear()
    if compiled is not None:
        compiled.forget_views()


def _known(way: Any, arguments: tuple[Any, ...]) -> Any:
    """The result of a remembered call. None if no such call is remembered."""
    found = _read(way, arguments)
    if found is None:
        return None
    key, values = found
    launch = launches.get(key)
    if launch is None:
        return None
    return launch(*arguments) if launch.__class__ is Record else launch(*values)


def _known_write(way: Any, arguments: tuple[Any, ...], out: Any) -> bool:
    """Run a remembered call that writes `out`. False if no such call is remembered, or `out` must not be written."""
    found = _read(way, (out, *arguments))
    if found is None:
        return False
    key, values = found
    write = writes.get(key)
    return write is not None and write(out, *values)


def _read(way: Any, arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Data]] | None:
    """The key of a call, and the data of its operands; None if an operand's class is unknown."""
    key, values = [way], []
    for argument in arguments:
        read = readers.get(argument.__class__)
        if read is None:
            return None
        spec, data = read(argument)
        key.append(spec)
        values.append(data)
    return tuple(key), values


def _spec_of(x: Any) -> Any:
    """What an operand is in a key: a layout, a `Known`, or the type of a scalar; None if nothing like it is known."""
    read = readers.get(x.__class__)
    return None if read is None else read(x)[0]


def _known_array(x: Any) -> Any:
    """`x` itself if it is an array, or an array on its memory. None if no array like it was adopted."""
    if x.__class__ is array_class:
        return x
    read = readers.get(x.__class__)
    if read is None:
        return None
    spec, data = read(x)
    adopt = adopters.get(spec)
    return None if adopt is None else adopt(x, data)


def _known_view(way: Any, x: Any) -> Any:
    """A view like a remembered one. None if no such view is remembered."""
    kind = x.__class__
    if kind is not array_class and kind not in viewed:
        return None
    try:
        show = shows.get((way, kind, x._layout if kind is array_class else x.shape))
    except (RuntimeError, TypeError):  # a nested tensor has no shape, and symbolic sizes have no hash
        return None
    return None if show is None else show[0](x, *show[1:])


if compiled is None:
    known, known_write, spec_of = _known, _known_write, _spec_of
    known_view, known_array = _known_view, _known_array
else:
    known, known_write, spec_of = compiled.known, compiled.known_write, compiled.spec_of
    known_view, known_array = compiled.known_view, compiled.known_array


def remember(way: Any, arguments: tuple[Any, ...], operands: Operands, launch: Launch) -> None:
    """Keep the launch of a call for later calls like it."""
    specs = operands.keys(arguments, operands.specs)
    if specs is not None:
        launches[way, *specs] = launch
        read_by_framework(arguments, operands.framework)


def remember_write(way: Any, arguments: tuple[Any, ...], out: Any, operands: Operands, write: Write) -> None:
    """Keep the write of a call for later calls like it."""
    specs = operands.keys((out, *arguments), (operands.out.layout, *operands.specs)) if operands.out else None
    if specs is not None:
        writes[way, *specs] = write
        read_by_framework((out, *arguments), operands.framework)


def remember_view(way: Any, x: Any, function: Callable[..., Any], *arguments: Any) -> None:
    """Keep how a view was made: by ``function(x, *arguments)``, with three arguments at most."""
    own = isinstance(x, Tensor)
    shows[way, x.__class__, x._layout if own else x.shape] = function, *arguments
    if not own:
        viewed.add(x.__class__)


def remember_array(x: Any, framework: Adapter, layout: Layout, adopt: Callable[[Any, Data], Any]) -> None:
    """Keep how an array was made on the memory of `x`, which has this layout: by ``adopt(x, data)``."""
    spec = framework.learn(x, layout)
    if spec is not None:
        adopters[spec] = adopt
        _read_class(x.__class__, framework)


def read_by_framework(arguments: tuple[Any, ...], framework: Adapter | None) -> None:
    """From now on, read arrays of these classes as their framework does."""
    for cls in {argument.__class__ for argument in arguments} - readers.keys():
        if framework is not None and framework.is_array_type(cls):  # not a subclass of int, such as an enumeration
            _read_class(cls, framework)


def _read_class(cls: type, framework: Adapter) -> None:
    if cls not in readers:
        readers[cls] = framework.read
        exchange = framework.exchange(cls)
        if compiled is not None and exchange is not None:
            compiled.add_tensors(cls, *exchange)


def make_launch(operands: Operands, layouts: tuple[Layout, ...], kernel: Kernel) -> Launch:
    """The launch of a kernel on such operands."""
    engine = engine_of(operands.device)
    kernel = engine.sequence(kernel, (*layouts, *operands.specs))
    return make_launch_on(engine, layouts, kernel, operands.framework, stream_getter(operands))


def make_launch_on(
    engine: Engine, layouts: tuple[Layout, ...], kernel: Kernel, framework: Adapter | None, stream_of: Callable[[], int]
) -> Launch:
    """The launch of a kernel: get the current stream, allocate the results, launch, and make arrays of them."""
    return launch_with(makers_of(engine, layouts, framework), kernel, stream_of)


def launch_with(makers: tuple[Maker, ...], kernel: Kernel, stream_of: Callable[[], int]) -> Launch:
    if compiled is not None and len(makers) <= _MOST:
        fast: Launch = compiled.Launch(stream_of, kernel, makers)
        return fast

    def launch(*values: Data) -> Any:
        stream = stream_of()
        made = [make(stream) for make, _ in makers]
        kernel(stream, *[data for data, _ in made], *values)
        results = [_finish(finish, *each) for (_, finish), each in zip(makers, made, strict=True)]
        return results[0] if len(results) == 1 else tuple(results)

    return launch


def make_write(
    operands: Operands,
    layout: Layout,
    kernel: Kernel,
    distance: Callable[[Layout, Layout], SafeDistance] = safe_distance,
) -> Write:
    """The write of a kernel: check that `out` may be written, then launch.

    `distance` returns at which distances an operand may be from `out`.
    """
    engine, framework = engine_of(operands.device), operands.framework
    stream_of = stream_getter(operands)
    kernel = engine.sequence(kernel, (layout, *operands.specs))
    address = engine.address if framework is None else framework.address
    is_writable = attrgetter("_writable") if framework is None else framework.is_writable
    written = None if framework is None else framework.written
    safe = tuple([None if isinstance(spec, type) else distance(layout, spec) for spec in operands.specs])
    if compiled is not None:
        checks = None if is_inherited(framework, "is_writable") else is_writable
        tells = None if is_inherited(framework, "written") else written
        fast: Write = compiled.Write(stream_of, kernel, safe, address, checks, tells)
        return fast

    def write(out: Any, target: Data, *values: Data) -> bool:
        start = address(target)
        for apart, value in zip(safe, values, strict=True):
            if apart is not None and not apart.holds(address(value) - start):
                return False
        if not is_writable(out):
            return False
        kernel(stream_of(), target, *values)
        if written is not None:
            written(out)
        return True

    return write


def stream_getter(operands: Operands) -> Callable[[], int]:
    """A function that returns the stream of a call: the framework's current stream if it has one, else ours."""
    framework, device = operands.framework, operands.device
    theirs = None if framework is None else framework.stream_of(device)
    return engine_of(device).current_stream if theirs is None else theirs


# make(stream) returns the data of a new result, and its owner or the framework's array. The second is what makes the
# array of both: the layout of an xpops array, a function, or None if the array is made already.
Maker = tuple[Callable[[int], tuple[Data, Any]], Layout | Callable[[Data, Any], Any] | None]


def makers_of(engine: Engine, layouts: tuple[Layout, ...], framework: Adapter | None) -> tuple[Maker, ...]:
    return tuple([_maker(engine, layout, framework) for layout in layouts])


def _maker(engine: Engine, layout: Layout, framework: Adapter | None) -> Maker:
    if framework is None:
        return engine.allocator(layout), layout
    make, export = framework.allocator(layout), framework.export
    if make is not None:
        return make, None
    return engine.allocator(layout), lambda data, owner: export(array_class(layout, data, owner))


def _finish(finish: Layout | Callable[[Data, Any], Any] | None, data: Data, made: Any) -> Any:
    """The array of a result."""
    if finish is None:
        return made
    return array_class(finish, data, made) if isinstance(finish, Layout) else finish(data, made)
