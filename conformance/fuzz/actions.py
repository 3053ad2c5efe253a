"""What programs are made of. An action holds all that was drawn, and runs whatever other actions are left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.fuzz import errors
from conformance.fuzz.facts import FACTS, call_in_thread, context
from conformance.fuzz.forms import Form, Spec
from conformance.fuzz.machine import Machine, Mismatch, Variable
from conformance.fuzz.values import BOOL, wide_dtype
from xpops.testing import Framework

Errors = type[Exception] | tuple[type[Exception], ...]


@dataclass(frozen=True)
class Call:
    """A call of a function.

    Attributes
    ----------
    form : Form
        The function and the kinds of operands.
    homes, facts, picks : tuple
        For each operand: its framework, a fact of `FACTS` or "", and which variable it is; None for a new array. An
        operand with a fact is a tensor, or another framework's array over the memory of one.
    context : str
        "", "no_grad", "inference_mode", "stream", "thread" or "float axis".
    out : str
        "", "fresh", "strided" or "first": the operand itself.
    seed : tuple of int
        Of the values.
    """

    form: Form
    homes: tuple[str, ...]
    facts: tuple[str, ...]
    picks: tuple[int | None, ...]
    context: str
    out: str
    seed: tuple[int, ...]

    def __str__(self) -> str:
        about = [" ".join(filter(None, each)) for each in zip(self.homes, self.facts, strict=True)]
        rest = [self.context, f"out={self.out}" if self.out else ""]
        return " ".join([str(self.form), f"[{', '.join(about)}]", *filter(None, rest)])

    def run(self, machine: Machine) -> None:
        """Make the call and check its result."""
        rng = np.random.default_rng(self.seed)
        with np.errstate(all="ignore"):
            operands = [self._operand(machine, place, rng) for place in range(len(self.form.operands))]
            out = self._out(machine, operands, rng)
            values = [each.value if isinstance(each, Variable) else each for each in operands]
            # A call in place overwrites its operand.
            hosts = None if machine.is_deferred else _wide(operands)
            result = self._result(machine, values, out)
            if result is None:
                return
            made = self._variable(machine, result, out)
            machine.check(lambda: self._check(made, _wide(operands) if hosts is None else hosts))
        for each in operands:
            if isinstance(each, Variable) and each not in machine.variables and not any(self.facts):
                machine.keep(each)
        # A NumPy scalar cannot be an operand later.
        if out is None and not self.form.function.may_view and not isinstance(made.value, np.generic):
            machine.keep(made)

    def _operand(self, machine: Machine, place: int, rng: np.random.Generator) -> Any:
        spec = self.form.operands[place]
        if not isinstance(spec, Spec):
            return spec
        home, fact, pick = machine.homes[self.homes[place]], self.facts[place], self.picks[place]
        if fact:
            torch = machine.homes["torch"]
            made = machine.fresh(spec, torch, rng, lambda host: FACTS[fact][1](torch.make, host))
            return made if home is torch else made.hop(home)
        found = None if pick is None else machine.find(spec, home, pick)
        return found or machine.fresh(spec, home, rng, home.make)

    def _out(self, machine: Machine, operands: list[Any], rng: np.random.Generator) -> Variable | None:
        if not self.out or machine.is_deferred:
            return None
        dtype = self.form.function.result(self.form.dtypes, self.form.parameters)
        shape = np.broadcast_shapes(*(each.shape for each in self.form.operands if isinstance(each, Spec)))
        if self.out == "first":
            first = operands[0]
            fits = first.is_writable and first.dtype == dtype and first.shape == shape
            return first if fits and not self.facts[0] else None
        home = machine.homes[self.homes[0]]
        spec = Spec(dtype, shape, "stepped" if self.out == "strided" else "contiguous", "small")
        return machine.fresh(spec, home, rng, home.make)

    def _result(self, machine: Machine, values: list[Any], out: Variable | None) -> Any:
        """What the call returns; None if it was refused, as it should be."""
        named = dict(self.form.parameters)
        if out is not None:
            named["out"] = out.value
        if self.context == "float axis" and isinstance(named.get("axis"), int):
            named["axis"] = float(named["axis"])
            return self._refused(lambda: self.form.function(*values, **named), "a float as axis")
        device = machine.homes["own"].device

        def call() -> Any:
            with context(self.context, device):
                return self.form.function(*values, **named)

        if "leaf" in self.facts and self.context not in ("no_grad", "inference_mode"):
            leaves = [each for each, fact in zip(values, self.facts, strict=True) if fact == "leaf"]
            return self._recorded(call, leaves, has_out=out is not None)
        return call_in_thread(call) if self.context == "thread" else call()

    def _recorded(self, call: Callable[[], Any], leaves: list[Any], has_out: bool) -> Any:
        """What a call with tensors that require grad returns, without its gradient; None if it was refused."""
        function = self.form.function
        if has_out:
            return self._refused(call, "out and a tensor that requires grad", (RuntimeError, TypeError))
        arrays = {name for name, spec in zip(self.homes, self.form.operands, strict=True) if isinstance(spec, Spec)}
        if function.gradient == "refused" or len(arrays) > 1:
            return self._refused(call, "a tensor that requires grad")
        result = call_in_thread(call) if self.context == "thread" else call()
        if function.gradient == "none":
            return result
        is_recorded = result.is_floating_point() or result.is_complex()
        if result.requires_grad != is_recorded:
            raise Mismatch(f"{function.name} {'loses' if is_recorded else 'makes'} gradients", str(self))
        if is_recorded:
            result.backward(result.detach(), inputs=leaves)
        return result.detach()

    def _refused(self, call: Callable[[], Any], what: str, error: Errors = TypeError) -> None:
        try:
            call()
        except error:
            return
        raise Mismatch(f"{self.form.function.name} accepts {what}", str(self))

    def _variable(self, machine: Machine, result: Any, out: Variable | None) -> Variable:
        """The result as a variable; Mismatch if it is of another framework."""
        if out is not None:
            if result is not out.value:
                raise Mismatch("does not return out", str(self))
            return out
        home = self._home(machine, result)
        dtype = self.form.function.result(self.form.dtypes, self.form.parameters)
        is_writable = home.is_mutable and self.context != "inference_mode"
        return Variable(result, home, dtype, is_writable)

    def _home(self, machine: Machine, result: Any) -> Framework:
        function = self.form.function
        arrays = [name for name, spec in zip(self.homes, self.form.operands, strict=True) if isinstance(spec, Spec)]
        wanted = arrays[0] if len(set(arrays)) == 1 and arrays[0] != "capsule" else "own"
        if machine.homes[wanted].owns(result):
            return machine.homes[wanted]
        if machine.homes["own"].owns(result) and not function.has_out:
            return machine.homes["own"]
        raise Mismatch(f"{function.name} returns {type(result).__name__}", str(self))

    def _check(self, made: Variable, operands: list[Any]) -> None:
        function, parameters = self.form.function, self.form.parameters
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns of variances of one number, which are NaN
            exact = np.asarray(function.oracle(*operands, **parameters))
            dtype = function.result(self.form.dtypes, parameters)
            got = made.home.host(made.value)
            bound = function.bound
            wrong = errors.disagreement(
                got, exact, dtype, bound and (lambda each: bound(operands, each, dtype, parameters))
            )
        if wrong:
            raise Mismatch(f"{function.name} is wrong", f"{self} {wrong}")
        made.settle(got)


def _wide(operands: list[Any]) -> list[Any]:
    """The operands in higher precision, in memory of their own."""
    return [each.values.astype(wide_dtype(each.dtype)) if isinstance(each, Variable) else each for each in operands]


# start, stop, step
Slice = tuple[int, int | None, int]


@dataclass(frozen=True)
class ViewOf:
    """A view of a variable, by slices of each axis."""

    pick: int
    slices: tuple[Slice, ...]

    def __str__(self) -> str:
        return f"view {self.pick}: {self.slices}"

    def run(self, machine: Machine) -> None:
        """Add the view, if a variable has one."""
        variable = machine.pick(self.pick, lambda each: bool(each.shape) and each.home.name not in ("jax", "capsule"))
        if variable is None:
            return
        key = tuple(slice(*each) for each in self.slices[: len(variable.shape)])
        if not variable.home.mirrors:
            key = tuple(slice(each.start, each.stop, abs(each.step)) for each in key)
        machine.keep(variable[key])


@dataclass(frozen=True)
class Write:
    """An assignment to a variable, by its own framework."""

    pick: int
    stop: int | None

    def __str__(self) -> str:
        return f"write to {self.pick}[:{self.stop}]"

    def run(self, machine: Machine) -> None:
        """Write, if results are read at once: otherwise operands would change before the check."""
        variable = machine.pick(self.pick, lambda each: each.is_writable)
        if variable is None or machine.is_deferred:
            return
        key: Any = slice(self.stop) if variable.shape else ...
        value = variable.dtype == BOOL or 3
        variable.home.write(variable.value, key, value)
        variable.values[key] = value


@dataclass(frozen=True)
class Hop:
    """A variable, handed to another framework by DLPack."""

    pick: int
    home: str

    def __str__(self) -> str:
        return f"{self.pick} to {self.home}"

    def run(self, machine: Machine) -> None:
        """Add an array of the other framework over the same memory; a copy if it is JAX's."""
        home = machine.homes[self.home]
        variable = machine.pick(self.pick, lambda each: _can_hop(each, home))
        if variable is not None:
            machine.keep(variable.hop(home))


def _can_hop(variable: Variable, home: Framework) -> bool:
    is_taken = variable.dtype in home.exchanged and variable.dtype in variable.home.exchanged
    # xpops gives a copy where a stride is negative. CuPy gives a wrong one (cupy#10172), which xpops refuses.
    mirrors = home.mirrors and variable.home.name not in ("own", "capsule", "cupy")
    return is_taken and (mirrors or not variable.is_mirrored) and variable.home is not home


@dataclass(frozen=True)
class Drop:
    """A variable goes, and so may its memory."""

    pick: int

    def __str__(self) -> str:
        return f"drop {self.pick}"

    def run(self, machine: Machine) -> None:
        """Forget the variable."""
        variable = machine.pick(self.pick, lambda each: True)
        if variable is not None:
            machine.variables.remove(variable)


Action = Call | ViewOf | Write | Hop | Drop
