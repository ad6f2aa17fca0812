"""Tuning in the loop: whoever survives a generation has its hyperparameters tuned, within the run's allowance."""

from __future__ import annotations

from collections.abc import Sequence

from llamea_tune.candidate import Candidate, CandidateState
from llamea_tune.evolution.events import CandidateTuned, Observer, RunsDone
from llamea_tune.evolution.history import History
from llamea_tune.evolution.judge import Judge
from llamea_tune.evolution.lean import worth
from llamea_tune.evolution.ledger import Ledger
from llamea_tune.evolution.plan import generation_sizes
from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.evolution.selection import Selection
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.tuning_record import Tuning
from llamea_tune.hpo.in_loop import LoopTuner, TunedCandidate
from llamea_tune.scoring import Scorer


def make_tuner(run: RunDirectory, settings: Settings, scorer: Scorer) -> LoopTuner | None:
    """The tuner of a run, None where nothing is to be tuned.

    Args:
        run: The run directory; studies are kept in it.
        settings: The run's settings.
        scorer: Whose spaces and executor to tune on.
    """
    if settings.hpo_trials == 0:
        return None
    return LoopTuner(scorer, settings.repeats, settings.hpo_trials, settings.seed, run.path / "studies")


def tune_survivors(
    run: RunDirectory,
    settings: Settings,
    history: History,
    selection: Selection,
    judge: Judge,
    tuner: LoopTuner,
    ledger: Ledger,
    generation: int,
    observe: Observer,
) -> None:
    """Tune the survivors of a generation that were not tuned before, and keep what is better on fresh seeds.

    The allowance is released evenly over the generations, so that later survivors get their share.

    Args:
        run: The run directory; all tunings of a generation are logged at once.
        settings: The run's settings.
        history: The run's candidates, the survivors confirmed.
        selection: The selection scheme.
        judge: Confirms tuned candidates on the seeds that the survivors were confirmed on.
        tuner: Tunes them.
        ledger: Counts the runs.
        generation: Number of the generation.
        observe: Told of the progress.

    Raises:
        BudgetUsedUp: A budget does not allow for the runs that tuning may take.
    """
    done = run.tunings()
    survivors = selection.survivors(history.scored(), settings.parents)
    fresh = [entry.candidate for entry in survivors if entry.candidate.id not in done]
    released = settings.hpo_runs * (generation + 1) // len(generation_sizes(settings))
    confirm_runs = settings.confirm_repeats * len(tuner.scorer.spaces)
    allowance = released - sum(tuning.all_runs for tuning in done.values()) - len(fresh) * confirm_runs
    ledger.check(max(0, allowance) + len(fresh) * confirm_runs if fresh else 0)
    found = tuner.tune_all(fresh, max(0, allowance), lambda key, used: observe(RunsDone(f"{key} tuned", *used)))
    tunings = [_confirm(entry, fresh, history, judge, settings, confirm_runs) for entry in found]
    if not tunings:
        return
    run.record_tunings(tunings)
    ledger.add_runs(sum(tuning.all_runs for tuning in tunings))
    for tuning in tunings:
        if tuning.evaluation is not None:
            history.tune(tuning.candidate, tuning.hyperparameters, tuning.evaluation)
            judge.know(history[tuning.candidate].candidate)
        observe(CandidateTuned(tuning))


def _confirm(
    found: TunedCandidate,
    fresh: Sequence[Candidate],
    history: History,
    judge: Judge,
    settings: Settings,
    confirm_runs: int,
) -> Tuning:
    """Score the best values on the seeds that the candidate was confirmed on, and keep them if they are better."""
    key = found.candidate_id
    if not found.values:
        return Tuning(key, {}, None, None, found.trials, found.runs, 0)
    candidate = next(entry for entry in fresh if entry.id == key)
    evaluation = judge.confirm(candidate.with_hyperparameters(found.values), settings.confirm_repeats)
    before = history[key].evaluation
    gain = None if evaluation.fitness is None or before.fitness is None else evaluation.fitness - before.fitness
    old, new = (worth(of, settings.own_compute_ms) for of in (before, evaluation))
    better = evaluation.state is CandidateState.SCORED and old is not None and new is not None and new > old
    kept = found.values if better else {}
    return Tuning(key, kept, evaluation if better else None, gain, found.trials, found.runs, confirm_runs)
