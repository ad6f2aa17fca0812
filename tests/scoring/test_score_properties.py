from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llamea_tune.exceptions import SettingsError
from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.runners.trace import Trace, empty_trace
from llamea_tune.scoring import BASELINES, run_seed, score, space_budget, space_scale
from llamea_tune.scoring.ranks import best_ranks, rank_table
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACE = synthetic_space(0, kept=0.3)
SCALES = {name: space_scale(SPACE, name) for name in BASELINES}


def trace_of(space, order):
    order = np.asarray(order, dtype=np.int64)
    return Trace(order, space.costs[order], np.cumsum(measurement_times_us(space)[order]))


def orders(space=SPACE):
    return st.lists(st.integers(0, space.size - 1), unique=True, max_size=60)


@given(orders(), st.sampled_from(list(BASELINES)))
def test_the_best_so_far_never_gets_worse_and_the_score_never_exceeds_one(order, baseline):
    scale = SCALES[baseline]
    trace = trace_of(SPACE, order)
    ranks = best_ranks(trace, scale.table, scale.grid_us)
    assert (np.diff(ranks) <= 0).all()
    assert ranks.min() >= 0
    assert ranks.max() <= scale.table.worst
    assert score(scale, [trace, trace]) <= 1.0


@given(orders(), st.integers(0, 59))
def test_finding_more_never_lowers_a_score(order, cut):
    scale = SCALES["exact"]
    assert score(scale, [trace_of(SPACE, order[:cut])]) <= score(scale, [trace_of(SPACE, order)])


@pytest.mark.parametrize("higher_is_better", [False, True])
def test_an_oracle_scores_near_one(higher_is_better):
    space = synthetic_space(1, higher_is_better=higher_is_better)
    scale = space_scale(space)
    oracle = trace_of(space, [int(np.nanargmin(space.costs))])
    assert 0.97 < score(scale, [oracle]) <= 1.0
    at_once = replace(oracle, elapsed_us=np.zeros(1, dtype=np.int64))
    assert score(scale, [at_once]) == 1.0


def test_finding_nothing_is_as_bad_as_the_worst_config_and_as_failing():
    worst = int(np.nanargmax(SPACE.costs))
    failed = int(np.flatnonzero(~SPACE.valid)[0])
    scale = SCALES["exact"]
    scores = {score(scale, [trace]) for trace in (empty_trace(), trace_of(SPACE, [worst]), trace_of(SPACE, [failed]))}
    assert len(scores) == 1
    assert scores.pop() < -1.0


@settings(max_examples=15, deadline=None)
@given(st.lists(orders(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_numbering_configs_differently_changes_nothing(runs, random):
    renumbered = list(range(SPACE.size))
    random.shuffle(renumbered)
    new_number = np.argsort(renumbered)
    other = replace(
        SPACE,
        value_indices=SPACE.value_indices[renumbered],
        costs=SPACE.costs[renumbered],
        failures=SPACE.failures[renumbered],
        stage_times_ms=SPACE.stage_times_ms[renumbered],
    )
    mine = score(SCALES["published"], [trace_of(SPACE, run) for run in runs])
    theirs = score(
        space_scale(other, "published"), [trace_of(other, new_number[np.array(run, dtype=int)]) for run in runs]
    )
    assert mine == pytest.approx(theirs)
    exact = score(space_scale(other), [trace_of(other, new_number[np.array(run, dtype=int)]) for run in runs])
    assert exact == pytest.approx(score(SCALES["exact"], [trace_of(SPACE, run) for run in runs]), abs=0.05)


@pytest.mark.parametrize("factor", [1e-3, 7.0])
@pytest.mark.parametrize("shift", [0.0, 5.0])
@pytest.mark.parametrize("baseline", list(BASELINES))
def test_units_of_cost_change_nothing(factor, shift, baseline):
    """P is a ratio of differences: scaling and shifting costs cancels, while bending them would not."""
    other = replace(SPACE, costs=factor * SPACE.costs + shift)
    traces = [trace_of(SPACE, np.random.default_rng(i).permutation(SPACE.size)[:30]) for i in range(3)]
    assert score(space_scale(other, baseline), traces) == pytest.approx(score(SCALES[baseline], traces), abs=1e-9)


def test_maximising_is_minimising_the_negated_objective():
    maximised = replace(SPACE, higher_is_better=True)
    traces = [trace_of(SPACE, np.random.default_rng(i).permutation(SPACE.size)[:30]) for i in range(3)]
    assert score(space_scale(maximised), traces) == score(SCALES["exact"], traces)


def test_the_unit_of_time_changes_nothing():
    other = replace(SPACE, stage_times_ms=SPACE.stage_times_ms * 1000.0)
    runs = [np.random.default_rng(i).permutation(SPACE.size)[:30] for i in range(3)]
    scores = [score(space_scale(space), [trace_of(space, run) for run in runs]) for space in (SPACE, other)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-3)


def test_equal_costs_share_a_rank():
    space = replace(SPACE, costs=np.round(SPACE.costs, 1))
    ranks = rank_table(space).ranks
    for cost in np.unique(space.costs[space.valid]):
        assert len(set(ranks[space.costs == cost])) == 1


def test_values_between_ranks_are_interpolated_or_rounded():
    table = rank_table(replace(SPACE, costs=np.where(np.arange(SPACE.size) < 3, np.arange(SPACE.size) * 2.0, np.nan)))
    np.testing.assert_allclose(table.values(np.array([0.0, 0.25, 1.5, 2.0])), [0.0, 0.5, 3.0, 4.0])
    np.testing.assert_allclose(table.rounded_values(np.array([0.0, 0.25, 1.6, 2.0])), [0.0, 0.0, 4.0, 4.0])


def test_a_space_without_differences_cannot_be_scored_on():
    flat = replace(SPACE, costs=np.where(SPACE.valid, 1.0, np.nan))
    nothing = replace(SPACE, costs=np.full(SPACE.size, np.nan))
    for space in (flat, nothing):
        with pytest.raises(SettingsError, match="no two configs that differ"):
            space_budget(space)


def test_unknown_baselines_are_refused():
    with pytest.raises(SettingsError, match="exact, published"):
        space_scale(SPACE, "best")


def test_seeds_differ_by_all_that_should_and_nothing_else():
    seeds = {
        run_seed(master, space, repeat, stage)
        for master in range(3)
        for space in ("a", "b")
        for repeat in range(50)
        for stage in ("train", "rescore")
    }
    assert len(seeds) == 600
    assert run_seed(1, "a", 2) == run_seed(1, "a", 2, "train")
    assert max(seeds) < 2**32
