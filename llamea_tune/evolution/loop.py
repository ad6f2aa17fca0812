"""The evolution loop: plan, propose, judge, select, until all is done or a budget is used up; then the leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from llamea_tune.candidate import CandidateState, Evaluation
from llamea_tune.evolution.asking import Asking
from llamea_tune.evolution.briefing import Briefer
from llamea_tune.evolution.events import Observer, SearchStopped, ignore
from llamea_tune.evolution.generations import search_in_generations
from llamea_tune.evolution.history import History
from llamea_tune.evolution.judge import Judge
from llamea_tune.evolution.leaderboard import OWN_COMPUTE, Leaderboard, leaderboard_before, make_leaderboard
from llamea_tune.evolution.lean import lean
from llamea_tune.evolution.ledger import BudgetUsedUp, Ledger
from llamea_tune.evolution.plan import Planner
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.search import Search
from llamea_tune.evolution.selection import make_selection
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.steady_state import search_steadily
from llamea_tune.hpo.in_loop import LoopTuner
from llamea_tune.proposals.proposal import Proposer
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
    ledger: Ledger | None = None,
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
        ledger: Counts what is spent, where it is shared with the proposer's language model.

    Raises:
        ProposerError: The proposer cannot work at all, or asking it is no use for now.
        RunDirectoryError: The run directory cannot be written.
    """
    ledger = ledger or Ledger(run, settings.budgets)
    judged = run.candidates()
    history = History(judged, run.confirmations())
    selection = lean(make_selection(settings.selection, settings.selection_options), settings.own_compute_ms)
    search = Search(
        run=run,
        settings=settings,
        history=history,
        selection=selection,
        planner=Planner(settings, selection, descriptions),
        briefer=briefer,
        asking=Asking(
            proposer,
            settings.asked_at_once,
            settings.max_unanswered,
            answered=any(not _is_refused(entry.evaluation) for entry in history.all()),
            seconds_left=ledger.seconds_left,
        ),
        judge=Judge(scorer, judged, first_come=settings.steady_state),
        ledger=ledger,
        observe=observe,
        proposer=proposer.name,
        scales=scorer.scales,
        tuner=tuner,
    )
    used_up = _search(search)
    leaderboard = make_leaderboard(history, scorer, settings, observe, leaderboard_before(run))
    run.write_json(OWN_COMPUTE, leaderboard.own_compute())
    run.write_json("leaderboard.json", leaderboard.to_json())
    return replace(leaderboard, used_up=used_up, spent=ledger.spent())


def _search(search: Search) -> str | None:
    """Search to the end; the name of the budget that was used up before, if one was."""
    try:
        if search.settings.steady_state:
            search_steadily(search)
        else:
            search_in_generations(search)
    except BudgetUsedUp as end:
        search.observe(SearchStopped(end.budget, len(search.history)))
        return end.budget
    finally:
        search.asking.close()
    return None


def _is_refused(evaluation: Evaluation) -> bool:
    """Whether the prompt got nothing that is an answer; an answer without usable code is one."""
    return evaluation.state is CandidateState.NO_PROPOSAL and evaluation.reason.startswith("no answer: ")
