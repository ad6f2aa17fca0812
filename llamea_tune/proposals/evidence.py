"""What a prompt shows of how a candidate's runs went: small tables beside named strategies, and where the score is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from llamea_tune.candidate import Behaviour
from llamea_tune.proposals.briefing import Briefing

_PHASES = {"early": (0, 3), "halfway": (3, 7), "late": (7, 10)}


class Loss(NamedTuple):
    """A part of the scored time on a space, and what the fitness lacks to 1 because of it."""

    space: str
    phase: str
    fitness: float
    score: float


def losses(behaviour: Mapping[str, Behaviour]) -> list[Loss]:
    """Where the fitness is lost, the greatest losses first; together they are what it lacks to 1."""
    found = []
    for space, of in behaviour.items():
        for phase, (first, end) in _PHASES.items():
            part = of.tenths[first:end]
            lost = sum(1.0 - score for score in part) / len(of.tenths) / len(behaviour)
            found.append(Loss(space, phase, lost, sum(part) / len(part)))
    return sorted(found, key=lambda loss: (-loss.fitness, loss.space, loss.phase))


def tables(behaviour: Mapping[str, Behaviour], briefing: Briefing) -> str:
    """All that is shown of the behaviour: scores over time, requests, and the greatest losses."""
    return "\n\n".join(
        (_over_time(behaviour, briefing), _requests(behaviour, briefing), _greatest(behaviour, briefing))
    )


def _over_time(behaviour: Mapping[str, Behaviour], briefing: Briefing) -> str:
    tenths = range(1, 1 + len(next(iter(behaviour.values())).tenths))
    rows = []
    for space, of in behaviour.items():
        rows.append([briefing.called(space), "this program", *_scores(of)])
        rows += [["", label, *_scores(on[space])] for label, on in briefing.references.items() if space in on]
    heading = "Score in each tenth of the scored time (0 is random search, 1 the optimum known from the start):"
    return f"{heading}\n\n{table(['space', 'who', *map(str, tenths), 'mean'], rows)}"


def _scores(of: Behaviour) -> list[str]:
    return [f"{score:.2f}" for score in (*of.tenths, sum(of.tenths) / len(of.tenths))]


def _requests(behaviour: Mapping[str, Behaviour], briefing: Briefing) -> str:
    head = [
        *("space", "measured", "failed", "asked again", "invalid", "at most one parameter from the best so far"),
        *("parameters from the best", "parameters changed from one to the next", "last improvement", "own compute"),
    ]
    rows = [
        [
            briefing.called(space),
            *(f"{number:.1f}" for number in (of.measured, of.failed, of.repeated, of.invalid)),
            _share(of.near),
            *("-" if mean is None else f"{mean:.1f}" for mean in (of.distance, of.travelled)),
            f"at {_share(of.last_improvement)} of the scored time",
            "-" if of.own_compute_ms is None else f"{of.own_compute_ms:.2g} ms",
        ]
        for space, of in behaviour.items()
    ]
    return f"Its requests in a run, on average:\n\n{table(head, rows)}"


def _share(share: float | None) -> str:
    return "-" if share is None else f"{100.0 * share:.0f} %"


def _greatest(behaviour: Mapping[str, Behaviour], briefing: Briefing) -> str:
    by_space: dict[str, float] = {}
    for loss in losses(behaviour):
        by_space[loss.space] = by_space.get(loss.space, 0.0) + loss.fitness
    ordered = sorted(by_space.items(), key=lambda item: (-item[1], item[0]))
    texts = (f"{briefing.called(space)} {lost:.3f}" for space, lost in ordered)
    return f"What the fitness lacks to 1, by space: {', '.join(texts)}."


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
