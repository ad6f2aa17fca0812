"""How designs come about and change: the offline counterpart of the prompts for the mutation operators."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np

from llamea_tune.proposals.offline.component import Hyperparameter
from llamea_tune.proposals.offline.design import Design, complete, fit, hyperparameters_of
from llamea_tune.proposals.offline.operators import SLOTS
from llamea_tune.proposals.offline.prose import description

_FRESH_DRAWS = 20
_DIVERSE_DRAWS = 8


def fresh(rng: np.random.Generator, tried: Collection[str] = ()) -> Design:
    """Draw a design at random, favouring what works often, and avoiding descriptions already tried."""
    design = _draw(rng)
    for _ in range(_FRESH_DRAWS):
        if description(design) not in tried:
            break
        design = _draw(rng)
    return design


def mutate(design: Design, rng: np.random.Generator) -> Design:
    """Change one or two components, or some hyperparameters."""
    if rng.random() < 0.4:
        return vary(design, rng)
    changed = design
    while changed == design:
        choices = dict(design.choices)
        for slot in rng.choice(list(choices), size=rng.choice([1, 1, 2]), replace=False):
            choices[slot] = _pick(slot, rng, other_than=choices[slot])
        changed = complete(choices, design.hyperparameters)
    return changed


def vary(design: Design, rng: np.random.Generator) -> Design:
    """Change one to three hyperparameters."""
    known = {h.name: h for h in hyperparameters_of(design)}
    changed = design
    while changed == design:
        names = rng.choice(list(known), size=min(int(rng.integers(1, 4)), len(known)), replace=False)
        values = {name: _shift(known[name], design.hyperparameters[name], 0.25, rng) for name in names}
        changed = complete(design.choices, {**design.hyperparameters, **values})
    return changed


def simplify(design: Design, rng: np.random.Generator) -> Design:
    """Put the plainest component in one slot; change hyperparameters where nothing is left to simplify."""
    plainest = {slot: next(iter(SLOTS[slot])) for slot in design.choices}
    slots = [slot for slot, name in plainest.items() if design.choices[slot] != name]
    if not slots:
        return vary(design, rng)
    slot = slots[rng.integers(len(slots))]
    return complete({**design.choices, slot: plainest[slot]}, design.hyperparameters)


def diversify(design: Design, rng: np.random.Generator, tried: Collection[str] = ()) -> Design:
    """Draw a design that shares little with this one."""
    draws = [fresh(rng, tried) for _ in range(_DIVERSE_DRAWS)]
    return min(draws, key=lambda other: _shared(design.choices, other.choices))


def cross(first: Design, second: Design, rng: np.random.Generator) -> Design:
    """Take some components and hyperparameters from each of two designs; a schedule goes with its acceptance rule."""
    slots = [slot for slot in SLOTS if slot != "schedule" and _gene(first, slot) != _gene(second, slot)]
    rng.shuffle(slots)
    taken = slots[: int(rng.integers(1, len(slots)))] if len(slots) > 1 else slots
    choices = dict(first.choices)
    for slot in taken:
        choices.update(_gene(second, slot))
    common = [name for name in second.hyperparameters if name in first.hyperparameters and rng.random() < 0.5]
    values = {**second.hyperparameters, **first.hyperparameters, **{n: second.hyperparameters[n] for n in common}}
    child = complete(choices, values)
    return vary(child, rng) if child in (first, second) else child


def lighten(design: Design, rng: np.random.Generator) -> Design:
    """Replace the component that computes most with the plainest one of its slot; mutate if none computes much."""
    slot, heaviest = max(design.components.items(), key=lambda item: item[1].effort)
    if heaviest.effort == 0:
        return mutate(design, rng)
    return complete({**design.choices, slot: next(iter(SLOTS[slot]))}, design.hyperparameters)


def _draw(rng: np.random.Generator) -> Design:
    design = complete({slot: _pick(slot, rng) for slot in SLOTS}, {})
    values = {
        h.name: _shift(h, h.default, 0.15, rng) if rng.random() < 0.5 else h.default for h in hyperparameters_of(design)
    }
    return complete(design.choices, values)


def _pick(slot: str, rng: np.random.Generator, other_than: str | None = None) -> str:
    names = [name for name in SLOTS[slot] if name != other_than]
    weights = np.array([SLOTS[slot][name].weight for name in names])
    return names[rng.choice(len(names), p=weights / weights.sum())]


def _shift(hyperparameter: Hyperparameter, value: float, share: float, rng: np.random.Generator) -> int | float:
    """Move a value by a normal step whose deviation is this share of its range, on its own scale."""
    low, high = hyperparameter.low, hyperparameter.high
    if hyperparameter.log:
        moved = value * math.exp(rng.normal(0.0, share * math.log(high / low)))
    else:
        moved = value + rng.normal(0.0, share * (high - low))
    return fit(hyperparameter, float(moved))


def _shared(first: Mapping[str, str], second: Mapping[str, str]) -> int:
    return sum(first.get(slot) == second.get(slot) for slot in SLOTS)


def _gene(design: Design, slot: str) -> dict[str, str]:
    """The choices that are inherited together with a slot's."""
    slots = ("acceptance", "schedule") if slot == "acceptance" else (slot,)
    return {s: design.choices[s] for s in slots if s in design.choices}
