"""Judge a proposal: check the code, refuse what was seen before, score the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Scored
from llamea_tune.execution import Program
from llamea_tune.export.tuned_code import with_tuned_defaults
from llamea_tune.proposals.program import fingerprint
from llamea_tune.proposals.proposal import ProposalError
from llamea_tune.runners.trace import RunState
from llamea_tune.sandbox.static_check import RejectedCode, check
from llamea_tune.scoring import Scorer
from llamea_tune.scoring.scorecard import Scorecard

_STATES: Mapping[RunState, CandidateState] = {
    RunState.FAILED: CandidateState.FAILED,
    RunState.TIMED_OUT: CandidateState.TIMED_OUT,
    RunState.KILLED: CandidateState.KILLED,
}

OnRuns = Callable[[int, int], None]


def contender(candidate: Candidate) -> Program:
    """A candidate as something to score."""
    label = f"{candidate.id} {candidate.class_name}"
    return Program(candidate.code, candidate.class_name, candidate.hyperparameters, label)


def evaluation_from_scorecard(card: Scorecard) -> Evaluation:
    """Scores as the evaluation of a candidate."""
    if card.failure is not None:
        return Evaluation(_STATES[card.failure], card.reason)
    per_space = card.spaces.values()
    paid = sum(entry.counts.paid for entry in per_space)
    runs = sum(entry.repeats for entry in per_space)
    return Evaluation(
        CandidateState.SCORED,
        fitness=card.mean,
        scores={name: entry.score for name, entry in card.spaces.items()},
        interval=card.interval,
        repeats=min(entry.repeats for entry in per_space),
        own_compute_ms=sum(entry.own_compute_ms * entry.counts.paid for entry in per_space) / max(paid, 1),
        notes={
            "measured": round(paid / runs, 1),
            "repeated": round(sum(entry.counts.repeated for entry in per_space) / runs, 1),
            "invalid": round(sum(entry.counts.invalid for entry in per_space) / runs, 1),
        },
    )


def same_program(code: str) -> str:
    """What two programs share that differ in comments and layout only; the code itself where it does not parse."""
    try:
        return fingerprint(code)
    except ProposalError:
        return code


class Judge:
    """Judges candidates of one run, in order."""

    def __init__(self, scorer: Scorer, seen: Mapping[str, Scored]) -> None:
        """Start from what was judged before.

        Args:
            scorer: Scores on the training spaces.
            seen: Judged candidates by id.
        """
        self._scorer = scorer
        self._seen: dict[str, str] = {}
        for entry in seen.values():
            self.know(entry.candidate)

    def know(self, candidate: Candidate) -> None:
        """Remember a candidate's program, and what it becomes with tuned values, as seen."""
        for code in {candidate.code, with_tuned_defaults(candidate).code} - {""}:
            self._seen.setdefault(same_program(code), candidate.id)

    def judge(self, candidate: Candidate, on_runs: OnRuns | None = None) -> Scored:
        """Check and score a candidate; whatever is wrong with it becomes its state.

        Args:
            candidate: What was proposed.
            on_runs: Called with runs done and runs in all.
        """
        fingerprint = same_program(candidate.code)
        earlier = self._seen.setdefault(fingerprint, candidate.id)
        if earlier != candidate.id:
            reason = f"the same program as candidate {earlier}, up to comments and layout"
            return Scored(candidate, Evaluation(CandidateState.DUPLICATE, reason))
        try:
            check(candidate.code)
        except RejectedCode as err:
            return Scored(candidate, Evaluation(CandidateState.REJECTED, str(err)))
        card = self._scorer.score(contender(candidate), on_progress=on_runs)
        return Scored(candidate, evaluation_from_scorecard(card))

    def confirm(self, candidate: Candidate, repeats: int, on_runs: OnRuns | None = None) -> Evaluation:
        """Score a candidate again on fresh seeds."""
        card = self._scorer.score(contender(candidate), repeats=repeats, stage="confirm", on_progress=on_runs)
        return evaluation_from_scorecard(card)
