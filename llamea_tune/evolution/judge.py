"""Judge a proposal: check the code, refuse what was seen before, score the rest."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Failure, Scored
from llamea_tune.candidate_code import CandidateCode, fingerprint
from llamea_tune.evolution.history import History
from llamea_tune.exceptions import CandidateCodeError
from llamea_tune.execution import SandboxedCandidate
from llamea_tune.runners.trace import RunState
from llamea_tune.scoring import Scorer
from llamea_tune.scoring.scorecard import Scorecard

_STATES: Mapping[RunState, CandidateState] = {
    RunState.FAILED: CandidateState.FAILED,
    RunState.TIMED_OUT: CandidateState.TIMED_OUT,
    RunState.KILLED: CandidateState.KILLED,
}

_LINE = re.compile(r"\bline (\d{1,6})\b")
_LONGEST_LINE = 160

OnRuns = Callable[[int, int], None]


def contender(candidate: Candidate) -> SandboxedCandidate:
    """A candidate as something to score."""
    label = f"{candidate.id} {candidate.class_name}"
    return SandboxedCandidate(candidate.code, candidate.class_name, candidate.hyperparameters, label)


def evaluation_from_scorecard(card: Scorecard) -> Evaluation:
    """Scores as the evaluation of a candidate."""
    if card.failure is not None:
        failure = Failure(card.failed_on, others=card.others)
        return Evaluation(_STATES[card.failure], card.reason, failure=failure)
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
        behaviour=card.behaviour,
    )


def with_line(evaluation: Evaluation, code: str) -> Evaluation:
    """An evaluation with the text of the line of code that its reason names last, where it names one that there is."""
    numbers = [int(number) for number in _LINE.findall(evaluation.reason)]
    lines = code.split("\n")
    if evaluation.state is CandidateState.SCORED or not numbers or not 1 <= numbers[-1] <= len(lines):
        return evaluation
    text = textwrap.shorten(lines[numbers[-1] - 1], _LONGEST_LINE, placeholder=" …")
    failure = replace(evaluation.failure or Failure(), line=f"{numbers[-1]}: {text}")
    return replace(evaluation, failure=failure)


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
        for code in {candidate.code, candidate.with_tuned_defaults().code} - {""}:
            self._seen.setdefault(fingerprint(code), candidate.id)

    def seen_in(self, history: History) -> frozenset[str]:
        """Fingerprints of the programs that were seen with the candidates of a history."""
        return frozenset(program for program, candidate_id in self._seen.items() if candidate_id in history)

    def judge(self, candidate: Candidate, on_runs: OnRuns | None = None) -> Scored:
        """Check and score a candidate; whatever is wrong with it becomes its state.

        Args:
            candidate: What was proposed.
            on_runs: Called with runs done and runs in all.
        """
        earlier = self._seen.setdefault(fingerprint(candidate.code), candidate.id)
        if earlier != candidate.id:
            reason = f"the same program as candidate {earlier}, up to comments and layout"
            return Scored(candidate, Evaluation(CandidateState.DUPLICATE, reason))
        try:
            CandidateCode.read(candidate.code, candidate.class_name).checked()
        except CandidateCodeError as err:
            return Scored(candidate, with_line(Evaluation(CandidateState.REJECTED, str(err)), candidate.code))
        card = self._scorer.score(contender(candidate), on_progress=on_runs)
        return Scored(candidate, with_line(evaluation_from_scorecard(card), candidate.code))

    def confirm(self, candidate: Candidate, repeats: int, on_runs: OnRuns | None = None) -> Evaluation:
        """Score a candidate again on fresh seeds."""
        card = self._scorer.score(contender(candidate), repeats=repeats, stage="confirm", on_progress=on_runs)
        return with_line(evaluation_from_scorecard(card), candidate.code)
