"""From a run to an export request: what the record of a strategy tells of where it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from llamea_tune.candidate import CandidateState, Evaluation, Scored
from llamea_tune.evolution.history import History
from llamea_tune.evolution.leaderboard import Leaderboard, Row, read_leaderboard
from llamea_tune.evolution.lean import by_worth
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings
from llamea_tune.exceptions import ExportError
from llamea_tune.exporting import ExportRequest, RecordedScore, SpaceReference
from llamea_tune.proposals.prompt import system_prompt


def prompts_hash() -> str:
    """SHA-256 of all prompt files, by name and content, and of the system prompt that is made of them."""
    digest = hashlib.sha256(system_prompt().encode())
    for entry in sorted(files("llamea_tune.proposals").joinpath("prompts").iterdir(), key=lambda entry: entry.name):
        digest.update(entry.name.encode() + b"\0" + entry.read_bytes() + b"\0")
    return digest.hexdigest()


def export_request(
    run: RunDirectory, name: str, *, date: str, candidate_id: str | None = None, note: str = ""
) -> ExportRequest:
    """Collect what the record of an exported candidate says.

    Args:
        run: The run it comes from.
        name: Name of the strategy to be.
        date: Date of the export, ISO 8601.
        candidate_id: The candidate; by default the best on the leaderboard, or the fittest where there is none yet.
        note: Anything else worth knowing.

    Raises:
        ExportError: There is no such candidate, or it has no score.
    """
    header = run.header()
    settings = Settings.from_json(header["settings"])
    history = History(run.candidates(), run.confirmations())
    board = read_leaderboard(run)
    chosen = _choose(by_worth(history.scored(), settings.own_compute_ms), history, board, candidate_id, run)
    row = next((row for row in board.rows if row.candidate == chosen.candidate.id), None) if board else None
    mean, scores = _scores(row, board, chosen.evaluation)
    return ExportRequest(
        name=name,
        candidate=chosen.candidate,
        date=date,
        hyperparameters=chosen.candidate.hyperparameters,
        training=tuple(SpaceReference(space["name"], space["content_hash"]) for space in header["spaces"]),
        scores=scores,
        training_score=mean,
        seeds={"run": settings.seed},
        prompts_hash=header.get("prompts_hash"),
        versions=header["versions"],
        run=run.path.resolve().name,
        note=" ".join(part for part in (note, _known_beforehand(settings)) if part),
    )


def _known_beforehand(settings: Settings) -> str:
    names = ", ".join(Path(prior).name for prior in settings.prior)
    return f"Trained knowing beforehand: {names}." if names else ""


def _choose(
    best: Sequence[Scored], history: History, board: Leaderboard | None, candidate_id: str | None, run: RunDirectory
) -> Scored:
    if candidate_id is None:
        if board and board.winner:
            candidate_id = board.winner.candidate
        else:
            if not best:
                raise ExportError(f"{run.path} has no candidate with a score; resume it first.")
            return best[0]
    for entry in history.all():
        if entry.candidate.id == candidate_id:
            if entry.evaluation.state is not CandidateState.SCORED:
                state, reason = entry.evaluation.state, entry.evaluation.reason
                raise ExportError(f"candidate {candidate_id} of {run.path} has no score: {state}, {reason}.")
            return entry
    raise ExportError(f"{run.path} has no candidate {candidate_id}; its candidates.jsonl lists those there are.")


def _scores(
    row: Row | None, board: Leaderboard | None, evaluation: Evaluation
) -> tuple[RecordedScore | None, Mapping[str, RecordedScore]]:
    """The scores on the leaderboard's fresh seeds where the candidate is on it, else those that selection saw."""
    if row is not None and board is not None and row.mean is not None:
        mean = RecordedScore(row.mean, row.interval, board.repeats)
        return mean, {name: RecordedScore(score, None, board.repeats) for name, score in row.scores.items()}
    if evaluation.fitness is None:
        return None, {}
    mean = RecordedScore(evaluation.fitness, evaluation.interval, evaluation.repeats)
    return mean, {name: RecordedScore(score, None, evaluation.repeats) for name, score in evaluation.scores.items()}
