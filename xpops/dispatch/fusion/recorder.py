"""What traced values use of the trace that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from xpops.core.devices import Device
from xpops.core.dtypes import DType
from xpops.ops.operator import Operator

if TYPE_CHECKING:  # fused functions are imported when there is one
    from xpops.plan.fused.expression import Node, Reference


class Recorder(Protocol):
    """The interface of `xpops.dispatch.fusion.tracing.Trace`. Calls return traced arrays.

    Attributes
    ----------
    function : str
        The name of the fused function, for errors.
    device : Device
    """

    function: str
    device: Device

    def apply(self, op: Operator, arguments: tuple[Any, ...], dtype: DType | None = None, out: Any = None) -> Any:
        """Record one elementwise call."""

    def convert(self, x: Any, dtype: DType) -> Any:
        """A traced array as another dtype."""

    def primitive(self, function: str, arguments: tuple[Any, ...], parameters: tuple[Any, ...]) -> Any:
        """Record a reduction."""

    def node(self, x: Any) -> Node | None:
        """What makes a traced array; None if it is an input."""

    def value(self, place: Reference) -> Any:
        """The traced array at a place; None if there is a scalar."""

    def is_reduced(self, x: Any, reduction: str, of: Any) -> bool:
        """Whether a traced array is the reduction of that name of another one."""

    def reductions_of(self, x: Any) -> set[str]:
        """The names of the reductions whose results a traced array is computed from."""

    def derive(self, kind: type, evaluate: Callable[..., Any]) -> int:
        """Add an input that the host computes from the inputs before it; returns its number."""
