from __future__ import annotations

import math

import numpy as np
import pytest

from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState, Trace, empty_trace
from llamea_tune.scoring import Comparison, compare, holm, mean_places, score, scorecard, space_scale
from llamea_tune.scoring.scorecard import Scorecard, SpaceScore
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACES = [synthetic_space(seed, name=f"space {seed}") for seed in range(3)]
SCALES = [space_scale(space) for space in SPACES]


def random_run(space, seed, *, first=None, own_compute_s=math.nan):
    """A random search, which may know one config from the start."""
    order = np.random.default_rng(seed).permutation(space.size)[:400]
    if first is not None:
        order = np.concatenate(([first], order[order != first]))
    trace = Trace(order, space.costs[order], np.cumsum(measurement_times_us(space)[order]))
    return RunResult(trace, RunState.BUDGET_SPENT, "", RequestCounts(len(order), 1, 2, 3), own_compute_s)


def runs_of(n, offset=0, good=0.0):
    """Runs on every space; a good strategy starts at this quantile of the configs, 1 being the best."""
    runs = {}
    for space in SPACES:
        order = np.argsort(space.costs)[: int(space.valid.sum())]
        first = order[int((1.0 - good) * (len(order) - 1))] if good else None
        runs[space.name] = [random_run(space, offset + i, first=first) for i in range(n)]
    return runs


def test_a_scorecard_holds_what_its_runs_did():
    runs = runs_of(10)
    card = scorecard("random", SCALES, runs)
    assert list(card.spaces) == [space.name for space in SPACES]
    for scale in SCALES:
        entry = card.spaces[scale.space]
        assert entry.score == pytest.approx(score(scale, [run.trace for run in runs[scale.space]]))
        assert entry.interval[0] <= entry.score <= entry.interval[1]
        assert entry.repeats == 10
        assert entry.counts == RequestCounts(4000, 10, 20, 30)
    assert card.mean == pytest.approx(np.mean([entry.score for entry in card.spaces.values()]))
    assert card == scorecard("random", SCALES, runs) or math.isnan(card.spaces["space 0"].own_compute_ms)


def test_the_interval_of_equal_runs_is_their_score():
    """Also where they begin at the worst configs, so that a few moments at the beginning weigh most."""
    for space, scale in zip(SPACES, SCALES, strict=True):
        worst_first = np.argsort(-np.nan_to_num(space.costs, nan=-np.inf))[:400]
        trace = Trace(worst_first, space.costs[worst_first], np.cumsum(measurement_times_us(space)[worst_first]))
        run = RunResult(trace, RunState.BUDGET_SPENT, "", RequestCounts(400, 0, 0, 0), math.nan)
        entry = scorecard("equal", [scale], {space.name: [run] * 8}).spaces[space.name]
        assert entry.interval == pytest.approx((entry.score, entry.score))


def test_own_compute_counts_only_where_it_was_measured():
    space = SPACES[0]
    runs = {space.name: [random_run(space, 0, own_compute_s=0.8), random_run(space, 1)]}
    assert scorecard("a", SCALES[:1], runs).spaces[space.name].own_compute_ms == pytest.approx(2.0)
    unmeasured = {space.name: [random_run(space, 1)]}
    assert math.isnan(scorecard("a", SCALES[:1], unmeasured).spaces[space.name].own_compute_ms)


def test_a_failed_run_is_the_scorecards_failure():
    runs = runs_of(3) | {SPACES[-1].name: []}
    good = [run.trace for run in runs["space 0"]]
    runs["space 1"].append(RunResult(empty_trace(), RunState.FAILED, "ValueError: no", RequestCounts(), 0.0))
    card = scorecard("broken", SCALES, runs)
    assert (card.failure, card.reason, card.mean, card.spaces) == (RunState.FAILED, "ValueError: no", None, {})
    assert card.failed_on == "space 1"
    assert card.others == {"space 0": pytest.approx(score(SCALES[0], good)), "space 2": None}


def test_bootstrap_intervals_cover_the_truth_about_as_often_as_they_say():
    scale = SCALES[0].thinned(10)
    population = scale.ranks([random_run(SPACES[0], seed).trace for seed in range(1500)])
    truth = float(scale.score(population.mean(axis=0, dtype=float)))
    from llamea_tune.scoring.aggregate import bootstrap_scores, interval

    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        sample = population[rng.integers(len(population), size=40)]
        low, high = interval(bootstrap_scores(scale, sample, rng, 400))
        covered += low <= truth <= high
    assert 0.88 <= covered / 200 <= 0.985


def test_the_mean_is_surer_than_its_parts():
    card = scorecard("random", SCALES, runs_of(40))
    widths = [entry.interval[1] - entry.interval[0] for entry in card.spaces.values()]
    assert card.interval[1] - card.interval[0] < np.mean(widths)


def test_a_better_strategy_is_told_from_a_worse_one():
    better = compare(SCALES, ("good", runs_of(30, good=0.999)), ("random", runs_of(30)))
    assert better.difference > 0.1
    assert better.interval[0] > 0.0
    assert better.p_value < 0.001
    worse = compare(SCALES, ("random", runs_of(30)), ("good", runs_of(30, good=0.999)))
    assert worse.difference == pytest.approx(-better.difference)
    assert worse.p_value < 0.001


def test_a_strategy_does_not_differ_from_itself():
    same = compare(SCALES, ("a", runs_of(10)), ("b", runs_of(10)))
    assert (same.difference, same.interval, same.p_value) == (0.0, (0.0, 0.0), 1.0)


def test_equally_good_strategies_are_rarely_called_different():
    scales = [scale.thinned(4) for scale in SCALES]
    p_values = [
        compare(scales, ("a", runs_of(12, offset=1000 * i)), ("b", runs_of(12, offset=1000 * i + 500))).p_value
        for i in range(25)
    ]
    assert sum(p < 0.05 for p in p_values) <= 5
    assert min(p_values) > 0.0
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.2)


def test_only_paired_runs_are_compared():
    from llamea_tune.exceptions import SettingsError

    with pytest.raises(SettingsError, match="same number"):
        compare(SCALES, ("a", runs_of(3)), ("b", runs_of(4)))


def test_holm_corrects_as_by_hand():
    comparisons = [Comparison("a", "b", 0.0, (0.0, 0.0), p) for p in (0.04, 0.01, 0.03, 0.5)]
    corrected = [comparison.p_value for comparison in holm(comparisons)]
    assert corrected == pytest.approx([0.09, 0.04, 0.09, 0.5])
    assert holm([]) == []


def test_places_share_what_is_equal():
    def card(label, *scores):
        entries = [SpaceScore(str(i), s, (s, s), 1, 0.0, RequestCounts()) for i, s in enumerate(scores)]
        return Scorecard(label, float(np.mean(scores)), (0.0, 0.0), {entry.space: entry for entry in entries})

    failed = Scorecard("failed", None, None, {}, RunState.FAILED, "no")
    places = mean_places([card("a", 0.9, 0.1), card("b", 0.5, 0.1), card("c", 0.1, 0.8), failed])
    assert places == {"a": 1.75, "b": 2.25, "c": 2.0}
    assert mean_places([failed]) == {}
