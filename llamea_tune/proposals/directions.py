"""Directions: what each of the proposals that are asked for at the same time is to attend to, so that they differ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from llamea_tune.candidate import Behaviour, Evaluation, Scored
from llamea_tune.own_compute import discount
from llamea_tune.proposals.briefing import Briefing
from llamea_tune.proposals.evidence import Loss, losses

_WASTE = 0.05
_SMALL = 0.005
_MOST_LOSSES = 6


def directions(operator: str, parents: Sequence[Scored], briefing: Briefing) -> list[str]:
    """The directions that an operator may take from these parents, the most promising first; possibly none.

    Args:
        operator: Name of a mutation operator.
        parents: What it starts from.
        briefing: What prompts call the spaces.
    """
    if operator in ("initial", "diversify"):
        return [f"Take this as the main mechanism: {kind}" for kind in kinds()]
    if operator == "mutate":
        return _weaknesses(parents[0].evaluation, briefing)
    if operator == "crossover":
        return _strengths(parents, briefing)
    return list(_lines(f"{operator}_directions.md")) if operator == "simplify" else []


@cache
def kinds() -> tuple[str, ...]:
    """Kinds of algorithms to ask for."""
    return _lines("kinds.md")


def _lines(name: str) -> tuple[str, ...]:
    text = files("llamea_tune.proposals").joinpath("prompts", name).read_text(encoding="utf-8")
    return tuple(line.removeprefix("- ").strip() for line in text.splitlines() if line.startswith("- "))


def _weaknesses(evaluation: Evaluation, briefing: Briefing) -> list[str]:
    behaviour = evaluation.behaviour
    found = [
        (
            loss.fitness,
            f"Attend to {briefing.called(loss.space)}, {_when(loss)}: the score is {loss.score:.2f} there, which costs "
            f"{loss.fitness:.3f} of the fitness. Find what in the code causes that, and change it without loss elsewhere.",
        )
        for loss in losses(behaviour)[:_MOST_LOSSES]
        if loss.fitness > _SMALL
    ]
    found = sorted([*found, *_heaviness(evaluation, briefing)], key=lambda weakness: -weakness[0])
    return [text for _, text in found] + [
        text for space, of in behaviour.items() for text in _wastes(briefing.called(space), of)
    ]


def _heaviness(evaluation: Evaluation, briefing: Briefing) -> list[tuple[float, str]]:
    """Own compute above what the run aims at, and what it takes off the fitness."""
    own_ms, aim_ms = evaluation.own_compute_ms, briefing.own_compute_ms
    taken_off = discount(own_ms, aim_ms)
    if taken_off <= _SMALL:
        return []
    by_space = {space: of.own_compute_ms or 0.0 for space, of in evaluation.behaviour.items()}
    heaviest = max(by_space, key=lambda space: by_space[space], default=None)
    most = "" if heaviest is None else f", and {by_space[heaviest]:.2g} ms on {briefing.called(heaviest)}"
    text = (
        f"Attend to own compute: it takes {own_ms:.2g} ms for each measurement{most}, where {aim_ms:g} ms is aimed at, which "
        f"takes {taken_off:.3f} off. Find what in the code takes that time, and do less of it without loss of score."
    )
    return [(taken_off, text)]


def _when(loss: Loss) -> str:
    tenths = {"early": "tenths 1 to 3", "halfway": "tenths 4 to 7", "late": "tenths 8 to 10"}[loss.phase]
    return f"{loss.phase} ({tenths} of the scored time)"


def _wastes(space: str, of: Behaviour) -> list[str]:
    """Requests that teach nothing."""
    if of.repeated + of.invalid <= _WASTE * of.measured:
        return []
    return [
        f"Attend to requests that teach nothing: on {space} {of.repeated:.1f} ask for what is known and {of.invalid:.1f} "
        f"for what is invalid, beside {of.measured:.1f} measurements."
    ]


def _strengths(parents: Sequence[Scored], briefing: Briefing) -> list[str]:
    """Where the second parent is ahead of the first by the most."""
    first, second = (parent.evaluation.behaviour for parent in parents)
    mine = {(loss.space, loss.phase): loss for loss in losses(first)}
    ahead = [(mine[loss.space, loss.phase], loss) for loss in losses(second) if (loss.space, loss.phase) in mine]
    ahead = sorted(
        (pair for pair in ahead if pair[1].score > pair[0].score), key=lambda pair: pair[0].score - pair[1].score
    )
    return [
        f"Attend to {briefing.called(theirs.space)}, {_when(theirs)}, where parent 2 scores {theirs.score:.2f} and parent 1 "
        f"{ours.score:.2f}: find the mechanism that makes it so, and build the rest around it."
        for ours, theirs in ahead[:_MOST_LOSSES]
    ]
