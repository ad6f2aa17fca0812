"""The library of search operators, one family per file; `SLOTS` is its front door."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from llamea_tune.proposals.offline.component import Component
from llamea_tune.proposals.offline.operators.acceptance import ACCEPTANCE_RULES, SCHEDULED
from llamea_tune.proposals.offline.operators.initial import INITIAL_DESIGNS
from llamea_tune.proposals.offline.operators.memory import MEMORIES
from llamea_tune.proposals.offline.operators.neighbourhood import NEIGHBOURHOODS
from llamea_tune.proposals.offline.operators.recombination import RECOMBINATIONS
from llamea_tune.proposals.offline.operators.restart import RESTARTS
from llamea_tune.proposals.offline.operators.schedule import SCHEDULES
from llamea_tune.proposals.offline.operators.scope import SCOPES
from llamea_tune.proposals.offline.operators.screening import SCREENINGS
from llamea_tune.proposals.offline.operators.step import STEPS

__all__ = ["SLOTS", "SCHEDULED_RULES"]

SLOTS: Mapping[str, Mapping[str, Component]] = MappingProxyType(
    {
        slot: MappingProxyType({component.name: component for component in components})
        for slot, components in (
            ("initial", INITIAL_DESIGNS),
            ("screening", SCREENINGS),
            ("acceptance", ACCEPTANCE_RULES),
            ("schedule", SCHEDULES),
            ("memory", MEMORIES),
            ("neighbourhood", NEIGHBOURHOODS),
            ("scope", SCOPES),
            ("step", STEPS),
            ("recombination", RECOMBINATIONS),
            ("restart", RESTARTS),
        )
    }
)
"""What a design chooses: the components of each slot by name, slots in the order in which they name the class."""

SCHEDULED_RULES = frozenset(rule.name for rule in SCHEDULED)
"""Acceptance rules that use a schedule; a design with any other has none."""
