"""The design of an optimizer: which operator fills which slot, and the hyperparameters; read back from source alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from llamea_tune.candidate import HyperparameterValue
from llamea_tune.candidate_code import CandidateCode
from llamea_tune.exceptions import CandidateCodeError
from llamea_tune.proposals.offline.component import Component, Hyperparameter, Part
from llamea_tune.proposals.offline.operators import SCHEDULED_RULES, SLOTS
from llamea_tune.proposals.offline.shared import SHARED_PARTS

_SECTION = re.compile(r"^Design:\n((?:[ \t]+\w+: \w+\n?)+)", re.MULTILINE)
_ENTRY = re.compile(r"(\w+): (\w+)")


@dataclass(frozen=True)
class Design:
    """What an offline optimizer is made of.

    Attributes:
        choices: Name of the component in each slot; there is a schedule only where the acceptance rule uses one.
        hyperparameters: Value of each hyperparameter of those components.
    """

    choices: Mapping[str, str]
    hyperparameters: Mapping[str, int | float]

    @property
    def components(self) -> dict[str, Component]:
        """The component in each slot."""
        return {slot: SLOTS[slot][name] for slot, name in self.choices.items()}


def complete(choices: Mapping[str, str], hyperparameters: Mapping[str, HyperparameterValue | None]) -> Design:
    """Make a consistent design: drop what these choices don't use, add what they lack.

    Args:
        choices: A component for every slot; the schedule may be left out.
        hyperparameters: Values to keep where a component uses them; defaults fill the rest.
    """
    kept = {slot: choices.get(slot, next(iter(of))) for slot, of in SLOTS.items()}
    if kept["acceptance"] not in SCHEDULED_RULES:
        del kept["schedule"]
    parts = parts_of([SLOTS[slot][name] for slot, name in kept.items()])
    values = {h.name: fit(h, hyperparameters.get(h.name)) for part in parts for h in part.hyperparameters}
    return Design(kept, values)


def parts_of(components: list[Component]) -> list[Part]:
    """List components, then the shared parts that they need, each once and in the library's order."""
    needed: set[str] = set()
    open_parts: list[Part] = list(components)
    while open_parts:
        new = set(open_parts.pop().needs) - needed
        needed |= new
        open_parts += [SHARED_PARTS[name] for name in new]
    return [*components, *(part for name, part in SHARED_PARTS.items() if name in needed)]


def hyperparameters_of(design: Design) -> Iterator[Hyperparameter]:
    """The hyperparameters of a design, each once, in the order in which its optimizer takes them."""
    found = {h.name: h for part in parts_of(list(design.components.values())) for h in part.hyperparameters}
    return iter(found.values())


def fit(hyperparameter: Hyperparameter, value: HyperparameterValue | None) -> int | float:
    """Bring a value to the hyperparameter's type, range and two significant digits; its default if it is no number."""
    if value is None or isinstance(value, bool | str):
        return hyperparameter.default
    bounded = min(max(value, hyperparameter.low), hyperparameter.high)
    return round(bounded) if isinstance(hyperparameter.default, int) else float(f"{bounded:.2g}")


def read_design(code: str) -> Design | None:
    """Read the design of an optimizer from its source.

    Args:
        code: Source, whoever wrote it.

    Returns:
        The design that its docstring states, with the defaults of its `__init__` as hyperparameters; None if it
        states none that this library knows.
    """
    try:
        read = CandidateCode.read(code)
    except CandidateCodeError:
        return None
    section = _SECTION.search(read.doc + "\n")
    if section is None:
        return None
    choices = dict(_ENTRY.findall(section[1]))
    if set(SLOTS) - set(choices) > {"schedule"}:
        return None
    if any(slot not in SLOTS or name not in SLOTS[slot] for slot, name in choices.items()):
        return None
    return complete(choices, read.defaults)
