"""Programs, drawn from a pool of forms by a seed and a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from conformance.fuzz import elementwise, fused, linalg, moves, products, reductions
from conformance.fuzz.actions import Action, Call, Drop, Hop, Slice, ViewOf, Write
from conformance.fuzz.facts import FACTS
from conformance.fuzz.forms import Form, Function, Spec, draw_form, vary_form
from conformance.fuzz.machine import Machine
from xpops.testing import Framework

MODULES = (elementwise, reductions, moves, products, linalg, fused)
FUNCTIONS: tuple[Function, ...] = tuple(function for module in MODULES for function in module.FUNCTIONS)
# Forms that differ from one in one fact.
SIBLINGS = 3
WEIGHTS = {"own": 4, "torch": 5, "numpy": 2, "cupy": 2, "capsule": 1, "jax": 0.5}
# Ways to make a call; the first ones need torch.
CONTEXTS = ("no_grad", "inference_mode", "stream", "thread", "float axis")

FACT_HOMES = ("torch", "own", "capsule")
_SLICES: tuple[Slice, ...] = (
    (0, None, 1),
    (1, None, 1),
    (0, -1, 1),
    (-1, None, -1),
    (0, None, 2),
)

# A form, and its siblings.
Group = tuple[Form, ...]


@dataclass(frozen=True)
class Program:
    """Actions, and whether results are read only at the end."""

    actions: tuple[Action, ...]
    is_deferred: bool

    def run(self, homes: dict[str, Framework], only: Sequence[int] | None = None) -> None:
        """Run the actions, or some of them; Mismatch where something is wrong."""
        machine = Machine(homes, self.is_deferred)
        for number in range(len(self.actions)) if only is None else only:
            self.actions[number].run(machine)
        machine.finish()

    def show(self, only: Sequence[int] | None = None) -> str:
        """The actions, a line each."""
        numbers = range(len(self.actions)) if only is None else only
        head = "results are read at the end" if self.is_deferred else "results are read at once"
        return "\n".join([head, *(f"{number}: {self.actions[number]}" for number in numbers)])


def draw_pool(seed: int, count: int, device: str) -> list[Group]:
    """The forms that programs are made of. There are as many kernels as these need, and no more."""
    random = Random(f"pool {seed}")
    functions = FUNCTIONS if device == "cpu" else (*FUNCTIONS, *fused.KERNELS)
    pool = []
    for _ in range(count):
        form = draw_form(random, random.choice(functions))
        pool.append((form, *(vary_form(random, form) for _ in range(SIBLINGS))))
    return pool


def draw_program(seed: int, number: int, pool: Sequence[Group], homes: dict[str, Framework]) -> Program:
    """The program of a number."""
    random = Random(f"program {seed} {number}")
    actions: list[Action] = []
    for _ in range(random.randint(1, 4)):
        group = random.choice(pool)
        call = _draw_call(random, group[0], homes)
        variants = [_vary_call(random, call, group, homes) for _ in range(2)]
        # Three times each, with another in between.
        for each in (call, variants[0], call, variants[1], call, variants[0], variants[0], variants[1]):
            actions.append(replace(each, seed=(seed, number, len(actions))))
            if random.random() < 0.35:
                actions.append(_draw_other(random, homes))
    return Program(tuple(actions), random.random() < 0.3)


def warm_up(group: Group, homes: dict[str, Framework]) -> None:
    """Call every form of a group, with each kind of ``out=``, so that its kernels are compiled."""
    for form in group:
        count = len(form.operands)
        for out in ("", "strided") if form.function.has_out else ("",):
            Call(form, ("own",) * count, ("",) * count, (None,) * count, "", out, (0,)).run(Machine(homes, False))


def _draw_call(random: Random, form: Form, homes: dict[str, Framework]) -> Call:
    name = _draw_home(random, homes)
    names = tuple(name if random.random() < 0.9 else _draw_home(random, homes) for _ in form.operands)
    picks = tuple(random.randrange(100) if random.random() < 0.6 else None for _ in form.operands)
    return _fitted(Call(form, names, ("",) * len(names), picks, "", "", ()), homes)


def _draw_home(random: Random, homes: dict[str, Framework]) -> str:
    return random.choices(list(homes), [WEIGHTS[name] for name in homes])[0]


def _vary_call(random: Random, call: Call, group: Group, homes: dict[str, Framework]) -> Call:
    """The call with one fact changed."""
    kind, count = random.randrange(6), len(call.homes)
    if kind == 0 and "torch" in homes:
        place = random.randrange(count)
        name = random.choice(FACT_HOMES) if random.random() < 0.3 else "torch"
        names = _replaced(call.homes, place, name) if random.random() < 0.3 else (name,) * count
        changed = replace(call, homes=names, facts=_replaced(call.facts, place, random.choice(list(FACTS))))
        if random.random() < 0.3:
            changed = replace(changed, facts=(changed.facts[place],) * count, context=random.choice(CONTEXTS[:2]))
    elif kind == 1:
        changed = _draw_call(random, call.form, homes)
    elif kind == 2:
        changed = replace(call, context=random.choice(CONTEXTS if "torch" in homes else CONTEXTS[3:]))
    elif kind == 3 and call.form.function.has_out:
        changed = replace(call, out=random.choice(["fresh", "strided", "first"]))
    else:
        form = random.choice(group[1:])
        same = len(form.operands) == count
        changed = replace(call, form=form) if same else _draw_call(random, form, homes)
    return _fitted(changed, homes)


def _fitted(call: Call, homes: dict[str, Framework]) -> Call:
    """The call, with each operand of a framework that has its dtype, layout and fact."""
    names, facts = list(call.homes), list(call.facts)
    for place, spec in enumerate(call.form.operands):
        if not isinstance(spec, Spec):
            facts[place] = ""
            continue
        home = homes[names[place]]
        is_mirrored = spec.layout in ("mirrored", "upside_down")
        if spec.dtype not in home.dtypes or (is_mirrored and not home.mirrors):
            names[place] = "own"
        if facts[place] and not _has_fact(facts[place], names[place], spec):
            facts[place] = ""
    is_written = call.form.function.has_out and homes[names[0]].is_mutable and len(set(names)) == 1
    out = call.out if is_written and isinstance(call.form.operands[0], Spec) else ""
    return replace(call, homes=tuple(names), facts=tuple(facts), out=out)


def _has_fact(fact: str, home: str, spec: Spec) -> bool:
    """Whether there are such tensors; those that require a gradient are not exported."""
    is_strided = spec.layout not in ("mirrored", "upside_down")
    return is_strided and spec.dtype in FACTS[fact][0] and home in (("torch",) if fact == "leaf" else FACT_HOMES)


def _replaced(values: tuple[str, ...], place: int, value: str) -> tuple[str, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _draw_other(random: Random, homes: dict[str, Framework]) -> Action:
    pick = random.randrange(1000)
    kinds: list[Callable[[], Action]] = [
        lambda: ViewOf(pick, tuple(random.choice(_SLICES) for _ in range(5))),
        lambda: Write(pick, random.choice([None, 1, 3])),
        lambda: Hop(pick, _draw_home(random, homes)),
        lambda: Drop(pick),
    ]
    return random.choice(kinds)()
