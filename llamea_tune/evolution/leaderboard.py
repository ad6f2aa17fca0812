"""The leaderboard: the best candidates beside known strategies, all on fresh seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from llamea_tune.evolution.budgets import Spent
from llamea_tune.evolution.events import FinalStarted, Observer, RunsDone
from llamea_tune.evolution.history import History
from llamea_tune.evolution.judge import contender
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.selection import by_fitness
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.execution import Contender, make_contender
from llamea_tune.runners.trace import RunResult
from llamea_tune.scoring import Scorecard, Scorer, scorecard
from llamea_tune.scoring.ranks import thinned


@dataclass(frozen=True)
class Row:
    """One line of the leaderboard.

    Attributes:
        label: Candidate id and class, or the strategy's name.
        candidate: Id of the candidate; None for a named strategy.
        mean: Mean score over spaces; None where a run failed.
        interval: 95 % bootstrap interval of the mean.
        scores: Score by space.
        reason: Why there is no score.
    """

    label: str
    candidate: str | None
    mean: float | None
    interval: tuple[float, float] | None
    scores: Mapping[str, float]
    reason: str = ""


@dataclass(frozen=True)
class Leaderboard:
    """The outcome of a run.

    Attributes:
        rows: Best first.
        repeats: Runs per space behind each.
        n_candidates: Candidates that the run had judged by then.
        run: The run directory, where it is known.
        used_up: The budget that ended the search, by the name of its limit; None where it came to its end.
        spent: What the run has spent, where that is known.
    """

    rows: tuple[Row, ...]
    repeats: int
    n_candidates: int
    run: Path | None = field(default=None, compare=False)
    used_up: str | None = field(default=None, compare=False)
    spent: Spent | None = field(default=None, compare=False)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data. It holds no timings, so the same seed and replies give the same bytes."""
        return {"repeats": self.repeats, "candidates": self.n_candidates, "rows": [asdict(row) for row in self.rows]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Leaderboard:
        """Read back what `to_json` gave."""
        rows = (
            Row(**{**row, "interval": None if row["interval"] is None else tuple(row["interval"])})
            for row in data["rows"]
        )
        return cls(tuple(rows), data["repeats"], data["candidates"])

    @property
    def winner(self) -> Row | None:
        """The best candidate, or None where no candidate has a score."""
        return next((row for row in self.rows if row.candidate is not None and row.mean is not None), None)


def make_leaderboard(history: History, scorer: Scorer, settings: Settings, observe: Observer) -> Leaderboard:
    """Score the best candidates, and named strategies beside them, on seeds that none of them was selected on.

    Args:
        history: The run's candidates.
        scorer: Scores on the training spaces.
        settings: How many candidates, which named strategies, how many repeats.
        observe: Told of the progress.
    """
    final_candidates = by_fitness(history.scored())[: settings.final_candidates]
    entries: list[tuple[Contender, str | None]] = [
        (contender(entry.candidate), entry.candidate.id) for entry in final_candidates
    ]
    entries += [(make_contender(name), None) for name in settings.final_strategies]
    observe(FinalStarted(len(entries)))
    runs = [_runs(entry, scorer, settings.final_repeats, observe) for entry, _ in entries]
    scales = scorer.latest_scales()  # after all runs, which may have found a new optimum where they measure live
    cards = [
        scorecard(entry.label, scales, made, seed=scorer.seed) for (entry, _), made in zip(entries, runs, strict=True)
    ]
    rows = [_row(card, candidate) for card, (_, candidate) in zip(cards, entries, strict=True)]
    rows.sort(key=lambda row: (row.mean is None, -(row.mean or 0.0), row.label))
    return Leaderboard(tuple(rows), settings.final_repeats, len(history))


def read_leaderboard(run: RunDirectory) -> Leaderboard | None:
    """The leaderboard of a run; None if there is none, or if the run has gone on since.

    Raises:
        RunDirectoryError: It is corrupt.
    """
    if not run.has("leaderboard.json"):
        return None
    try:
        board = Leaderboard.from_json(run.read_json("leaderboard.json"))
    except (KeyError, TypeError, ValueError) as err:
        path = run.path / "leaderboard.json"
        raise RunDirectoryError(f"{path} holds no leaderboard; remove it, and resume the run to make it anew.") from err
    return board if board.n_candidates == len(run.candidates()) else None


def _runs(entry: Contender, scorer: Scorer, repeats: int, observe: Observer) -> dict[str, list[RunResult]]:
    def on_runs(done: int, total: int) -> None:
        observe(RunsDone(entry.label, done, total))

    made = scorer.run(entry, repeats=repeats, stage="final", on_progress=on_runs)
    tables = {scale.space: scale.table for scale in scorer.scales}
    return {name: [thinned(run, tables[name]) for run in runs] for name, runs in made.items()}


def _row(card: Scorecard, candidate: str | None) -> Row:
    scores = {name: space.score for name, space in card.spaces.items()}
    return Row(card.label, candidate, card.mean, card.interval, scores, card.reason)
