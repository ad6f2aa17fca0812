"""The steps of a search: what is done with an answer, and with those who survive, in generations as in a steady state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Scored
from llamea_tune.evolution.asking import Asking, Came
from llamea_tune.evolution.briefing import Asked, Briefer
from llamea_tune.evolution.events import CandidateConfirmed, CandidateJudged, Observer, RunsDone
from llamea_tune.evolution.history import History
from llamea_tune.evolution.judge import Judge, OnRuns
from llamea_tune.evolution.ledger import Ledger
from llamea_tune.evolution.plan import PlannedCandidate, Planner
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.selection import Selection
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.tuning import tune_survivors
from llamea_tune.hpo.in_loop import LoopTuner
from llamea_tune.proposals.proposal import Proposal, ProposalError
from llamea_tune.scoring import SpaceScale
from llamea_tune.scoring.behaviour import kept_run_scores
from llamea_tune.scoring.racing import Race


@dataclass(frozen=True)
class Search:
    """All that a search works with; every step is on disk before the next one.

    Attributes:
        run: The run directory.
        settings: The run's settings.
        history: What is known so far.
        selection: The selection scheme.
        planner: Plans candidates.
        briefer: Completes what is told to a proposer that reads.
        asking: Asks for them.
        judge: Judges them.
        ledger: Counts what is spent.
        observe: Told of the progress.
        proposer: Name of who proposes.
        scales: Scale of each training space.
        tuner: Tunes survivors, if they are to be tuned.
    """

    run: RunDirectory
    settings: Settings
    history: History
    selection: Selection
    planner: Planner
    briefer: Briefer | None
    asking: Asking
    judge: Judge
    ledger: Ledger
    observe: Observer
    proposer: str
    scales: Sequence[SpaceScale]
    tuner: LoopTuner | None

    def plan(self, numbers: Sequence[int], history: History, waiting: Sequence[Asked] = ()) -> list[PlannedCandidate]:
        """Plan candidates from what a history and those that wait for an answer tell, and nothing else.

        Args:
            numbers: Their numbers in the run.
            history: What is known.
            waiting: What others are asked for that are not judged in that history.
        """
        planned = self.planner.plan(numbers, history)
        return planned if self.briefer is None else self.briefer.complete(planned, history, waiting)

    def take(self, came: Came, race: Race | None) -> None:
        """Judge what came.

        Raises:
            BudgetUsedUp: A budget does not allow for that.
        """
        entry, outcome = came
        self.ledger.check(self.settings.repeats * len(self.scales))
        scored = self._judged(entry, outcome, race)
        self.run.record_candidate(scored)
        self._spend(scored.evaluation.runs)
        self.history.add(scored)
        judged = CandidateJudged(scored, len(self.history), self.settings.max_candidates, self.ledger.spent())
        self.observe(judged)

    def confirm_survivors(self) -> None:
        """Score again, on fresh seeds, whoever would be kept: a lucky score must not found a dynasty.

        A confirmation can cost a candidate its place; whoever takes it is confirmed as well, until all who stay are.

        Raises:
            BudgetUsedUp: A budget does not allow for that.
        """
        while scored := self.history.scored():
            survivors = self.selection.survivors(scored, self.settings.parents)
            lucky = next(
                (entry.candidate for entry in survivors if not self.history.is_confirmed(entry.candidate)), None
            )
            if lucky is None:
                return
            self.ledger.check(self.settings.confirm_repeats * len(self.scales))
            evaluation = self.judge.confirm(lucky, self.settings.confirm_repeats, self._announce(lucky))
            self.run.record_confirmation(lucky, evaluation)
            self._spend(evaluation.runs)
            self.history.confirm(lucky, evaluation)
            self.observe(CandidateConfirmed(Scored(lucky, evaluation)))

    def tune_survivors(self, generation: int) -> None:
        """Tune the survivors' hyperparameters, where they are to be tuned.

        Raises:
            BudgetUsedUp: A budget does not allow for that.
        """
        if self.tuner is not None and self.history.scored():
            tune_survivors(
                self.run,
                self.settings,
                self.history,
                self.selection,
                self.judge,
                self.tuner,
                self.ledger,
                generation,
                self.observe,
            )

    def race(self, history: History) -> Race | None:
        """The race against the weakest whom a history keeps, where candidates are to be raced.

        Whoever is clearly behind the weakest survivor, run for run on the same spaces and seeds, would not survive.
        """
        scored = history.scored()
        if not self.settings.racing or not scored:
            return None
        survivors = self.selection.survivors(scored, self.settings.parents)
        weakest = history.first_evaluation(survivors[-1].candidate.id)
        scores = kept_run_scores(self.scales, weakest.behaviour)
        if len(survivors) < self.settings.parents or not scores:
            return None
        return Race(scores, own_compute_ms=weakest.own_compute_ms, aim_ms=self.settings.own_compute_ms)

    def _spend(self, runs: int) -> None:
        self.ledger.add_runs(runs)
        self.ledger.keep_time()

    def _judged(self, entry: PlannedCandidate, outcome: Proposal | ProposalError, race: Race | None) -> Scored:
        if isinstance(outcome, ProposalError):
            nothing = self._candidate(entry, Proposal("", "", "", self.proposer))
            return Scored(nothing, Evaluation(CandidateState.NO_PROPOSAL, str(outcome)))
        candidate = self._candidate(entry, outcome)
        return self.judge.judge(candidate, self._announce(candidate), novelty=entry.task.novelty, race=race)

    def _candidate(self, entry: PlannedCandidate, proposal: Proposal) -> Candidate:
        return Candidate(
            id=entry.id,
            class_name=proposal.class_name,
            code=proposal.code,
            description=proposal.description,
            proposer=proposal.proposer or self.proposer,
            operator=entry.task.operator,
            generation=entry.generation,
            parents=tuple(parent.candidate.id for parent in entry.task.parents),
            ranges=proposal.ranges,
            refused_ranges=proposal.refused_ranges,
            direction=entry.task.briefing.direction,
            llm=entry.task.llm,
        )

    def _announce(self, candidate: Candidate) -> OnRuns:
        def on_runs(done: int, total: int) -> None:
            self.observe(RunsDone(f"{candidate.id} {candidate.class_name}", done, total))

        return on_runs
