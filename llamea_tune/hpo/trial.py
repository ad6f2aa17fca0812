"""Trials of a study: choose hyperparameters, make their runs one after the other, stop where they are behind."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from llamea_tune.candidate import HyperparameterRange, HyperparameterValue
from llamea_tune.execution import Executor, Run, each_until_failure
from llamea_tune.hpo.tunable import TunableContender
from llamea_tune.runners.trace import RunResult, to_first_failure
from llamea_tune.scoring.racing import FEWEST_RUNS, clearly_behind
from llamea_tune.scoring.run_score import FLOOR, run_score
from llamea_tune.scoring.score import SpaceScale

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial, Trial


P_THRESHOLD = 0.4
"""Largest p-value with which a trial counts as worse than the best one.

It is high because a trial must be behind by the mean as well, and because single runs are so noisy: what it would take to
be sure is better spent on other trials. `benchmarks/hpo.py` shows what that saves, and what it costs.
"""


def race_from(n_spaces: int) -> int:
    """Runs from which on trials are stopped: not before every space has had its turn."""
    return max(FEWEST_RUNS, n_spaces)


class TrialOutcome(StrEnum):
    """How a trial ended."""

    COMPLETE = "complete"  # it made all runs
    PRUNED = "pruned"  # it was behind the best in the same runs; its value is estimated from those
    FAILED = "failed"  # a run failed with these hyperparameters
    REPEATED = "repeated"  # the same hyperparameters as an earlier trial; nothing was run


@dataclass(frozen=True)
class TrialRecord:
    """A trial that is over.

    Attributes:
        number: Its number in the study.
        values: The hyperparameters.
        value: Its mean score over all runs, or an estimate; `FLOOR` if it failed.
        outcome: How it ended.
        runs: Runs that it took.
        reason: Why it failed.
    """

    number: int
    values: Mapping[str, HyperparameterValue]
    value: float
    outcome: TrialOutcome
    runs: int
    reason: str = ""


Steps = Generator[Sequence[Run], Sequence[RunResult], TrialRecord]
"""A trial under way: it gives runs to make, and takes what they gave, up to the first that failed."""


def trial_steps(
    study: Study,
    tunable: TunableContender,
    runs: Sequence[Run],
    scales: Sequence[SpaceScale],
    slot: int,
    chunks: Iterable[int] = (),
    race_from: int | None = None,
) -> Steps:
    """Ask a study for hyperparameters, try them, tell it the outcome.

    Args:
        study: The study.
        tunable: What is tuned.
        runs: All runs of a trial, in the study's order.
        scales: Scale of each space.
        slot: The trial's place in the study's plan.
        chunks: How many runs to make before looking whether to stop, chunk by chunk, the last one repeated; by default
            it looks after every run.
        race_from: Runs from which on a trial that is clearly behind the best one is stopped; None to stop none.
    """
    trial = study.ask()
    trial.set_user_attr("slot", slot)
    values = _suggest(trial, tunable.ranges)
    earlier = _same_values(study, trial.number, trial.params)
    if earlier is not None:
        return _finish(study, trial, record_of(earlier).value, TrialOutcome.REPEATED, 0, record_of(earlier).reason)
    contender = tunable.contender.with_hyperparameters(values)
    scores: list[float] = []
    for chunk in _chunked(runs, chunks):
        results = yield [replace(run, contender=contender) for run in chunk]
        for run, result in zip(chunk, results, strict=False):
            if not result.state.scorable:
                return _finish(study, trial, FLOOR, TrialOutcome.FAILED, len(scores) + 1, result.reason)
            score = run_score(scales[run.space], result)
            trial.report(score, len(scores))
            scores.append(score)
        if len(scores) < len(runs) and (best := best_complete(study)) is not None:
            differences = [best.intermediate_values[step] - score for step, score in enumerate(scores)]
            if race_from is not None and len(scores) >= race_from and _is_lost(best, scores, differences):
                estimate = max(FLOOR, (best.value or 0.0) - sum(differences) / len(differences))
                return _finish(study, trial, estimate, TrialOutcome.PRUNED, len(scores))
    return _finish(study, trial, sum(scores) / len(scores), TrialOutcome.COMPLETE, len(scores))


def make_trial(executor: Executor, steps: Steps) -> TrialRecord:
    """Make a trial, the runs of a chunk at the same time."""
    try:
        chunk = next(steps)
        while True:
            results = dict(each_until_failure(executor, chunk))
            chunk = steps.send(to_first_failure(results[run] for run in chunk if run in results))
    except StopIteration as end:
        record: TrialRecord = end.value
        return record


def make_trials(executor: Executor, trials: Iterator[Steps]) -> Generator[TrialRecord, None, None]:
    """Make trials, run by run, as many at the same time as the executor makes runs.

    Args:
        executor: Makes the runs.
        trials: Trials with one run in every chunk; each is begun when there is room for it.

    Yields:
        Each trial that is over.
    """
    under_way: dict[Run, Steps] = {}
    ready: deque[Run] = deque()
    over: deque[TrialRecord] = deque()

    def go_on(steps: Steps, results: Sequence[RunResult] | None) -> None:
        try:
            (run,) = next(steps) if results is None else steps.send(results)
        except StopIteration as end:
            over.append(end.value)
        else:
            under_way[run] = steps
            ready.append(run)

    def wanted() -> Iterator[Run | None]:
        while True:
            while not ready and (begun := next(trials, None)) is not None:
                go_on(begun, None)
            if not under_way:
                return
            yield ready.popleft() if ready else None

    with closing(executor.each(wanted())) as results:
        for run, result in results:
            go_on(under_way.pop(run), [result])
            while over:
                yield over.popleft()
    yield from over


def record_of(trial: FrozenTrial) -> TrialRecord:
    """What a trial of the storage that is over says."""
    attributes = trial.user_attrs
    outcome = TrialOutcome(attributes.get("outcome", TrialOutcome.FAILED))
    reason = attributes.get("reason", "") if "outcome" in attributes else "its process died"
    value = FLOOR if trial.value is None else trial.value
    return TrialRecord(trial.number, trial.params, value, outcome, attributes.get("runs", 0), reason)


def best_complete(study: Study) -> FrozenTrial | None:
    """The best trial so far, None if none made all runs."""
    try:
        best = study.best_trial
    except ValueError:
        return None
    return best if best.user_attrs.get("outcome") == TrialOutcome.COMPLETE else None


def _suggest(trial: Trial, ranges: Mapping[str, HyperparameterRange]) -> dict[str, HyperparameterValue]:
    return {name: _suggest_one(trial, name, entry) for name, entry in ranges.items()}


def _suggest_one(trial: Trial, name: str, entry: HyperparameterRange) -> HyperparameterValue:
    if entry.kind == "categorical":
        choice = trial.suggest_categorical(name, entry.choices)
        assert choice is not None
        return choice
    assert entry.low is not None and entry.high is not None
    if entry.kind == "int":
        return trial.suggest_int(name, int(entry.low), int(entry.high), log=entry.log)
    return trial.suggest_float(name, entry.low, entry.high, log=entry.log)


def _same_values(study: Study, number: int, params: Mapping[str, Any]) -> FrozenTrial | None:
    """An earlier trial with the same hyperparameters; seeds are fixed, so its runs would be the same."""
    earlier = (
        trial for trial in study.get_trials(deepcopy=False) if trial.number != number and trial.value is not None
    )
    return next((trial for trial in earlier if trial.params == params), None)


def _chunked(runs: Sequence[Run], chunks: Iterable[int]) -> Iterator[Sequence[Run]]:
    sizes = iter(chunks)
    start, size = 0, 1
    while start < len(runs):
        size = next(sizes, size)
        yield runs[start : start + size]
        start += size


def _is_lost(best: FrozenTrial, scores: Sequence[float], differences: Sequence[float]) -> bool:
    """Whether these scores are clearly behind the best trial's in the same runs.

    The mean of the differences also estimates the mean over all runs better than the mean of these scores would, which
    depends on which runs were made. A trial whose mean is above the best one's over all runs goes on in any case.
    """
    return clearly_behind(differences, P_THRESHOLD) and (best.value or 0.0) > sum(scores) / len(scores)


def _finish(
    study: Study, trial: Trial, value: float, outcome: TrialOutcome, runs: int, reason: str = ""
) -> TrialRecord:
    trial.set_user_attr("outcome", str(outcome))
    trial.set_user_attr("runs", runs)
    if reason:
        trial.set_user_attr("reason", reason)
    study.tell(trial, value)
    return TrialRecord(trial.number, trial.params, value, outcome, runs, reason)
