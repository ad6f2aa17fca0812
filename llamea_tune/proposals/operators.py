"""The mutation operators: in which ways candidates are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Operator:
    """One way to ask for a candidate.

    Attributes:
        name: Its name; its prompt is the file of that name in `prompts/`.
        n_parents: How many parents it starts from.
        temperature: Sampling temperature: high where ideas are wanted, low where care is.
        weight: How often it is chosen, relative to the others; 0 for those that have their own occasion.
        edits: Whether the answer may be edits of the one parent instead of a whole class.
    """

    name: str
    n_parents: int
    temperature: float
    weight: float
    edits: bool = False

    @property
    def prompt_file(self) -> str:
        """Name of its file in `prompts/`."""
        return f"{self.name}.md"


_ALL = (
    Operator("initial", n_parents=0, temperature=1.0, weight=0.0),
    Operator("mutate", n_parents=1, temperature=0.6, weight=0.4, edits=True),
    Operator("simplify", n_parents=1, temperature=0.3, weight=0.1, edits=True),
    Operator("diversify", n_parents=1, temperature=1.0, weight=0.05),
    Operator("crossover", n_parents=2, temperature=0.7, weight=0.2),
    Operator("repair", n_parents=1, temperature=0.2, weight=0.1, edits=True),
)

OPERATORS: Mapping[str, Operator] = MappingProxyType({operator.name: operator for operator in _ALL})
