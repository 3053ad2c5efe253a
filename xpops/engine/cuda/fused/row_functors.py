"""Functors of kernels that compute expressions row by row: what is known of a row, and what each element computes."""

from __future__ import annotations

from typing import NamedTuple

from xpops.core.layouts import Layout
from xpops.engine.cuda.fused.pairs import pair_operator
from xpops.engine.cuda.fused.values import computed_values, prepared_functor, type_of
from xpops.plan.fused.expression import Expression


class Found(NamedTuple):
    """An input that a stage computes.

    Attributes
    ----------
    number : int
    reducer : str
        The C++ type of the reducer.
    ending : int
        The place of its ending among the kernel's parameters.
    """

    number: int
    reducer: str
    ending: int


class RowFunctors(NamedTuple):
    """What the functors of a kernel have in common.

    Attributes
    ----------
    expression : Expression
    operands : dict of int to str
        The numbers of the inputs that elements and scalars are, and the C++ type that loads each of them.
    stages : tuple of tuple of Found
        The inputs that each stage computes, in the order of the stages.
    shared : tuple of frozenset of int
        The numbers of the nodes that the elements of a row share and that something needs: first those that are known
        before the first stage, then those that each stage adds.
    widened : set of int
        The inputs of 16 bits that functors get as float.
    length : int
        The elements of a row.
    """

    expression: Expression
    operands: dict[int, str]
    stages: tuple[tuple[Found, ...], ...]
    shared: tuple[frozenset[int], ...]
    widened: set[int]
    length: int

    def rows(self, centred: int | None) -> list[str]:
        """The source of structs ``Row0``, ``Row1`` ...: what is known of a row after so many stages. The one numbered
        `centred` is also made of the one result of its stage.
        """
        scalars = _scalars(self.expression, self.operands)
        loaded = [
            f"v{number} = {self.operands[number]}::template value<1>(params, {{}}, 0);" for number in sorted(scalars)
        ]
        lines = [
            "struct Row0 {",
            *self._members((*sorted(scalars), *sorted(self.shared[0]))),
            "  template <class Params>",
            "  XPOPS_DEVICE explicit Row0(const Params& params) {",
            *(f"    {line}" for line in (*loaded, *self._computed(0, tuple(sorted(scalars))))),
            "  }",
            "};",
        ]
        for stage, found in enumerate(self.stages, 1):
            numbers = tuple(each.number for each in found)
            lines += [
                f"struct Row{stage} : Row{stage - 1} {{",
                *self._members((*numbers, *sorted(self.shared[stage]))),
                "  template <class State>",
                f"  XPOPS_DEVICE Row{stage}(const Row{stage - 1}& row, const State& state, const Ending* endings)",
                f"      : Row{stage - 1}(row) {{",
                *(f"    {line}" for line in (*self._finished(found), *self._computed(stage, numbers))),
                "  }",
            ]
            if stage == centred:
                (number,) = numbers
                lines += [
                    f"  XPOPS_DEVICE Row{stage}(const Row{stage - 1}& row, {type_of(number, self.expression)} result)",
                    f"      : Row{stage - 1}(row) {{",
                    *(f"    {line}" for line in (f"v{number} = result;", *self._computed(stage, numbers))),
                    "  }",
                ]
            lines.append("};")
        return lines

    def _finished(self, found: tuple[Found, ...]) -> list[str]:
        """The statements that set the results of a stage."""
        lines = []
        for place, (number, reducer, ending) in enumerate(found):
            state = f"state{'.tail' * place}.head" if len(found) > 1 else "state"
            finished = f"{reducer}::finish({state}, endings[{ending}])"
            if self.expression.narrow and reducer == "Mean<compute_t<float>>":
                finished = f"{state} / {self.length}.0f"
            lines.append(f"v{number} = settled(cast<{type_of(number, self.expression)}>({finished}));")
        return lines

    def _members(self, numbers: tuple[int, ...]) -> list[str]:
        kinds = {number: type_of(number, self.expression) for number in numbers}
        prepared = self._prepared(numbers)
        return [f"  {kind} v{number};" for number, kind in kinds.items()] + [
            f"  {functor} p{number};" for number, functor in prepared.items()
        ]

    def _computed(self, stage: int, given: tuple[int, ...]) -> list[str]:
        """The statements that compute what a stage adds."""
        made = [line.partition(" ")[2] for line in computed_values(self.expression, self.shared[stage])]
        prepared = self._prepared((*given, *sorted(self.shared[stage])))
        return made + [f"p{number} = {functor}(v{number});" for number, functor in prepared.items()]

    def _prepared(self, numbers: tuple[int, ...]) -> dict[int, str]:
        """The functors of prepared operands, by their numbers."""
        return {
            number: prepared_functor(node, self.expression)
            for node in self.expression.nodes
            for number in self.expression.prepared.intersection(numbers)
            if node.op.prepared and node.operands[-1] == number
        }

    def element(self, name: str, stage: int, results: tuple[int, ...], value: str) -> list[str]:
        """The source of a functor for elements, which knows what is known of a row after so many stages.

        Parameters
        ----------
        results : tuple of int
            The numbers of the values in `value`.
        value : str
            The C++ expression of what the functor returns.
        """
        known = frozenset[int]().union(*self.shared[: stage + 1])
        needed = self.expression.needed(results) - known
        kinds = {each: "float" if each in self.widened else type_of(each, self.expression) for each in self.operands}
        given = ", ".join(f"{kind} v{each}" for each, kind in kinds.items())
        made = self._prepared((*(each.number for found in self.stages[:stage] for each in found), *known))
        return [
            *_header(name, stage),
            f"  XPOPS_DEVICE auto operator()({given}) const {{",
            *(f"    const {line}" for line in computed_values(self.expression, needed, made)),
            f"    return {value};",
            "  }",
            *pair_operator(self.expression, tuple(self.operands), needed, value, made),
            "};",
        ]

    def row(self, name: str, value: str) -> list[str]:
        """The source of a functor for rows, which returns `value`."""
        return [*_header(name, len(self.stages)), f"  XPOPS_DEVICE auto operator()() const {{ return {value}; }}", "};"]


def row_functors(
    expression: Expression,
    operands: dict[int, str],
    stages: tuple[tuple[Found, ...], ...],
    results: tuple[int, ...],
    widened: set[int],
    length: int,
) -> RowFunctors:
    """What the functors have in common that compute the values numbered `results`."""
    known, shared = _scalars(expression, operands), []
    needed = expression.needed(results)
    for found in ((), *stages):
        known.update(each.number for each in found)
        more = set()
        for number, node in enumerate(expression.nodes, len(expression.inputs)):
            if number not in known and all(each in known for each in node.operands if isinstance(each, int)):
                known.add(number)
                more.add(number)
        shared.append(frozenset(more & needed))
    return RowFunctors(expression, operands, stages, tuple(shared), widened, length)


def _header(name: str, stage: int) -> list[str]:
    return [
        f"struct {name} : Row{stage} {{",
        f"  XPOPS_DEVICE explicit {name}(const Row{stage}& row) : Row{stage}(row) {{}}",
    ]


def _scalars(expression: Expression, operands: dict[int, str]) -> set[int]:
    return {number for number in operands if not isinstance(expression.inputs[number], Layout)}
