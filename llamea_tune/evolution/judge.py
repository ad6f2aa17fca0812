"""Judge a proposal: check the code, refuse what was seen before, score the rest."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Failure, Scored
from llamea_tune.candidate_code import CandidateCode
from llamea_tune.evolution.history import duplicate_of, program_of
from llamea_tune.exceptions import CandidateCodeError
from llamea_tune.execution import SandboxedCandidate
from llamea_tune.proposals.proposal import NoveltyRule
from llamea_tune.runners.trace import RunState
from llamea_tune.scoring import Scorer
from llamea_tune.scoring.racing import Race
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
        return Evaluation(_STATES[card.failure], card.reason, failure=failure, runs=card.runs)
    per_space = card.spaces.values()
    paid = sum(entry.counts.paid for entry in per_space)
    runs = sum(entry.repeats for entry in per_space)
    return Evaluation(
        CandidateState.SCORED,
        fitness=card.mean,
        scores={name: entry.score for name, entry in card.spaces.items()},
        interval=card.interval,
        repeats=min(entry.repeats for entry in per_space),
        own_compute_ms=card.own_compute_ms,
        notes={
            "measured": round(paid / runs, 1),
            "repeated": round(sum(entry.counts.repeated for entry in per_space) / runs, 1),
            "invalid": round(sum(entry.counts.invalid for entry in per_space) / runs, 1),
        },
        runs=card.runs,
        raced_out=card.raced_out,
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
    """Judges candidates of one run, as they come."""

    def __init__(self, scorer: Scorer, seen: Mapping[str, Scored], *, first_come: bool = False) -> None:
        """Start from what was judged before.

        Args:
            scorer: Scores on the training spaces.
            seen: Judged candidates by id, in the order in which they were judged.
            first_come: Whether of two candidates with the same program the one that comes first counts; else the one
                with the smaller id does, so that the outcome does not depend on who came first.
        """
        self._scorer = scorer
        self._first_come = first_come
        self._seen: dict[str, Scored] = {}
        for key in seen if first_come else sorted(seen):
            self._seen.setdefault(program_of(seen[key].candidate.code), seen[key])
        for entry in seen.values():
            self.know(entry.candidate)

    def know(self, candidate: Candidate) -> None:
        """Remember what a candidate's program becomes with tuned values as seen."""
        code = candidate.with_tuned_defaults().code
        if code != candidate.code:
            self._seen.setdefault(program_of(code), Scored(candidate, Evaluation(CandidateState.SCORED)))

    def judge(
        self,
        candidate: Candidate,
        on_runs: OnRuns | None = None,
        *,
        novelty: NoveltyRule | None = None,
        race: Race | None = None,
    ) -> Scored:
        """Check and score a candidate; whatever is wrong with it becomes its state.

        Args:
            candidate: What was proposed.
            on_runs: Called with runs done and runs in all.
            novelty: Tells what is too much like what was judged before the candidate was planned.
            race: Whom it runs against.
        """
        program = program_of(candidate.code)
        other = self._seen.get(program)
        if other is not None and (self._first_come or other.candidate.id < candidate.id):
            return Scored(candidate, duplicate_of(other.candidate.id))
        if other is None:
            judged = self._judge(candidate, on_runs, novelty, race)
        else:  # the other one, which came first, becomes a duplicate of this one
            judged = Scored(candidate, replace(other.evaluation, runs=0))
        self._seen[program] = judged
        return judged

    def _judge(
        self, candidate: Candidate, on_runs: OnRuns | None, novelty: NoveltyRule | None, race: Race | None
    ) -> Scored:
        try:
            CandidateCode.read(candidate.code, candidate.class_name).checked()
        except CandidateCodeError as err:
            return Scored(candidate, with_line(Evaluation(CandidateState.REJECTED, str(err)), candidate.code))
        if novelty is not None and (reason := novelty.refuses(candidate.code)) is not None:
            return Scored(candidate, Evaluation(CandidateState.NOT_NOVEL, reason))
        card = self._scorer.score(contender(candidate), on_progress=on_runs, race=race)
        return Scored(candidate, with_line(evaluation_from_scorecard(card), candidate.code))

    def confirm(self, candidate: Candidate, repeats: int, on_runs: OnRuns | None = None) -> Evaluation:
        """Score a candidate again on fresh seeds."""
        card = self._scorer.score(contender(candidate), repeats=repeats, stage="confirm", on_progress=on_runs)
        return with_line(evaluation_from_scorecard(card), candidate.code)
