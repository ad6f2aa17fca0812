"""The evolution loop: plan, propose, judge, select; log everything on the way."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from llamea_tune.candidate import Candidate, CandidateState, Evaluation, Scored
from llamea_tune.evolution.asking import Asking
from llamea_tune.evolution.briefing import Briefer
from llamea_tune.evolution.events import (
    CandidateConfirmed,
    CandidateJudged,
    GenerationStarted,
    Observer,
    RunsDone,
    ignore,
)
from llamea_tune.evolution.history import History
from llamea_tune.evolution.judge import Judge, OnRuns
from llamea_tune.evolution.leaderboard import Leaderboard, make_leaderboard
from llamea_tune.evolution.plan import PlannedCandidate, generation_sizes, plan_generation
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.selection import Selection, make_selection
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.tuning import tune_survivors
from llamea_tune.hpo.in_loop import LoopTuner
from llamea_tune.proposals.proposal import Proposal, ProposalError, Proposer
from llamea_tune.scoring import Scorer


def evolve(
    run: RunDirectory,
    settings: Settings,
    proposer: Proposer,
    scorer: Scorer,
    descriptions: Sequence[str],
    observe: Observer = ignore,
    tuner: LoopTuner | None = None,
    briefer: Briefer | None = None,
) -> Leaderboard:
    """Evolve candidates from where the run directory stands to the end, and make the leaderboard.

    Args:
        run: The run directory, held by this process; what it logged already is not done again.
        settings: The run's settings.
        proposer: Writes the candidates.
        scorer: Scores them on the training spaces.
        descriptions: What prompts say of each training space.
        observe: Told of the progress.
        tuner: Tunes the hyperparameters of the survivors, if they are to be tuned.
        briefer: Adds evidence and memory to what a proposer is told, if it reads them.

    Raises:
        ProposerError: The proposer cannot work at all, or asking it is no use for now.
        RunDirectoryError: The run directory cannot be written.
    """
    history = History(run.candidates(), run.confirmations())
    selection = make_selection(settings.selection)
    judge = Judge(scorer, run.candidates())
    answered = any(not _is_refused(entry.evaluation) for entry in history.all())
    asking = Asking(proposer, settings.asked_at_once, settings.max_unanswered, answered=answered)
    n_generations = len(generation_sizes(settings))
    for generation in range(n_generations):
        if history.has_later_than(generation):
            continue  # it is complete, and what is kept of it was decided before the next one began
        before = history.before(generation)
        planned = plan_generation(generation, settings, before, selection, descriptions, judge.seen_in(before))
        if briefer is not None:
            planned = briefer.complete(planned, before)
        missing = [entry for entry in planned if entry.id not in history]
        observe(GenerationStarted(generation, n_generations, len(missing)))
        with closing(asking.each(missing)) as proposed:
            for entry, outcome in proposed:
                scored = _judge(entry, outcome, proposer, judge, observe)
                run.record_candidate(scored)
                history.add(scored)
                observe(CandidateJudged(scored, len(history), settings.max_candidates))
        confirm_survivors(run, settings, history, selection, judge, observe)
        if tuner is not None:
            tune_survivors(run, settings, history, selection, judge, tuner, generation, observe)
    leaderboard = make_leaderboard(history, scorer, settings, observe)
    run.write_json("leaderboard.json", leaderboard.to_json())
    return leaderboard


def _is_refused(evaluation: Evaluation) -> bool:
    """Whether the prompt got nothing that is an answer; an answer without usable code is one."""
    return evaluation.state is CandidateState.NO_PROPOSAL and evaluation.reason.startswith("no answer: ")


def confirm_survivors(
    run: RunDirectory, settings: Settings, history: History, selection: Selection, judge: Judge, observe: Observer
) -> None:
    """Score again, on fresh seeds, whoever would be kept: a lucky score must not found a dynasty.

    A confirmation can cost a candidate its place; whoever takes it is confirmed as well, until all who stay are.
    """
    while True:
        survivors = selection.survivors(history.scored(), settings.parents)
        lucky = next((entry.candidate for entry in survivors if not history.is_confirmed(entry.candidate)), None)
        if lucky is None:
            return
        evaluation = judge.confirm(lucky, settings.confirm_repeats, _announce(lucky, observe))
        run.record_confirmation(lucky, evaluation)
        history.confirm(lucky, evaluation)
        observe(CandidateConfirmed(Scored(lucky, evaluation)))


def _judge(
    entry: PlannedCandidate, outcome: Proposal | ProposalError, proposer: Proposer, judge: Judge, observe: Observer
) -> Scored:
    if isinstance(outcome, ProposalError):
        nothing = _candidate(entry, Proposal("", "", "", proposer.name), proposer)
        return Scored(nothing, Evaluation(CandidateState.NO_PROPOSAL, str(outcome)))
    candidate = _candidate(entry, outcome, proposer)
    return judge.judge(candidate, _announce(candidate, observe))


def _candidate(entry: PlannedCandidate, proposal: Proposal, proposer: Proposer) -> Candidate:
    return Candidate(
        id=entry.id,
        class_name=proposal.class_name,
        code=proposal.code,
        description=proposal.description,
        proposer=proposal.proposer or proposer.name,
        operator=entry.task.operator,
        generation=entry.generation,
        parents=tuple(parent.candidate.id for parent in entry.task.parents),
        ranges=proposal.ranges,
        refused_ranges=proposal.refused_ranges,
        direction=entry.task.briefing.direction,
    )


def _announce(candidate: Candidate, observe: Observer) -> OnRuns:
    def on_runs(done: int, total: int) -> None:
        observe(RunsDone(f"{candidate.id} {candidate.class_name}", done, total))

    return on_runs
