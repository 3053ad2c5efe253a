"""The steady state of calls whose result sizes depend on data."""

from __future__ import annotations

from typing import Any

from xpops.core.errors import OutOfMemoryError
from xpops.core.guards import waits
from xpops.core.layouts import Layout
from xpops.dispatch import steady
from xpops.dispatch.calls import PLAN_LIMIT
from xpops.dispatch.operands import Operands
from xpops.dispatch.steady import Launch, Maker, launch_with, makers_of, stream_getter
from xpops.engine import engine_of
from xpops.engine.program import Data, Guess, Guessing, Owner
from xpops.engine.protocol import Engine
from xpops.plan.cache import BoundedDict


def make_measured_launch(operands: Operands, way: Any, measure: Guessing) -> Launch:
    """The launch of a call whose result sizes depend on data: measure, and launch what is found.

    If the measure guesses the sizes, the kernel is launched before they are known, so that the device has no pause. If
    the guess was wrong, it is launched again, into other memory. Frameworks that allocate results wait for the sizes.
    """
    engine, framework, stream_of = engine_of(operands.device), operands.framework, stream_getter(operands)
    adapt = operands.adapt_kernel
    measure = adapt(way, (), measure)
    known_makers: BoundedDict[tuple[Layout, ...], tuple[Maker, ...]] = BoundedDict(PLAN_LIMIT)

    def launch(*values: Data) -> Any:
        if waits.is_open:
            waits.report("the size of a result depends on the data")
        stream = stream_of()
        found = measure(stream, *values)
        layouts = found.layouts
        if isinstance(found, Guess):
            made = _run_guess(engine, found, stream, values) if framework is None else []
            layouts, fits = found.settle()
            if fits and made:
                results = [steady.array_class(layout, *each) for layout, each in zip(layouts, made, strict=True)]
                return results[0] if len(results) == 1 else tuple(results)
            made.clear()  # the next allocation may need the memory
        makers = known_makers.get(layouts)
        if makers is None:
            makers = known_makers[layouts] = makers_of(engine, layouts, framework)
        return launch_with(makers, adapt(way, layouts, found.kernel), stream_of)(*values)

    return launch


def _run_guess(engine: Engine, guess: Guess, stream: int, values: tuple[Data, ...]) -> list[tuple[Data, Owner]]:
    """Launch the kernel of a guess. Returns data and owner of each result, or an empty list if memory is short."""
    try:
        made = [engine.allocate(layout, stream) for layout in guess.layouts]
    except OutOfMemoryError:  # the results may be smaller
        return []
    guess.kernel(stream, *[data for data, _ in made], *values)
    return made
