"""What the steady states of every kind of call share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xpops.dispatch.calls import PLAN_LIMIT
from xpops.dispatch.tensor import Tensor
from xpops.plan.cache import BoundedDict

# The class of results; `xpops.array`, which stands above this package, sets it.
array_class: type[Any] = Tensor
# (operator or plan, layout or scalar type, ...) -> function from the operands' data to a new array.
launches: BoundedDict[tuple[Any, ...], Callable[..., Any]] = BoundedDict(PLAN_LIMIT)
# The same for the arrays of frameworks that have a way of their own to recognise a call, by their class.
inline: dict[type, Any] = {}
