from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.runners.trace import Trace
from llamea_tune.scoring import score, space_scale
from llamea_tune.scoring.baselines.exact import exact_baseline, expected_best_ranks, mean_ranks
from llamea_tune.scoring.ranks import best_ranks, rank_table
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACES = {
    "even": synthetic_space(0, failing=0.0),
    "failing": synthetic_space(1, failing=0.3),
    "maximised": synthetic_space(2, higher_is_better=True),
    "few evaluations": synthetic_space(3, kept=0.05),
    "ties": replace(synthetic_space(4), costs=np.round(synthetic_space(4).costs, 1)),
}


def with_uneven_times(space):
    """Times that depend on the costs: slow kernels take long to benchmark, failing ones longest."""
    cheapness = np.argsort(np.argsort(np.where(space.valid, space.costs, np.inf))) / space.size
    stages = space.stage_times_ms * (0.2 + 3.0 * cheapness[:, None] ** 2)
    return replace(space, stage_times_ms=stages)


def random_searches(space, limit_us, n, seed):
    times_us, rng = measurement_times_us(space), np.random.default_rng(seed)
    for _ in range(n):
        order = rng.permutation(space.size)
        elapsed = np.cumsum(times_us[order])
        order = order[: np.searchsorted(elapsed, limit_us) + 1]
        yield Trace(order, space.costs[order], elapsed[: len(order)])


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("uneven", [False, True])
def test_true_random_search_scores_zero(name, uneven):
    space = with_uneven_times(SPACES[name]) if uneven else SPACES[name]
    scale = space_scale(space)
    traces = list(random_searches(space, scale.budget.time_limit_us, 4000, seed=1))
    ranks = scale.ranks(traces)
    batches = [float(scale.score(ranks[i::8].mean(axis=0, dtype=float))) for i in range(8)]
    standard_error = np.std(batches, ddof=1) / np.sqrt(8)
    assert abs(score(scale, traces)) < 4.0 * standard_error
    assert standard_error < 0.02


@pytest.mark.slow
def test_true_random_search_scores_zero_on_the_hub(hub):
    """Over 2,000 repeats, 0 within 0.02 or, where one space's noise is above that, within its interval."""
    from llamea_tune.spaces import load_spaces

    for space in load_spaces(sorted(path for path in (hub / "cachefiles").glob("*/*.gz") if "_T4" not in path.name)):
        scale = space_scale(space)
        ranks = scale.ranks(list(random_searches(space, scale.budget.time_limit_us, 2000, seed=1)))
        batches = [float(scale.score(ranks[i::10].mean(axis=0, dtype=float))) for i in range(10)]
        tolerance = max(0.02, 3.5 * float(np.std(batches, ddof=1)) / np.sqrt(10))
        assert abs(float(scale.score(ranks.mean(axis=0, dtype=float)))) < tolerance, space.name


@pytest.mark.parametrize("n_valid", [6, 4, 1])
def test_expected_ranks_are_those_of_all_permutations(n_valid):
    size = 6
    ranks = np.minimum(np.arange(size), n_valid - 1)
    orders = np.array(list(permutations(range(size))))
    drawn = np.arange(size + 1)
    best = [ranks[orders[:, :k]].min(axis=1, initial=n_valid - 1).mean() for k in drawn]
    np.testing.assert_allclose(expected_best_ranks(size, n_valid, drawn), best, atol=1e-12)


def test_mean_ranks_are_those_of_all_permutations_with_their_times():
    space = with_uneven_times(synthetic_space(0, tune_params={"a": (1, 2, 3, 4, 5, 6, 7)}, kept=1.0, failing=0.0))
    space = replace(space, costs=np.where(np.arange(7) == 2, np.nan, space.costs))
    table, times_us = rank_table(space), measurement_times_us(space)
    grid_us = np.linspace(times_us.min(), times_us.sum() * 0.9, 20)
    orders = np.array(list(permutations(range(7))))
    traces = [Trace(order, space.costs[order], np.cumsum(times_us[order])) for order in orders]
    exact = np.mean([best_ranks(trace, table, grid_us) for trace in traces], axis=0)
    np.testing.assert_allclose(mean_ranks(space, table, grid_us), exact, atol=0.01)


def test_chance_moves_the_baseline_by_less_than_a_hundredth():
    for space in map(with_uneven_times, SPACES.values()):
        scale = space_scale(space)
        scores = [float(scale.score(mean_ranks(space, scale.table, scale.grid_us, seed=seed))) for seed in range(3)]
        assert max(np.abs(scores)) < 0.01


def test_the_baseline_never_rises_and_repeats_bit_for_bit():
    for space in SPACES.values():
        first, again = space_scale(space).baseline_costs, space_scale(space).baseline_costs
        np.testing.assert_array_equal(first, again)
        assert (np.diff(first) <= 0.0).all()


def test_the_published_baseline_is_not_calibrated_where_configs_fail():
    space = SPACES["failing"]
    scale = space_scale(space, "published")
    traces = list(random_searches(space, scale.budget.time_limit_us, 1000, seed=1))
    assert score(scale, traces) < -0.02


def test_a_kept_baseline_is_that_of_the_same_data_only():
    space = SPACES["even"]
    table, grid_us = rank_table(space), np.linspace(1e6, 9e6, 50)
    first = exact_baseline(space, table, grid_us)
    assert np.array_equal(exact_baseline(space, table, grid_us), first)
    slower = with_uneven_times(space)  # the same content hash
    assert slower.content_hash == space.content_hash
    assert np.array_equal(exact_baseline(slower, table, grid_us), table.values(mean_ranks(slower, table, grid_us)))
    assert not np.array_equal(exact_baseline(slower, table, grid_us), first)
    assert len(exact_baseline(space, table, grid_us[:7])) == 7
