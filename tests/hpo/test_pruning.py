"""What is pruned is behind in the same runs, by the mean as by the test; and never becomes the best by an estimate."""

import warnings

import numpy as np
import optuna
import pytest

from llamea_tune.candidate import HyperparameterRange
from llamea_tune.execution import NamedStrategy, Run
from llamea_tune.hpo.trial import TrialOutcome, make_trial, race_from, trial_steps
from llamea_tune.hpo.tunable import TunableContender
from llamea_tune.runners import RunBudget
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, Trace

RUNS = 40


class RankedExecutor:
    """Its runs have found, from the start, the config of a rank that depends on the hyperparameter and the seed."""

    def __init__(self, table, ranks):
        self.order = np.argsort(table.ranks, kind="stable")
        self.ranks = ranks

    def each(self, runs, *, ahead=False):
        for run in runs:
            found = int(self.order[self.ranks(run.contender.options["x"], run.seed)])
            trace = Trace(np.array([found]), np.array([1.0]), np.array([1]))
            yield run, RunResult(trace, RunState.FINISHED, "", RequestCounts(), 0.0)


def outcomes(scales, ranks, values):
    """Trials of one hyperparameter with these values, in turn."""
    choices = tuple(range(len(values)))
    tunable = TunableContender(
        NamedStrategy("s", "s"), {"x": 0}, {"x": HyperparameterRange("categorical", choices=choices)}
    )
    executor = RankedExecutor(scales[0].table, lambda x, seed: ranks(values[x], seed))
    with warnings.catch_warnings(action="ignore"):
        study = optuna.create_study(direction="maximize")
        for x in choices:
            study.enqueue_trial({"x": x})
        runs = [Run(tunable.contender, 0, number, RunBudget()) for number in range(RUNS)]
        return [
            make_trial(executor, trial_steps(study, tunable, runs, scales, slot, race_from=race_from(1)))
            for slot in choices
        ]


def test_what_is_clearly_worse_is_stopped_early(scales):
    best, worse = outcomes(scales, lambda rank, seed: rank + seed % 3, [2, 20])
    assert best.outcome is TrialOutcome.COMPLETE
    assert worse.outcome is TrialOutcome.PRUNED
    assert worse.runs <= 6
    assert worse.value < best.value


def test_the_estimate_does_not_depend_on_which_runs_were_made(scales):
    easy_first = lambda rank, seed: rank + (0 if seed < RUNS // 2 else 8)  # noqa: E731
    best, worse, full = (*outcomes(scales, easy_first, [2, 6]), outcomes(scales, easy_first, [6])[0])
    assert worse.outcome is TrialOutcome.PRUNED
    assert worse.value == pytest.approx(full.value, abs=0.05 * abs(best.value - full.value) + 0.02)


def test_often_a_little_worse_but_better_on_average_is_not_pruned(scales):
    def ranks(kind, seed):
        if seed % 4 == 3:
            return 30 if kind == "steady loser" else 0
        return 2 if kind == "steady loser" else 3

    best, other = outcomes(scales, ranks, ["steady loser", "better on average"])
    assert other.outcome is TrialOutcome.COMPLETE
    assert other.value > best.value


def test_the_next_trials_are_compared_with_the_new_best(scales):
    first, second, third = outcomes(scales, lambda rank, seed: rank + seed % 2, [20, 2, 10])
    assert second.value > first.value
    assert third.outcome is TrialOutcome.PRUNED
    assert first.value < third.value < second.value
