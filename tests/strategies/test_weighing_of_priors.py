"""Exported strategies make use of a prior that is right, and lose little by one that is not."""

from dataclasses import replace

import numpy as np
import pytest
from kernel_tuner.interface import strategy_map

from llamea_tune.execution.named import PreparedSpace
from llamea_tune.runners.meter import Meter, RunBudget
from llamea_tune.runners.strategy_run import run_strategy
from llamea_tune.spaces.prior import Prior
from llamea_tune.spaces.space import FailureKind
from llamea_tune.strategies import GeneratedStrategy
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACE = synthetic_space(1)
TRUE = np.log(SPACE.costs / np.nanmedian(SPACE.costs))
BEST = int(np.nanargmin(TRUE))
EXPECTED = np.where(np.isnan(TRUE), 1.0, TRUE) + np.random.default_rng(1).normal(0.0, 0.1, SPACE.size)
SD = np.full(SPACE.size, 0.1)
# fmt: off
MADE = [
    519, 90, 46, 841, 12, 203, 45, 44, 37, 247, 631, 250, 302,
    246, 234, 446, 360, 348, 349, 729, 351, 138, 353, 347, 932,
]
# fmt: on
"""What `llm_gen_best` measures without a prior under seed 3, wherever it runs."""


@pytest.fixture(params=["llm_gen_best", "one that knows no prior"])
def strategy(request):
    if request.param == "llm_gen_best":
        return strategy_map[request.param]
    return GeneratedStrategy("annealing", request.getfixturevalue("exported").code_path, bundled=False)


def numbers(strategy, mean=None, sd=SD, *, space=SPACE, seed=3, max_fevals=25, **options):
    """Numbers of the configs that a strategy measures, in order."""
    prepared, known = PreparedSpace(space), None if mean is None else Prior(mean, sd, "as told")
    meter = Meter(prepared.runner, RunBudget(max_fevals=max_fevals))
    run_strategy(strategy, prepared.searchspace, meter, strategy_options=options, seed=seed, prior=known)
    return meter.trace().indices.tolist()


def excess(strategy, mean=None):
    """How much dearer than the best config the best one so far is, as a logarithm, on average over runs."""
    seeds = range(3 if strategy.load()._WEIGHS_PRIOR else 16)  # the other is quick, and its luck varies
    runs = [TRUE[numbers(strategy, mean, seed=seed)] for seed in seeds]
    return np.mean([np.fmin.accumulate(costs)[1:] for costs in runs]) - TRUE[BEST]


def test_without_a_prior_llm_gen_best_measures_what_it_did_when_it_was_made():
    assert numbers(strategy_map["llm_gen_best"]) == MADE


@pytest.mark.parametrize("mean", [np.full(SPACE.size, np.nan), np.zeros(SPACE.size)], ids=["unknown", "all alike"])
def test_a_prior_that_says_nothing_changes_nothing(strategy, mean):
    sd = np.where(np.isnan(mean), np.nan, 1.0)
    assert numbers(strategy, mean, sd) == numbers(strategy)


def test_the_best_expected_comes_first_down_to_a_budget_of_one(strategy):
    first = int(np.argmin(EXPECTED))
    assert numbers(strategy, EXPECTED, max_fevals=1) == [first]
    assert numbers(strategy, EXPECTED)[0] == first


def test_one_known_config_is_enough(strategy):
    mean, sd = np.full(SPACE.size, np.nan), np.full(SPACE.size, np.nan)
    mean[BEST], sd[BEST] = -0.5, 0.3
    assert numbers(strategy, mean, sd)[0] == BEST
    mean[BEST] = 0.5  # a bad one
    assert numbers(strategy, mean, sd)[0] != BEST


@pytest.mark.parametrize("known", [1, 20])
@pytest.mark.parametrize("kept", [0.02, 1.0])
def test_a_prior_that_knows_nothing_but_good_configs_is_begun_with(known, kept):
    space = synthetic_space(1, kept=kept)
    good = np.argsort(np.where(space.valid, space.costs, np.inf))[:known]
    mean, sd = np.full(space.size, np.nan), np.full(space.size, np.nan)
    mean[good], sd[good] = np.linspace(-0.6, -0.4, known), 0.3
    for seed in range(3):
        assert numbers(strategy_map["llm_gen_best"], mean, sd, space=space, seed=seed, max_fevals=1) == [good[0]]


def test_what_is_right_saves_much_and_what_is_wrong_costs_little(strategy):
    unknown = excess(strategy)
    assert excess(strategy, EXPECTED) < 0.5 * unknown
    for wrong in (np.random.default_rng(2).permutation(EXPECTED), -EXPECTED):
        assert excess(strategy, wrong) < unknown + 0.15


