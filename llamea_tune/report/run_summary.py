"""What a run of evolution came to, in numbers: read from its directory, nothing is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from llamea_tune.candidate import CandidateState, Scored
from llamea_tune.evolution.budgets import Spent
from llamea_tune.evolution.history import History
from llamea_tune.evolution.leaderboard import Leaderboard, read_leaderboard
from llamea_tune.evolution.lean import by_worth
from llamea_tune.evolution.ledger import Ledger
from llamea_tune.evolution.model_summary import ModelSummary, summarise_models
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.settings import Settings

_LONGEST_REASON = 160


@dataclass(frozen=True)
class OperatorSummary:
    """What came of the candidates that one operator asked for."""

    operator: str
    candidates: int
    scored: int
    best: float | None


@dataclass(frozen=True)
class FailureSummary:
    """Candidates that have no score for the same reason."""

    state: str
    reason: str
    candidates: int


@dataclass(frozen=True)
class LLMSummary:
    """What the language models were asked, and what it took.

    Attributes:
        answers: Answers that could be read.
        prompt_tokens: Tokens of their prompts.
        completion_tokens: Their tokens.
        seconds: How long they took together.
        cost: What was spent on all calls whose price is known; None without prices.
    """

    answers: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    cost: float | None


@dataclass(frozen=True)
class RunSummary:
    """A run.

    Attributes:
        path: Its directory.
        header: What `run.json` holds: date, settings, spaces, versions.
        candidates: Every candidate, oldest first, with the fitness that it was first given.
        latest: The same with the fitness on fresh seeds, where there is one.
        best: The winner on the leaderboard, else who is ahead in the search; None if nothing was scored.
        leaderboard: The outcome; None if the run has not come that far.
        operators: By operator, in order of first use.
        models: By language model, where a bandit chose among those of a mix.
        failures: By state and reason, most frequent first.
        llm: None if no language model was asked.
        spent: What was spent, in the terms of the run's budgets.
    """

    path: str
    header: Mapping[str, Any]
    candidates: Sequence[Scored]
    latest: Sequence[Scored]
    best: Scored | None
    leaderboard: Leaderboard | None
    operators: Sequence[OperatorSummary]
    models: Sequence[ModelSummary]
    failures: Sequence[FailureSummary]
    llm: LLMSummary | None
    spent: Spent

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data, without the code of the candidates."""
        return {
            "run": self.path,
            "created": self.header.get("created"),
            "settings": self.header.get("settings"),
            "spaces": self.header.get("spaces"),
            "candidates": len(self.candidates),
            "scored": sum(entry.evaluation.fitness is not None for entry in self.latest),
            "best": None if self.best is None else _best_json(self.best),
            "leaderboard": None if self.leaderboard is None else self.leaderboard.to_json(timings=True),
            "operators": [asdict(operator) for operator in self.operators],
            "models": [asdict(model) for model in self.models],
            "failures": [asdict(failure) for failure in self.failures],
            "llm": None if self.llm is None else asdict(self.llm),
            "spent": self.spent.to_json(),
        }


def summarise_run(run: RunDirectory) -> RunSummary:
    """Read a run, finished or not.

    Raises:
        RunDirectoryError: The directory is corrupt.
    """
    judged = run.candidates()
    history = History(judged, run.confirmations())
    board = read_leaderboard(run)
    settings = Settings.from_json(run.header()["settings"])
    spent = Ledger(run, settings.budgets).spent()
    latest = history.all()
    return RunSummary(
        path=str(run.path),
        header=run.header(),
        candidates=History(judged).all(),
        latest=latest,
        best=_best(history, board, settings),
        leaderboard=board,
        operators=_operators(latest),
        models=summarise_models(settings, latest),
        failures=_failures(latest),
        llm=_llm([record for record in run.exchanges.records() if record.get("text")], spent.cost),
        spent=spent,
    )


def _best(history: History, board: Leaderboard | None, settings: Settings) -> Scored | None:
    winner = board.winner if board is not None else None
    ranked = by_worth(history.scored(), settings.own_compute_ms)
    if winner is not None:
        return next((entry for entry in history.all() if entry.candidate.id == winner.candidate), None)
    return ranked[0] if ranked else None


def _best_json(best: Scored) -> dict[str, Any]:
    return {
        "candidate": best.candidate.id,
        "class_name": best.candidate.class_name,
        "description": best.candidate.description,
        "fitness": best.evaluation.fitness,
        "interval": best.evaluation.interval,
    }


def _operators(candidates: Sequence[Scored]) -> list[OperatorSummary]:
    found = []
    for operator in dict.fromkeys(entry.candidate.operator for entry in candidates):
        own = [entry.evaluation for entry in candidates if entry.candidate.operator == operator]
        fitness = [evaluation.fitness for evaluation in own if evaluation.fitness is not None]
        found.append(OperatorSummary(operator, len(own), len(fitness), max(fitness, default=None)))
    return found


def _failures(candidates: Sequence[Scored]) -> list[FailureSummary]:
    reasons = Counter(
        (entry.evaluation.state.value, _first_line(entry.evaluation.reason))
        for entry in candidates
        if entry.evaluation.state is not CandidateState.SCORED
    )
    return [FailureSummary(state, reason, count) for (state, reason), count in reasons.most_common()]


def _first_line(reason: str) -> str:
    line = next((line.strip() for line in reason.splitlines() if line.strip()), "")
    return line if len(line) <= _LONGEST_REASON else line[:_LONGEST_REASON] + "…"


def _llm(answers: Sequence[Mapping[str, Any]], cost: float | None) -> LLMSummary | None:
    if not answers:
        return None

    def total(name: str) -> float:
        return sum(answer.get(name) or 0 for answer in answers)

    return LLMSummary(
        len(answers), int(total("prompt_tokens")), int(total("completion_tokens")), total("seconds"), cost
    )
