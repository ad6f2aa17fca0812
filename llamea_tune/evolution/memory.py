"""The memory of a run: every candidate as an attempt, with what it changed and what it gained."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import unified_diff
from typing import NamedTuple

from llamea_tune.candidate import Candidate, Evaluation, Scored
from llamea_tune.evolution.history import History
from llamea_tune.own_compute import discount
from llamea_tune.proposals.briefing import Attempt
from llamea_tune.scoring import SpaceScale
from llamea_tune.scoring.behaviour import paired_gain

_MOST_NAMES = 6
_MOST_LINES = 6
_LONGEST_LINE = 100
_OTHER_PROGRAM = 0.5  # share of a parent's lines, from which on a child that lacks them is another program
_HEADING = re.compile(r"\s*(?:def|class)\s+(?P<name>\w+)")


class Memory:
    """Remembers attempts as well: what is told of a candidate is worked out again only if something about it is new."""

    def __init__(self, scales: Sequence[SpaceScale], aim_ms: float | None = None) -> None:
        """Remember nothing yet.

        Args:
            scales: Scale of each training space.
            aim_ms: Own compute that the run aims at, in milliseconds; None where it does not count.
        """
        self._scales = scales
        self._aim_ms = aim_ms
        self._known: dict[str, tuple[_Source, Attempt]] = {}

    def attempts(self, history: History) -> tuple[Attempt, ...]:
        """All candidates of a history as attempts, oldest first."""
        return tuple(self._attempt(_source(entry, history)) for entry in history.all())

    def _attempt(self, source: _Source) -> Attempt:
        key = source.entry.candidate.id
        known = self._known.get(key)
        if known is None or known[0] != source:
            self._known[key] = known = (source, _attempt(source, self._scales, self._aim_ms))
        return known[1]


class _Source(NamedTuple):
    """What an attempt is told from.

    Attributes:
        entry: The candidate with its latest evaluation.
        parent: Its first parent.
        first: The first evaluations of both, which were on the same seeds.
    """

    entry: Scored
    parent: Candidate | None
    first: tuple[Evaluation, ...]


def _source(entry: Scored, history: History) -> _Source:
    known = [key for key in entry.candidate.parents[:1] if key in history]
    parent = history[known[0]].candidate if known else None
    return _Source(entry, parent, tuple(map(history.first_evaluation, (entry.candidate.id, *known))))


def _attempt(source: _Source, scales: Sequence[SpaceScale], aim_ms: float | None) -> Attempt:
    entry, parent, first = source
    candidate, evaluation = entry.candidate, entry.evaluation
    gain = None if parent is None else paired_gain(scales, *(of.behaviour for of in first))
    taken_off = [discount(of.own_compute_ms, aim_ms) for of in first]
    removed, added = _lines(parent, candidate) if parent is not None and candidate.code else ((), ())
    return Attempt(
        id=candidate.id,
        class_name=candidate.class_name,
        operator=candidate.operator,
        parents=candidate.parents,
        description=candidate.description,
        direction=candidate.direction,
        state=evaluation.state,
        reason=evaluation.reason,
        fitness=evaluation.fitness,
        gain=gain[0] if gain else None,
        gain_interval=gain[1] if gain else None,
        own_compute_ms=None if aim_ms is None else evaluation.own_compute_ms,
        lighter=taken_off[-1] - taken_off[0],
        changed=_changed(candidate, removed, added),
        removed=_telling(removed, added),
        added=_telling(added, removed),
    )


def _lines(parent: Candidate, child: Candidate) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines that a child did away with, and those that it brought; none of either where it is another program."""
    before, after = (of.with_tuned_defaults().code.splitlines() for of in (parent, child))
    changes = list(unified_diff(before, after, lineterm="", n=0))[2:]
    removed, added = (tuple(line[1:] for line in changes if line[0] == mark) for mark in "-+")
    return (removed, added) if len(removed) < _OTHER_PROGRAM * len(before) else ((), ())


def _changed(candidate: Candidate, removed: Sequence[str], added: Sequence[str]) -> str:
    """Which functions and classes a change is in, as far as its lines tell, and how large it is."""
    if not removed and not added:
        return ""
    changed = {line.strip() for line in added}
    names: dict[str, None] = {}
    at = candidate.class_name
    for line in candidate.code.splitlines():
        if heading := _HEADING.match(line):
            at = heading["name"]
        if line.strip() in changed and line.strip():
            names[at] = None
    told = ", ".join(f"`{name}`" for name in list(names)[:_MOST_NAMES]) or "nothing but what it took out"
    more = " and more" if len(names) > _MOST_NAMES else ""
    return f"{told}{more} ({len(added)} lines new, {len(removed)} gone)"


def _telling(lines: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """The longest lines of code on one side of a change that are not on its other side too, in their order."""
    elsewhere = {line.strip() for line in others}
    kept = [line.strip() for line in lines]
    kept = [
        line for line in kept if line and not line.startswith(("#", '"', "import ", "from ")) and line not in elsewhere
    ]
    longest = sorted(range(len(kept)), key=lambda i: (-len(kept[i]), i))[:_MOST_LINES]
    return tuple(kept[i][:_LONGEST_LINE] for i in sorted(longest))