def test_a_prior_that_is_upside_down_is_left_within_two_measurements(strategy):
    worst = np.argsort(-EXPECTED)[:20]
    for seed in range(5):
        assert np.isin(numbers(strategy, -EXPECTED, seed=seed, max_fevals=8), worst).sum() <= 2


def test_llm_gen_best_reads_a_prior_that_is_upside_down_in_reverse():
    def good_ones(mean):
        runs = [numbers(strategy_map["llm_gen_best"], mean, seed=seed, max_fevals=12) for seed in range(4)]
        return np.isin(runs, np.argsort(TRUE)[: SPACE.size // 20]).sum()

    assert good_ones(-EXPECTED) > 2 * good_ones(None)


def test_llm_gen_best_waits_for_a_prior_with_its_longer_tail_where_costs_are_low_to_be_shown():
    assert np.sum(np.quantile(EXPECTED - np.median(EXPECTED), (0.003, 0.997))) > 0.0  # as kernels are
    first = {numbers(strategy_map["llm_gen_best"], -EXPECTED, seed=seed, max_fevals=1)[0] for seed in range(6)}
    assert len(first) > 1
    assert int(np.argmax(EXPECTED)) not in first


def test_llm_gen_best_lets_a_prior_choose_the_less_the_less_that_gave():
    search = strategy_map["llm_gen_best"].load().ThriftyGaussianProcess()
    search.costs, search.done = np.arange(40.0), list(range(30))
    search.costs[5] = np.finfo(float).max  # failed
    search.choices = search.hits = 0
    before = search._share()
    search._judge([0, 3, 4, 5, 20])  # the best tenth of 30: the first three and what is as good as the next
    assert (search.choices, search.hits) == (5, 2)
    assert search._share() == pytest.approx(before * 4 / 7)


def test_llm_gen_best_leaves_a_prior_that_is_right_but_for_the_best():
    misleading = EXPECTED.copy()
    misleading[np.argsort(TRUE)[: SPACE.size // 20]] = 1.0

    def found(mean):
        """How many of six runs measure the best config."""
        return sum(BEST in numbers(strategy_map["llm_gen_best"], mean, seed=seed, max_fevals=80) for seed in range(6))

    assert found(misleading) >= max(found(None) - 1, 3)


def test_llm_gen_best_takes_no_unknown_config_for_the_choice_of_a_prior():
    """Once the few that the prior holds for good are measured, it has none; least of all the first of the list."""
    order = np.argsort(EXPECTED)
    known = np.append(order[:3], order[-40:])
    mean = np.full(SPACE.size, np.nan)
    mean[known] = EXPECTED[known]
    sd = np.where(np.isnan(mean), np.nan, 0.1)
    runs = [numbers(strategy_map["llm_gen_best"], mean, sd, seed=seed, max_fevals=40) for seed in range(4)]
    assert all(set(order[:3]) <= set(run) for run in runs)
    assert np.isin(runs, [0, 1, 2]).sum() <= 3


def test_all_that_is_known_fails(strategy):
    known = np.arange(0, SPACE.size, 40)
    costs, failures = SPACE.costs.copy(), SPACE.failures.copy()
    costs[known], failures[known] = np.nan, FailureKind.RUNTIME
    mean, sd = np.full(SPACE.size, np.nan), np.full(SPACE.size, np.nan)
    mean[known], sd[known] = np.linspace(-1.0, -0.1, len(known)), 0.3
    measured = numbers(strategy, mean, sd, space=replace(SPACE, costs=costs, failures=failures))
    assert np.isfinite(costs[measured]).sum() > 5


def test_one_config(strategy):
    params = {"block_size_x": (16,), "unroll": (True,), "method": ("a",)}
    space = synthetic_space(1, tune_params=params, kept=1.0, failing=0.0)
    assert numbers(strategy, np.array([-0.5]), np.array([0.1]), space=space) == [0]


def test_x0_comes_before_the_prior(strategy):
    start = int(np.nanargmax(TRUE))
    measured = numbers(strategy, EXPECTED, max_fevals=5, x0=list(SPACE.param_config(start)))
    assert measured[0] == start
    assert int(np.argmin(EXPECTED)) in measured[1:]


def test_only_what_asks_for_a_prior_is_left_to_weigh_it(exported):
    def weighs(strategy):
        return strategy.load()._WEIGHS_PRIOR

    assert weighs(strategy_map["llm_gen_best"])
    assert not weighs(GeneratedStrategy("annealing", exported.code_path, bundled=False))
