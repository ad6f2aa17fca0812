"""The outcome of a benchmark by contender: scores, failures, and comparisons with the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llamea_tune.runners.trace import RunResult
from llamea_tune.scoring.aggregate import mean_places, scorecard
from llamea_tune.scoring.compare import Comparison, compare, holm
from llamea_tune.scoring.score import SpaceScale
from llamea_tune.scoring.scorecard import Scorecard


@dataclass(frozen=True)
class BenchmarkRow:
    """The outcome of one contender.

    Attributes:
        card: Its scores; without a mean if it failed on any space, but with those of the other spaces.
        failures: Why it failed, by the name of the space.
        mean_place: Its mean place over the spaces; None if it failed.
        to_best: Compared with the best contender, p-value corrected for all comparisons with it; None for the best one
            itself and for those that failed.
    """

    card: Scorecard
    failures: Mapping[str, str]
    mean_place: float | None
    to_best: Comparison | None

    @property
    def label(self) -> str:
        """The contender's label."""
        return self.card.label


def benchmark_rows(
    scales: Sequence[SpaceScale], runs: Mapping[str, Mapping[str, Sequence[RunResult]]], seed: int
) -> tuple[BenchmarkRow, ...]:
    """Score and compare: the outcome of each contender, best first.

    Args:
        scales: Scale of each space.
        runs: Runs by contender and space; if a run failed, it is the last one.
        seed: Seed of the bootstrap.
    """
    failures = {label: _failures(of_label) for label, of_label in runs.items()}
    cards = {
        label: _card(label, [scale for scale in scales if scale.space not in failures[label]], of_label, seed)
        for label, of_label in runs.items()
    }
    cards = {
        label: replace(card, mean=None, interval=None) if failures[label] else card for label, card in cards.items()
    }
    ranked = sorted(cards.values(), key=lambda card: (card.mean is None, -(card.mean or 0.0), card.label))
    places = mean_places(ranked)
    scored = [card for card in ranked if card.mean is not None]
    to_best = _compare_with(scored[0], scored[1:], scales, runs, seed) if scored else {}
    return tuple(
        BenchmarkRow(card, failures[card.label], places.get(card.label), to_best.get(card.label)) for card in ranked
    )


def _compare_with(
    best: Scorecard,
    others: Sequence[Scorecard],
    scales: Sequence[SpaceScale],
    runs: Mapping[str, Mapping[str, Sequence[RunResult]]],
    seed: int,
) -> dict[str, Comparison]:
    """Comparisons with the best by label; differences are those of the scores as reported, not the test's coarser ones."""
    pairs = [
        compare(scales, (card.label, runs[card.label]), (best.label, runs[best.label]), seed=seed) for card in others
    ]
    return {
        card.label: replace(comparison, difference=(card.mean or 0.0) - (best.mean or 0.0))
        for card, comparison in zip(others, holm(pairs), strict=True)
    }


def _failures(runs: Mapping[str, Sequence[RunResult]]) -> dict[str, str]:
    bad = {space: next((run for run in made if not run.state.scorable), None) for space, made in runs.items()}
    return {space: run.reason or run.state.value for space, run in bad.items() if run is not None}


def _card(label: str, scales: Sequence[SpaceScale], runs: Mapping[str, Sequence[RunResult]], seed: int) -> Scorecard:
    if not scales:
        return Scorecard(label, None, None, {})
    return scorecard(label, scales, runs, seed=seed)
