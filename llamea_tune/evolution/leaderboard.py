"""The leaderboard: the best candidates beside known strategies, all on fresh seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from llamea_tune.evolution.budgets import Spent
from llamea_tune.evolution.events import FinalStarted, Observer, RunsDone
from llamea_tune.evolution.history import History
from llamea_tune.evolution.judge import contender
from llamea_tune.evolution.lean import by_worth
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.execution import Contender, make_contender
from llamea_tune.own_compute import discount
from llamea_tune.runners.trace import RunResult
from llamea_tune.scoring import Scorecard, Scorer, scorecard
from llamea_tune.scoring.pareto import pareto_front
from llamea_tune.scoring.ranks import thinned

OWN_COMPUTE = "own_compute.json"
"""Own compute of who is on the leaderboard, which no two runs agree on: so it has a file of its own."""


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
        own_compute_ms: Own compute per measurement, in milliseconds; None where that is not known.
    """

    label: str
    candidate: str | None
    mean: float | None
    interval: tuple[float, float] | None
    scores: Mapping[str, float]
    reason: str = ""
    own_compute_ms: float | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Leaderboard:
    """The outcome of a run.

    Attributes:
        rows: Best first; with an aim for own compute, by the score less what own compute takes off.
        repeats: Runs per space behind each.
        n_candidates: Candidates that the run had judged by then.
        run: The run directory, where it is known.
        used_up: The budget that ended the search, by the name of its limit; None where it came to its end.
        spent: What the run has spent, where that is known.
        aim_ms: What the run aims at for own compute, in milliseconds; None for nothing.
    """

    rows: tuple[Row, ...]
    repeats: int
    n_candidates: int
    run: Path | None = field(default=None, compare=False)
    used_up: str | None = field(default=None, compare=False)
    spent: Spent | None = field(default=None, compare=False)
    aim_ms: float | None = field(default=None, compare=False)

    def to_json(self, *, timings: bool = False) -> dict[str, Any]:
        """As plain JSON data.

        Args:
            timings: Whether to tell own compute, and who is on the front. Without it the same seed and replies give the same
                bytes, unless own compute decides on the order of the rows.
        """
        rows = [asdict(row) for row in self.rows]
        for row, on_front in zip(rows, self.on_front(), strict=True):
            own_compute_ms = row.pop("own_compute_ms")
            if timings:
                row |= {"own_compute_ms": own_compute_ms, "on_front": on_front}
        aim = {} if self.aim_ms is None else {"own_compute_aim_ms": self.aim_ms}
        return {"repeats": self.repeats, "candidates": self.n_candidates, **aim, "rows": rows}

    def own_compute(self) -> dict[str, float]:
        """Own compute in milliseconds by label, where it is known."""
        return {row.label: row.own_compute_ms for row in self.rows if row.own_compute_ms is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], own_compute: Mapping[str, float] = MappingProxyType({})) -> Leaderboard:
        """Read back what `to_json` gave without timings, and what `own_compute` gave."""
        rows = (
            Row(
                **{**row, "interval": None if row["interval"] is None else tuple(row["interval"])},
                own_compute_ms=own_compute.get(row["label"]),
            )
            for row in data["rows"]
        )
        return cls(tuple(rows), data["repeats"], data["candidates"], aim_ms=data.get("own_compute_aim_ms"))

    def on_front(self) -> tuple[bool, ...]:
        """Which rows are on the Pareto front of score against own compute, of those where both are known."""
        points = {
            number: (row.mean, row.own_compute_ms)
            for number, row in enumerate(self.rows)
            if row.mean is not None and row.own_compute_ms is not None
        }
        front = dict(zip(points, pareto_front(list(points.values())), strict=True))
        return tuple(front.get(number, False) for number in range(len(self.rows)))

    @property
    def winner(self) -> Row | None:
        """The best candidate, or None where no candidate has a score."""
        return next((row for row in self.rows if row.candidate is not None and row.mean is not None), None)


def make_leaderboard(
    history: History, scorer: Scorer, settings: Settings, observe: Observer, earlier: Leaderboard | None = None
) -> Leaderboard:
    """Score the best candidates, and named strategies beside them, on seeds that none of them was selected on.

    Args:
        history: The run's candidates.
        scorer: Scores on the training spaces.
        settings: How many candidates, which named strategies, how many repeats.
        observe: Told of the progress.
        earlier: The one that there is, if there is one. Own compute is taken from there where a row comes out the same, so
            that making it again changes nothing.
    """
    final_candidates = by_worth(history.scored(), settings.own_compute_ms)[: settings.final_candidates]
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
    if earlier is not None:
        rows = _with_own_compute_of(earlier, rows)
    aim_ms = settings.own_compute_ms
    rows.sort(key=lambda row: (row.mean is None, discount(row.own_compute_ms, aim_ms) - (row.mean or 0.0), row.label))
    return Leaderboard(tuple(rows), settings.final_repeats, len(history), aim_ms=aim_ms)


def _with_own_compute_of(earlier: Leaderboard, rows: Sequence[Row]) -> list[Row]:
    """Rows with the own compute that they had before, where they are the same otherwise."""
    before = {(row.label, row.mean): row.own_compute_ms for row in earlier.rows if row.own_compute_ms is not None}
    return [replace(row, own_compute_ms=before.get((row.label, row.mean), row.own_compute_ms)) for row in rows]


def leaderboard_before(run: RunDirectory) -> Leaderboard | None:
    """The leaderboard that is to be made again; None also where it is corrupt, as that mends it."""
    try:
        return read_leaderboard(run)
    except RunDirectoryError:
        return None


def read_leaderboard(run: RunDirectory) -> Leaderboard | None:
    """The leaderboard of a run; None if there is none, or if the run has gone on since.

    Raises:
        RunDirectoryError: It is corrupt.
    """
    if not run.has("leaderboard.json"):
        return None
    own_compute = _own_compute(run)
    try:
        board = Leaderboard.from_json(run.read_json("leaderboard.json"), own_compute)
    except (KeyError, TypeError, ValueError) as err:
        path = run.path / "leaderboard.json"
        raise RunDirectoryError(f"{path} holds no leaderboard; remove it, and resume the run to make it anew.") from err
    return board if board.n_candidates == len(run.candidates()) else None


def _own_compute(run: RunDirectory) -> dict[str, float]:
    """Own compute by label; nothing where an earlier version did not keep it."""
    if not run.has(OWN_COMPUTE):
        return {}
    try:
        return {label: float(own_ms) for label, own_ms in run.read_json(OWN_COMPUTE).items()}
    except (AttributeError, TypeError, ValueError) as err:
        path = run.path / OWN_COMPUTE
        raise RunDirectoryError(f"{path} holds no own compute by label; remove it, and none is shown.") from err


def _runs(entry: Contender, scorer: Scorer, repeats: int, observe: Observer) -> dict[str, list[RunResult]]:
    def on_runs(done: int, total: int) -> None:
        observe(RunsDone(entry.label, done, total))

    made = scorer.run(entry, repeats=repeats, stage="final", on_progress=on_runs)
    tables = {scale.space: scale.table for scale in scorer.scales}
    return {name: [thinned(run, tables[name]) for run in runs] for name, runs in made.items()}


def _row(card: Scorecard, candidate: str | None) -> Row:
    scores = {name: space.score for name, space in card.spaces.items()}
    return Row(card.label, candidate, card.mean, card.interval, scores, card.reason, card.own_compute_ms)
