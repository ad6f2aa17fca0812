"""Whether a gain survives is judged on seeds that nothing was chosen on."""

from dataclasses import replace

import pytest

from llamea_tune.execution import NamedStrategy
from llamea_tune.hpo import FLOOR, StudyResult, TrialOutcome, TrialRecord, make_tunable, rescore
from llamea_tune.testing.local_scorer import local_scorer

GOOD = {"popsize": 6, "maxiter": 100}
BAD = {"popsize": 4, "maxiter": 2}


@pytest.fixture
def scorer(spaces):
    with local_scorer(spaces, repeats=15, seed=1, jobs=2) as scorer:
        yield scorer


@pytest.fixture
def tunable():
    """A genetic algorithm whose defaults end it early."""
    found = make_tunable(NamedStrategy("ga", "genetic_algorithm", {"mutation_chance": 30, "method": "single_point"}))
    return replace(found, defaults={"popsize": 4, "maxiter": 4})


def study(tunable, *trials) -> StudyResult:
    """A study with the defaults at 0 and other trials of given values."""
    records = [TrialRecord(0, dict(tunable.defaults), 0.0, TrialOutcome.COMPLETE, 8)]
    records += [
        TrialRecord(number, values, value, TrialOutcome.COMPLETE, 8)
        for number, (values, value) in enumerate(trials, start=1)
    ]
    best = max(records, key=lambda record: record.value)
    return StudyResult(tuple(records), records[0], best, 8)


def test_a_lucky_trial_gives_way_to_one_that_is_good_again(tunable, scorer):
    rescored = rescore(tunable, study(tunable, (BAD, 0.9), (GOOD, 0.3)), scorer)
    assert rescored.best.values == GOOD
    assert rescored.promised == 0.3
    assert rescored.better
    assert rescored.tuned.mean > rescored.default.mean
    assert rescored.gain.difference == pytest.approx(rescored.tuned.mean - rescored.default.mean, abs=1e-6)
    assert rescored.survived == pytest.approx((rescored.tuned_mean - rescored.default_mean) / 0.3)


def test_a_gain_that_was_luck_is_not_recommended(tunable, scorer):
    rescored = rescore(tunable, study(tunable, (BAD, 0.9)), scorer)
    assert not rescored.better
    assert rescored.survived < 0.0


def test_a_gain_within_luck_is_not_recommended(tunable, scorer):
    rescored = rescore(tunable, study(tunable, ({"popsize": 4, "maxiter": 5}, 0.9)), scorer, repeats=3)
    assert rescored.gain.p_value > 0.05
    assert not rescored.better


def test_nothing_is_run_where_nothing_was_found(tunable, scorer):
    calls = []
    assert rescore(tunable, study(tunable, (BAD, -0.5)), scorer, on_progress=lambda *n: calls.append(n)) is None
    assert calls == []


def test_progress_counts_all_runs(tunable, scorer):
    calls = []
    rescore(tunable, study(tunable, (BAD, 0.9), (GOOD, 0.3)), scorer, repeats=4, on_progress=lambda *n: calls.append(n))
    assert calls[-1] == (4 * 4 * 2, 4 * 4 * 2)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_hyperparameters_that_fail_on_fresh_seeds_are_not_recommended(tunable, scorer):
    failing = replace(tunable, contender=NamedStrategy("ga", "genetic_algorithm", {"method": "no such method"}))
    rescored = rescore(failing, study(tunable, (GOOD, 0.3)), scorer)
    assert rescored.gain is None
    assert not rescored.better


def test_defaults_that_fail_leave_nothing_promised(tunable, scorer):
    result = study(tunable, (GOOD, 0.3))
    failed = TrialRecord(0, dict(tunable.defaults), FLOOR, TrialOutcome.FAILED, 1, "ValueError: too large")
    rescored = rescore(tunable, StudyResult((failed, *result.trials[1:]), failed, result.best, 8), scorer)
    assert rescored.promised is None
    assert rescored.survived is None
